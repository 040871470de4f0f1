"""Which files of a folder or an archive are meant; tests/acceptance/test_add_nasty_files.py adds them."""

from __future__ import annotations

import io
import lzma
import tarfile
from pathlib import Path

import click
import pytest

from registry.cli.adding.files import ChosenFiles, choose_files, propose_join
from registry.cli.adding.request import SourceOptions
from registry.errors import DecodeError, SourceError
from registry.scaffold.columns import Question, refuse
from registry.sources.pins import SourceContext


def chosen(context: SourceContext, file: str) -> ChosenFiles:
    return choose_files(SourceOptions(file=file), Path.cwd(), context, refuse)


def write(**texts: str) -> None:
    for name, text in texts.items():
        path = Path(f"d/{name.replace('__', '/')}.csv")
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)


def test_other_locations_are_as_they_are(context: SourceContext) -> None:
    for file in ("q.csv", "zip://a.csv::b.zip", "https://a.example/q.csv"):
        assert chosen(context, file) == ChosenFiles(SourceOptions(file=file))


@pytest.mark.parametrize(
    ("texts", "file", "path"),
    [
        ({"q": "question\n1\n"}, "d/q.csv", ""),
        ({"de": "q\n1\n", "en": "q\n2\n", "fr": "q\n3\n"}, "d/{lang}.csv", "d/{lang}.csv"),
        ({"a__dev": "q\n1\n", "b__dev": "q\n2\n", "b__test": "x\n1\n"}, "d/{part}/test.csv", "d/{part}/{split}.csv"),
        ({"x_1": "q\n1\n", "x_2": "q\n2\n"}, "d/x_*.csv", "d/x_*.csv"),
    ],
)  # fmt: skip
def test_names_of_files_decide(
    context: SourceContext, texts: dict[str, str], file: str, path: str
) -> None:
    write(**texts)
    found = chosen(context, "d")
    assert (found.options.file, found.path) == (file, path)


def test_packed_files_of_one_format_go_together(context: SourceContext) -> None:
    Path("d").mkdir()
    for name in ("a.csv", "b.csv", "c.jsonl"):
        Path(f"d/{name}.xz").write_bytes(lzma.compress(b'q\n"?"\n'))
    assert chosen(context, "d").path == "d/{part}.csv.xz"


def test_two_files_with_other_columns_are_joined(context: SourceContext) -> None:
    write(a="id,answer\n1,x\n", b="id,question\n1,?\n")
    found = chosen(context, "d").options
    assert (found.file, found.join) == ("d/b.csv", "d/a.csv")


def test_several_files_with_other_columns_are_a_question(context: SourceContext) -> None:
    write(one="a\n1\n", two="b\n1\n", three="c\n1\n")
    with pytest.raises(DecodeError, match=r"d: the file of d is not clear, .*--file d/one\.csv"):
        chosen(context, "d")
    asked: list[Question] = []

    def second(question: Question) -> str:
        asked.append(question)
        return list(question.choices)[1]

    found = choose_files(SourceOptions(file="d"), Path.cwd(), context, second)
    assert (found.options.file, len(asked)) == ("d/three.csv", 1)
    assert "not one.csv, two.csv" in str(found.guesses[0])


def test_nothing_to_read_is_refused(context: SourceContext) -> None:
    Path("d").mkdir()
    message = r"d has no file that ends in \.csv, \.tsv, \.json, \.jsonl or \.parquet \(it is empty"
    with pytest.raises(click.UsageError, match=message):
        chosen(context, "d")
    Path("d/a.xlsx").touch()
    with pytest.raises(click.UsageError, match=r"\(it has a\.xlsx\)"):
        chosen(context, "d")


def test_members_of_a_packed_tar_are_listed(context: SourceContext) -> None:
    with tarfile.open("b.tgz", "w:gz") as archive:
        for name in ("b/test.csv", "b/notes.txt"):
            entry = tarfile.TarInfo(name)
            entry.size = 2
            archive.addfile(entry, io.BytesIO(b"q\n"))
    assert chosen(context, "b.tgz").options.file == "tar://b/test.csv::b.tgz"


def test_keys_of_other_types_join_nothing(context: SourceContext) -> None:
    write(a="qid,answer\n1,x\n")
    with pytest.raises(SourceError, match="the types int and str"):
        propose_join("d/a.csv", [{"qid": 1}], Path.cwd(), context, refuse)
