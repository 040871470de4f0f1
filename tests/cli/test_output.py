"""Tables, sizes, JSON and errors: complete in a pipe, and fitting on a terminal."""

from __future__ import annotations

import json
import math
import os
import sys
from datetime import date
from pathlib import Path

import pytest

from registry.cli import output
from registry.cli.output import (
    print_json,
    print_line,
    print_table,
    print_warnings,
    size_text,
    write_new,
)
from registry.errors import ManifestError
from registry.pipeline.expectations import QualityWarning
from registry.samples.sample import Sample
from tests.cli.invocation import on_terminal

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    on_terminal(monkeypatch, output, 40)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (None, ""),
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (1_440_000, "1.4 MB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (2 * 10**9, "2.0 GB"),
        (3 * 10**15, "3000.0 TB"),
    ],
)
def test_size_has_a_decimal_unit(size: int | None, text: str) -> None:
    assert size_text(size) == text


def refuse(constant: str) -> None:
    raise AssertionError(constant)


@pytest.mark.parametrize(("number", "written"), [(0.1, 0.1), (math.nan, None), (math.inf, None)])
def test_json_is_unicode_and_has_other_values_as_a_sample_does(
    capsys: Capture, number: float, written: float | None
) -> None:
    data = {"numbers": [number, 10**30], "b": b"\xff", "d": date(2026, 1, 2)}
    print_json({"city": "Zürich", "path": Path("a"), **data})
    out = capsys.readouterr().out
    assert "Zürich" in out
    shown = json.loads(out, parse_constant=refuse)
    dumped = Sample(input="", metadata=data).model_dump(mode="json")["metadata"]
    assert shown == {"city": "Zürich", "path": "a", **dumped}
    assert dumped == {"numbers": [written, 10**30], "b": "_w==", "d": "2026-01-02"}


def test_table_in_a_pipe_is_aligned_and_complete(capsys: Capture) -> None:
    long = "x" * 300
    print_table(("name", "text"), [("都a", long), ("longer", "")])
    print_table(("name", "text"), [])
    assert capsys.readouterr().out == f"name    text\n都a     {long}\nlonger\nname  text\n"


@pytest.mark.usefixtures("terminal")
def test_wide_column_wraps_on_a_terminal(capsys: Capture) -> None:
    words = " ".join(["word"] * 12)
    print_table(("name", "text"), [("qa", words)])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 2
    assert max(map(len, lines)) <= 40
    assert " ".join(lines).count("word") == 12


@pytest.mark.usefixtures("terminal")
def test_all_columns_wrap_on_a_narrow_terminal(capsys: Capture) -> None:
    print_table(("name", "text", "where"), [("n" * 30, "word word", "w" * 30)], wide=1)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    assert any("word" in line for line in lines)
    assert "".join(lines).count("n") >= 30


def test_warnings_are_one_line_each_on_stderr(capsys: Capture) -> None:
    texts = ("a choice twice", "in x\x1b[31m\ny.csv")
    found = [QualityWarning(kind="repeated_choices", message=text) for text in texts]
    print_warnings([("d", found), ("e", found[:1])])
    output = capsys.readouterr()
    assert output.out == ""
    first, second = output.err.splitlines()
    assert first == "warning: d, e: a choice twice [repeated_choices]"
    assert "\x1b" not in second


def test_message_is_folded_between_words_on_a_terminal(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "error: qa: a message that is much too long for a terminal of this width"
    print_line(line, err=True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    print_line(line, err=True)
    print_line("  short", err=True)
    print_line(line)
    printed = capsys.readouterr()
    assert printed.out == f"{line}\n"
    assert printed.err.splitlines() == [
        line,
        "error: qa: a message that is much too",
        "  long for a terminal of this width",
        "  short",
    ]


@pytest.mark.usefixtures("terminal")
def test_row_whose_words_do_not_fit_is_a_list(capsys: Capture) -> None:
    long = "a-name-of-25-characters-00"
    print_table(
        ("name", "where", "why"), [(long, "registry/a-file.yaml", "some words"), ("b", "", "x")]
    )
    assert capsys.readouterr().out.splitlines() == [
        long,
        "  where  registry/a-file.yaml",
        "  why    some words",
        "b",
        "  why    x",
    ]


def test_folders_are_created_and_nothing_is_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "a.yaml"
    write_new(file, "é\n")
    assert file.read_text(encoding="utf-8") == "é\n"
    link = tmp_path / "a.yaml"
    link.symlink_to(tmp_path / "gone")
    for taken in (file, link):
        with pytest.raises(ManifestError, match=r"a\.yaml already exists and is not overwritten"):
            write_new(taken, "x")
    assert not (tmp_path / "gone").exists()
    with pytest.raises(UnicodeEncodeError):
        write_new(tmp_path / "b.yaml", "half \ud800")
    assert sorted(os.listdir(tmp_path)) == ["a.yaml", "folder"]


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    message = r"can't write .*a\.yaml: .*file is a file, so it can't be the folder \(name another\)"
    for target in (tmp_path / "file" / "a.yaml", tmp_path / "file" / "b" / "a.yaml"):
        with pytest.raises(ManifestError, match=message):
            write_new(target, "x")
    assert (tmp_path / "file").read_text() == "mine"
