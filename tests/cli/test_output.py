"""Tables, sizes and samples: plain in a pipe, with rich on a terminal."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click import unstyle

from registry import ChatMessageSystem, ChatMessageUser, CheckpointSampleConfig, Sample
from registry.build.expectations import QualityWarning
from registry.cli import output
from registry.cli.output import (
    print_json,
    print_sample,
    print_table,
    print_warnings,
    size_text,
)

Capture = pytest.CaptureFixture[str]


class Terminal:
    """The captured stdout, as a terminal."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return sys.stdout.write(unstyle(text))

    def flush(self) -> None:
        sys.stdout.flush()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a terminal of 40 columns; the output is captured as usual."""
    monkeypatch.setattr(output, "sys", SimpleNamespace(stdout=Terminal()))
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (None, ""),
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (1_440_000, "1.4 MB"),
        (999_949, "999.9 kB"),
        (2 * 10**9, "2.0 GB"),
        (3 * 10**15, "3000.0 TB"),
    ],
)
def test_size_has_a_decimal_unit(size: int | None, text: str) -> None:
    assert size_text(size) == text


def test_json_is_unicode_with_other_values_as_str(capsys: Capture) -> None:
    print_json({"city": "Zürich", "path": Path("a")})
    out = capsys.readouterr().out
    assert "Zürich" in out
    assert json.loads(out) == {"city": "Zürich", "path": "a"}


def test_table_in_a_pipe_is_aligned_and_complete(capsys: Capture) -> None:
    long = "x" * 300
    print_table(("name", "text"), [("a", long), ("longer", "")])
    assert capsys.readouterr().out == f"name    text\na       {long}\nlonger\n"


def test_table_without_rows_has_headers(capsys: Capture) -> None:
    print_table(("name", "text"), [])
    assert capsys.readouterr().out == "name  text\n"


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


@pytest.mark.usefixtures("terminal")
def test_brackets_are_printed_literally_on_a_terminal(capsys: Capture) -> None:
    print_table(("name",), [("[red]qa[/red]",)])
    assert "[red]qa[/red]" in capsys.readouterr().out


SAMPLES: dict[str, tuple[Sample, list[str]]] = {
    "text": (
        Sample(input="2 + 2?\nBe brief.", target="4"),
        ["2 + 2?", "Be brief.", "", "target    4"],
    ),
    "a conversation": (
        Sample(input=[ChatMessageSystem(content="Be brief."), ChatMessageUser(content="2 + 2?")]),
        ["system: Be brief.", "user: 2 + 2?", "", "target    "],
    ),
    "choices": (
        Sample(input="2 + 2?", choices=["3", "4"], target="B"),
        ["2 + 2?", "", "  A) 3", "  B) 4", "", "target    B"],
    ),
    "several targets": (
        Sample(input="q", target=["4", "four"]),
        ["q", "", 'target    ["4", "four"]'],
    ),
    "a target of two lines": (Sample(input="q", target="a\nb"), ["q", "", 'target    "a\\nb"']),
    "everything else": (
        Sample(
            input="q",
            metadata={"m": 1},
            sandbox="docker",
            files={"a": "b"},
            setup="true",
            description="Add",
            checkpoint=CheckpointSampleConfig(max_consecutive_failures=1),
        ),
        [
            *("q", "", "target    ", "description Add", 'metadata  {"m": 1}'),
            'sandbox   {"type": "docker", "config": null}',
            *('files     {"a": "b"}', "setup     true"),
            'checkpoint {"max_consecutive_failures": 1}',
        ],
    ),
}


@pytest.mark.parametrize(("sample", "lines"), SAMPLES.values(), ids=SAMPLES)
def test_sample_is_printed_field_by_field(
    capsys: Capture, sample: Sample, lines: list[str]
) -> None:
    print_sample(sample, 3)
    assert capsys.readouterr().out.splitlines() == ["── sample 3", *lines, ""]


@pytest.mark.parametrize(("id", "title"), [(0, "sample 1 · id 0"), ("a", "sample 1 · id a")])
def test_title_has_the_id(capsys: Capture, id: Any, title: str) -> None:
    print_sample(Sample(input="q", id=id), 1)
    assert capsys.readouterr().out.startswith(f"── {title}\n")


def test_long_metadata_is_truncated(capsys: Capture) -> None:
    print_sample(Sample(input="q", metadata={"long": "x" * 1000}), 1)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("metadata")]
    assert line.endswith("x…")
    assert len(line) == len("metadata  ") + 501


@pytest.mark.usefixtures("terminal")
def test_sample_has_a_frame_on_a_terminal(capsys: Capture) -> None:
    print_sample(Sample(input="[bold]q[/bold]", id="a"), 1)
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("╭─ sample 1 · id a ─")
    assert any("[bold]q[/bold]" in line for line in rest)


def test_warnings_are_one_line_each_on_stderr(capsys: Capture) -> None:
    texts = ("a choice twice", "in x\x1b[31m\ny.csv")
    found = [QualityWarning(kind="repeated_choices", message=text) for text in texts]
    print_warnings("d", found)
    output = capsys.readouterr()
    assert output.out == ""
    first, second = output.err.splitlines()
    assert first == "warning: d: a choice twice [repeated_choices]"
    assert "\x1b" not in second
