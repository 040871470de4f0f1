"""From an empty folder to samples of one's own data in two commands: `init` and `add`."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry import get_dataset
from tests.cli.conftest import run
from tests.cli.invocation import Invocation, Run
from tests.terminal.screens import Screen, run_in_terminal

__all__ = ["run"]

SHARED = Path(__file__).parents[2] / ".." / "shared" / "data" / "real"
QUESTIONS = [
    ("Wie heißt die größte Stadt Österreichs, bitte?", "Wien"),
    ("Was ist das Gegenteil von „früh“; kurz?", "spät"),
    ("Zwei\nZeilen?", "ja"),
]


def table(
    delimiter: str = ",", *, above: str = "", quoting: int = csv.QUOTE_MINIMAL, end: str = "\n"
) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end)  # type: ignore[arg-type]
    writer.writerows([("frage", "antwort"), *QUESTIONS])
    return above + text.getvalue()


FILES: dict[str, bytes] = {
    "commas": table().encode(),
    "semicolons": table(";").encode(),
    "semicolons of cp1252": table(";").encode("cp1252"),
    "latin-1": table().replace("„", "").replace("“", "").encode("latin-1"),
    "tabs": table("\t").encode(),
    "a byte-order mark": table(";").encode("utf-8-sig"),
    "UTF-16": table("\t").encode("utf-16"),
    "everything quoted": table(quoting=csv.QUOTE_ALL, end="\r\n").encode(),
    "notes above": table(";", above="Export der Umfrage\nStand: 1.3.2024\n\n").encode(),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def add(run: Run, *arguments: str) -> Invocation:
    """Run the two commands, and check that what they wrote is valid; return the second's result."""
    assert run("init").code == 0
    result = run("add", "my-qa", *arguments)
    assert (result.code, result.err) == (0, "")
    assert run("validate", "--strict", "--select", "all").code == 0
    assert "── sample 1" in result.out
    assert re.search("── record [12] of the source", result.out)
    return result


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_csv_as_programs_write_it(folder: Path, run: Run, data: bytes) -> None:
    (folder / "fragen.csv").write_bytes(data)
    add(run, "--file", "fragen.csv")
    dataset = get_dataset("my-qa")
    assert [sample.target for sample in dataset] == [answer for _, answer in QUESTIONS]
    marks = "" if data == FILES["latin-1"] else "„“"
    expected = [question if marks else re.sub("[„“]", "", question) for question, _ in QUESTIONS]
    assert [sample.input for sample in dataset] == expected


REAL: dict[str, tuple[int, Callable[[Any], bool]]] = {
    "agieval-aqua-rat.jsonl": (254, lambda one: len(one.choices) == 5 and one.target in "ABCDE"),
    "agieval-lsat-ar.jsonl": (230, lambda one: one.input.startswith("Of the eight students")),
    "agieval-math.jsonl": (1000, lambda one: one.choices is None and bool(one.target)),
    "agieval-sat-math.jsonl": (220, lambda one: one.choices == ["2", "4", "9", "10"]),
    "bbq-age.jsonl": (3680, lambda one: len(one.choices) == 3 and one.target in "ABC"),
    "cybermetric-80.json": (80, lambda one: len(one.choices) == 4 and one.target in "ABCD"),
    "mgsm-en.tsv": (250, lambda one: one.input.startswith("Janet’s") and one.target == "18"),
    "mgsm-te.tsv": (250, lambda one: one.target == "18"),
    "personality-bfi.json": (44, lambda one: one.metadata["trait"] == "Extraversion"),
}


@pytest.mark.parametrize(("name", "expected"), REAL.items(), ids=REAL)
def test_real_files(
    folder: Path, run: Run, name: str, expected: tuple[int, Callable[[Any], bool]]
) -> None:
    if not SHARED.is_dir():
        pytest.skip("the real files are not here")
    (folder / name).write_bytes((SHARED / name).read_bytes())
    run("init")
    result = run("add", "my-qa", "--file", name)
    assert result.code == 0, result.err
    assert run("validate", "--strict").code == 0
    dataset = get_dataset("my-qa")
    assert len(dataset) == expected[0]
    assert expected[1](dataset[0]), dataset[0]


BAD: dict[str, tuple[str, bytes, str]] = {
    "empty": ("q.csv", b"", "the file is empty"),
    "binary": ("q.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "this is not a text file"),
    "a sheet": ("q.csv", b"PK\x03\x04" + bytes(30), "export the sheet as CSV"),
    "a short row": ("q.csv", b"a,b\n1,2\n3\n", "q.csv:3: line 3 has 1 field, the header has 2"),
    "two readings": ("q.csv", b"a, b;c\nd, e;f\n", "--delimiter ';' gives 2 columns: 'a, b', 'c'"),
    "no JSON": ("q.json", b"{", "not JSON"),
    "two lists": ("q.json", b'{"a": [{"x": 1}], "b": [{"y": 1}]}', "--records b gives 1 record"),
    "a page": ("q.csv", b"<!DOCTYPE html><title>Log in</title>", "this is an HTML page"),
}


@pytest.mark.parametrize(("name", "data", "words"), BAD.values(), ids=BAD)
def test_bad_file_is_one_error_and_nothing_is_written(
    folder: Path, run: Run, name: str, data: bytes, words: str
) -> None:
    (folder / name).write_bytes(data)
    result = run("add", "my-qa", "--file", name)
    assert (result.code, result.out.count("wrote")) == (1, 0)
    assert words in result.err
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == [name]


def in_terminal(folder: Path, *arguments: str, keys: str = "") -> Screen:
    """Run `add` of q.csv in a terminal, where the lines of `keys` are typed."""
    command = [sys.executable, "-m", "registry", "add", "my-qa", "--file", "q.csv", *arguments]
    typed = "".join(f"{key}\n" for key in keys.split(", "))
    dumb = {"TERM": "dumb"}
    return run_in_terminal(command, folder=folder, keys=typed, columns=200, environment=dumb)


def test_terminal_asks_what_is_not_clear(folder: Path, run: Run) -> None:
    (folder / "q.csv").write_text("a, b;c;d\nlong question, one?;x;2\nlong question, two?;y;4\n")
    run("init")
    screen = in_terminal(folder, keys="2, 9, 2, ?, target, c, yes, Two questions., mit")
    assert screen.code == 0, screen.text
    for text in (
        "Which one",
        "Error: '9' is not one of '1', '2', ",
        "q.csv: the target is not clear:\n  1. --target ",
        "--no-target: samples without a target",
        "\nno      write nothing\n",
        "Column for target (a, b, c, d)",
        "Description [2 records of q.csv.]",
        "wrote registry/my-qa.yaml",
    ):
        assert text in screen.text
    assert [sample.target for sample in get_dataset("my-qa")] == ["x", "y"]
    text = (folder / "registry" / "my-qa.yaml").read_text()
    assert "description: Two questions.\n    license: mit\n" in text


def test_terminal_writes_nothing_after_no_and_asks_nothing_with_yes(folder: Path) -> None:
    (folder / "q.csv").write_text("question,answer\nWho?,me\n")
    screen = in_terminal(folder, keys="no")
    assert screen.code == 130, screen.text
    assert "Write it?" in screen.text
    assert "aborted" in screen.text
    assert not (folder / "datasets.yaml").exists()
    screen = in_terminal(folder, "--yes")
    assert screen.code == 0, screen.text
    assert "Write it?" not in screen.text
    assert "wrote registry/my-qa.yaml" in screen.text
