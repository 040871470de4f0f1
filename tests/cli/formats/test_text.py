"""A diff as text, for terminals of any width and for pipes."""

from __future__ import annotations

from dataclasses import replace

import click
import pytest

from registry.cli.formats.text import as_text
from registry.diff.models import CatalogDiff, NewReach
from tests.cli.formats.diffs import EVIL, change, diff_of, untrusted_diff


def text(made: CatalogDiff, width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    return list(as_text(made, terminal=True))


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_lines_are_no_wider_than_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = diff_of(change("a-dataset-with-a-name", "some words " * 30, "other words " * 30))
    lines = [click.unstyle(line) for line in text(made, width, monkeypatch)]
    assert max(map(len, lines)) <= width
    assert '    - "some words' in "\n".join(lines)


def test_long_values_are_printed_below_their_key(monkeypatch: pytest.MonkeyPatch) -> None:
    made = diff_of(replace(change("d", "one template", "another template"), samples=None))
    narrow = [click.unstyle(line) for line in text(made, 60, monkeypatch)]
    wide = [click.unstyle(line) for line in text(made, 80, monkeypatch)]
    assert narrow[5:] == [
        "  fields.input:",
        "    - one template",
        "    + another template",
        "    m.yaml:1 → m.yaml:2",
    ]
    assert wide[5:] == ["  fields.input: one template → another template  m.yaml:1 → m.yaml:2"]


def test_only_terminals_get_colors(monkeypatch: pytest.MonkeyPatch) -> None:
    made = diff_of(change("d", "old", "new"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = "\n".join(text(made, 80, monkeypatch))
    assert "\x1b[31mold\x1b[0m → \x1b[32mnew\x1b[0m" in coloured
    plain = "\n".join(as_text(made, terminal=False))
    assert "\x1b" not in plain
    assert click.unstyle(coloured) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in "\n".join(text(made, 80, monkeypatch))


def test_untrusted_text_does_not_control_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    lines = text(untrusted_diff(EVIL), 80, monkeypatch)
    assert not set("".join(lines)) & set("\x1b\u202e\n\r")


def test_lines_are_never_wrapped_in_a_pipe() -> None:
    lines = list(as_text(diff_of(change("d", "some words " * 30, "x")), terminal=False))
    old = next(n for n, line in enumerate(lines) if line.startswith("    - "))
    assert len(lines[old]) > 150
    assert lines[old + 1] == "    + x"


def test_many_names_are_abbreviated() -> None:
    lines = list(as_text(diff_of(not_compared=tuple(f"d{n}" for n in range(30))), terminal=False))
    assert lines[-1].startswith("not compared: d0, d1, ")
    assert lines[-1].endswith("d19 and 10 more")


def test_new_warnings_stand_below_the_samples() -> None:
    lines = list(as_text(diff_of(change("d", "old", "new")), terminal=False))
    (place,) = [number for number, line in enumerate(lines) if line.startswith("  samples: ")]
    assert lines[place + 1] == "  warning: blank target: new"


def test_new_reach_is_one_line_below_the_headline() -> None:
    reach = (NewReach("host", "h.example", ("a", "b")), NewReach("permission", "trust: m:f", ()))
    lines = list(as_text(diff_of(change("d", "a", "b"), reach=reach), terminal=False))
    assert lines[2] == "new reach: host h.example (datasets a, b); permission trust: m:f (index)"
