"""A proposed manifest works before it is written, and errors say what to do next."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.cli.adding.destination import Destination, destination_of
from registry.cli.adding.proposal import Draft, about_file, allow_source, doubts, read_records
from registry.errors import DecodeError, RegistryError
from registry.scaffold.inference.fields import infer_fields
from registry.scaffold.new_manifest import About
from registry.settings import Settings
from registry.sources.pins import SourceContext

SOURCE = {"type": "csv", "path": "q.csv"}


@pytest.fixture
def destination(tmp_path: Path) -> Destination:
    return destination_of(Settings(index=tmp_path / "datasets.yaml", cache_dir=tmp_path), "d")


def draft(destination: Destination, context: SourceContext, text: str, **columns: str) -> Draft:
    Path("q.csv").write_text(text)
    keys, records = read_records(SOURCE, destination, context)
    return Draft(
        name="d",
        source=keys,
        records=records,
        labels={},
        about=About("x"),
        columns=columns,
        destination=destination,
        context=context,
    )


def test_manifest_is_loaded_before_it_is_written(
    context: SourceContext, destination: Destination
) -> None:
    found = draft(destination, context, "question,answer\nWho?,me\n").propose()
    assert found.result.dataset[0].target == "me"
    assert "expect: {samples: 1}" in found.text
    assert not destination.target.exists()


def test_columns_of_the_user_are_proposed(context: SourceContext, destination: Destination) -> None:
    found = draft(destination, context, "question,a,b\nWho?,1,2\n", target="b").propose()
    assert found.result.dataset[0].target == "2"
    with pytest.raises(RegistryError, match="no column 'c' for target"):
        draft(destination, context, "question,a,b\nWho?,1,2\n", target="c").propose()


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
    with pytest.raises(RegistryError, match="--input, --target, --choices and --id say which"):
        found.propose()


def test_mere_guesses_are_said() -> None:
    record = {"frage": "a long one", "antwort": "x", "fach": "y"}
    assert list(doubts(infer_fields("d", [record]), 1)) == [
        "input frage (the longest value of the first record: please check; or --input COLUMN)",
        "target null (no column looks like it; --target COLUMN names one)",
    ]
    records = [{"question": text, "antwort": "x"} for text in ("a", "b", "")]
    assert list(doubts(infer_fields("d", records), 3)) == [
        "target antwort (the only other column: please check; or --target COLUMN)",
        "where (leaves out the records without input: 1 of 3)",
    ]
    assert list(doubts(infer_fields("d", [{"question": "?", "answer": "!"}]), 1)) == []


def test_description_of_a_file_has_no_secret() -> None:
    keys = {"path": "https://user:pw@example.org/a/q.csv?token=secret"}
    assert about_file(keys, [{}] * 1_200).description == "1,200 records of q.csv."


def test_source_of_the_user_is_allowed(
    context: SourceContext, destination: Destination, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "q.csv"
    outside.write_text("a\n1\n")
    boundary = allow_source(context.boundary, {"type": "csv", "path": str(outside)}, destination)
    assert boundary.refusal(str(outside)) is None
    assert context.boundary.refusal(str(outside)) is not None
