"""A proposed manifest works before it is written, and errors say what to do next."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest

from registry.cli.adding.proposal import (
    Draft,
    FirstRecords,
    about_file,
    ask,
    ask_about,
    ask_what_next,
    doubts,
    is_interactive,
    read_records,
)
from registry.cli.adding.request import Destination, destination_of
from registry.errors import DecodeError, RegistryError
from registry.scaffold.columns import Question
from registry.scaffold.fields import infer_fields
from registry.scaffold.new_manifest import About
from registry.settings import Settings
from registry.sources.pins import SourceContext

SOURCE = {"type": "csv", "path": "q.csv"}


@pytest.fixture
def destination(tmp_path: Path) -> Destination:
    return destination_of(Settings(index=tmp_path / "datasets.yaml", cache_dir=tmp_path), "d")


def draft(
    destination: Destination,
    context: SourceContext,
    text: str,
    most: int | None = None,
    **columns: str,
) -> Draft:
    Path("q.csv").write_text(text)
    read = read_records(SOURCE, destination, context, most)
    return Draft(
        name="d",
        source=read.source,
        records=read.records,
        is_all=read.is_all,
        labels={},
        about=About("x"),
        columns=columns,
        destination=destination,
        context=context,
    )


def test_columns_of_the_user_are_loaded_before_anything_is_written(
    context: SourceContext, destination: Destination
) -> None:
    text = "question,a,b\nWho?,1,2\n"
    found = draft(destination, context, text, target="b").propose()
    assert found.result.dataset[0].target == "2"
    assert "expect: {samples: 1}" in found.text
    assert not destination.target.exists()
    with pytest.raises(RegistryError, match="no column 'c' for target"):
        draft(destination, context, text, target="c").propose()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("q.csv", "a,b\n1,2\n3\n", "q.csv:3: line 3 has 1 field, the header has 2"),
        ("q.csv", "a,b\n", "the source has no records"),
        ("q.json", "{", "not JSON"),
    ],
)
def test_source_that_cannot_be_read_names_the_options(
    context: SourceContext, destination: Destination, name: str, text: str, words: str
) -> None:
    Path(name).write_text(text)
    keys = {"type": name.partition(".")[2], "path": name}
    with pytest.raises(DecodeError) as caught:
        read_records(keys, destination, context)
    assert words in str(caught.value)
    assert "say how to read it" in str(caught.value) or "no records" in words


def test_record_that_cannot_be_mapped_names_the_options(
    context: SourceContext, destination: Destination
) -> None:
    # Of so many records without an input none is left out.
    found = draft(destination, context, "question,answer\nWho?,me\n,you\n")
    with pytest.raises(RegistryError, match="--input says another column"):
        found.propose()


def test_object_that_is_no_input_has_its_texts_named(
    context: SourceContext, destination: Destination
) -> None:
    Path("q.json").write_text('{"question": {"stem": "?", "choices": ["a"]}, "answer": "a"}')
    read = read_records({"type": "json", "path": "q.json"}, destination, context)
    found = draft(destination, context, "question,answer\na,b\n")
    found = replace(found, source=read.source, records=read.records)
    with pytest.raises(RegistryError, match=r"or a text in it: --input question\.stem\)$"):
        found.propose()


def test_fields_of_many_records_are_inferred_from_the_first(
    context: SourceContext, destination: Destination
) -> None:
    text = "id,question,answer\n1,Who?,me\n2,What?,it\n3,Where?,here\n"
    found = draft(destination, context, text, most=2).propose()
    assert "    fields:  # inferred from the first 2 records\n" in found.text
    assert "      id: id  # unique in all records\n" in found.text
    assert "    expect: {samples: 3}\n" in found.text
    assert found.records == [
        {"id": "1", "question": "Who?", "answer": "me"},
        {"id": "2", "question": "What?", "answer": "it"},
    ]
    # Three are not more than three.
    assert "inferred from" not in draft(destination, context, text, most=3).propose().text


@pytest.mark.parametrize("most", [2, None])
def test_question_that_a_later_record_repeats_gets_its_own_id(
    context: SourceContext, destination: Destination, most: int | None
) -> None:
    text = "question,answer\nWho?,me\nWhat?,it\nWho?,you\n"
    found = draft(destination, context, text, most=most).propose()
    assert ("inferred from the first 2 records" in found.text) is (most == 2)
    assert "on_duplicate: suffix" in found.text
    assert len({sample.id for sample in found.result.dataset}) == 3
    once = draft(destination, context, text.removesuffix("Who?,you\n"), most=most).propose()
    assert "on_duplicate" not in once.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,question\n1,Who?\n2,What?\n1,Where?\n", "id: {hash: [question]"),
        ("question,answer\nWho?,me\nWhat?,it\n,x\n", "where: {value: question, empty: false}"),
        ("question,answer\nWho?,me\nWhat?,it\n  ,x\n", "expect: {samples: 3}"),
        ("question,A,B,answer\nWho?,me,you,1\nIt?,a,b,1\nWe?,c,d,2\n", "indexes from 1 to 2"),
    ],
)
def test_all_records_are_read_if_a_later_one_does_not_fit(
    context: SourceContext, destination: Destination, text: str, expected: str
) -> None:
    found = draft(destination, context, text, most=2).propose()
    assert expected in found.text
    assert found.text == draft(destination, context, text).propose().text


def test_later_record_that_cannot_be_read_or_mapped_is_an_error(
    context: SourceContext, destination: Destination
) -> None:
    ragged = draft(destination, context, "question,answer\na,b\nc,d\ne,f\nx\n", most=2)
    with pytest.raises(DecodeError, match=r"q\.csv:5: .* --encoding say how to read it"):
        ragged.propose()
    blank = draft(destination, context, "question,answer\na,b\nc,d\n,e\n,f\n", most=2)
    with pytest.raises(RegistryError, match="--input says another column"):
        blank.propose()


def test_mere_guesses_are_said() -> None:
    record = {"kysymys": "a long one", "vastaus": "x", "aine": "y"}
    assert list(doubts(infer_fields("d", [record]), 1)) == [
        "input kysymys (the longest texts: please check; or --input COLUMN)",
    ]
    records = [{"question": text, "vastaus": f"x{text}"} for text in ("a", "b", "")]
    assert list(doubts(infer_fields("d", records), 3)) == [
        "target vastaus (the only other column: please check; or --target COLUMN)",
        "where (leaves out the records without input: 1 of 3)",
    ]
    assert list(doubts(infer_fields("d", [{"question": "?", "answer": "!"}]), 1)) == []


def test_description_of_a_file_has_no_secret() -> None:
    keys = {"path": "https://user:pw@example.org/a/q.csv?token=secret"}
    read = FirstRecords(keys, [{}] * 1_200, is_all=True)
    assert about_file(read).description == "1,200 records of q.csv."
    assert about_file(replace(read, is_all=False)).description == "Records of q.csv."


def test_description_of_files_in_no_folder_has_their_pattern() -> None:
    read = FirstRecords({"path": "{part}.csv"}, [{}], is_all=True)
    assert about_file(read).description == "1 record of {part}.csv."


def answer(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_reading_is_chosen_by_its_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(monkeypatch, "3", "x", "2")
    question = Question("q\x1b.csv", "delimiter", {"--delimiter ,": "a", "--delimiter ;": "b"})
    assert ask(question) == "--delimiter ;"
    out = capsys.readouterr().out
    assert "  2. --delimiter ;: b\n" in out
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("lines", "field"),
    [
        ([""], None),
        (["y"], None),
        (["Yes"], None),
        (["what", "target", "zzz", "b"], ("target", "b")),
    ],
)
def test_yes_writes_and_a_field_gets_another_column(
    monkeypatch: pytest.MonkeyPatch, lines: list[str], field: tuple[str, str] | None
) -> None:
    answer(monkeypatch, *lines)
    assert ask_what_next(["a", "b"]) == field


def test_no_aborts(monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, "n")
    with pytest.raises(click.Abort):
        ask_what_next(["a", "b"])


@pytest.mark.parametrize(
    ("lines", "license_", "expected"),
    [
        (["", ""], None, ("3 records.", None)),
        (["Mine.", "MTI", "mit"], None, ("Mine.", "mit")),
        (["Mine."], "cc0-1.0", ("Mine.", "cc0-1.0")),
    ],
)
def test_description_and_license_are_asked(
    monkeypatch: pytest.MonkeyPatch,
    lines: list[str],
    license_: str | None,
    expected: tuple[str, str | None],
) -> None:
    answer(monkeypatch, *lines)
    assert ask_about("3 records.", license_) == expected


def test_pipe_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch)
    assert not is_interactive()
