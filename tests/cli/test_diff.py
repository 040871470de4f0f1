"""The table of formats: each prints every diff."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from datetime import date

import click
import pytest

from registry.cli.diff import FORMATS, as_text, print_diff
from registry.cli.markdown import as_markdown
from registry.cli.streams import escaped_output
from registry.diff.models import CatalogDiff, KeyChange, NewReach
from registry.errors import Problem
from tests.cli.diffs import EVIL, change, diff_of, origin, untrusted_diff


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_prints_a_diff_without_differences(form: str) -> None:
    assert "no differences" in "\n".join(FORMATS[form](diff_of()))


def test_text_and_markdown_are_those_of_their_modules() -> None:
    diff = untrusted_diff("text")
    assert list(FORMATS["text"](diff)) == list(as_text(diff))
    assert list(FORMATS["markdown"](diff)) == [as_markdown(diff)]


@pytest.mark.parametrize(("encoding", "shown"), [("utf-8", "é→"), ("latin-1", "&#233;&#8594;")])
def test_html_is_utf_8_whatever_the_encoding_of_stdout(
    encoding: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    (page,) = FORMATS["html"](diff_of(change("d", "é→", "new")))
    assert f"<del>{shown}</del>" in page
    assert page.isascii() == (encoding != "utf-8")


def test_json_has_the_headline_and_every_field_of_the_diff() -> None:
    problem = Problem(message="bad", file="m.yaml", line=3)
    diff = diff_of(change("d", "old", "new"), head_problems=(problem,))
    data = json.loads("".join(FORMATS["json"](diff)))
    effect = "1 input of 3 samples changes, 1 added; mapping of `input`"
    assert data["headline"] == f"d: {effect} · 1 problem"
    assert data["counts"] == {"inputs": 1}
    assert data["head_problems"] == [problem.to_dict()]
    (changed,) = data["changes"]
    assert (changed["effect"], changed["kinds"]) == (effect, ["inputs"])
    (key,) = changed["keys"]
    assert (key["kind"], key["old"]["value"]) == ("inputs", "old")
    chunks = [["=", "new "], ["-", "old"], ["+", "new"]]
    assert changed["samples"]["examples"][0]["fields"][0]["chunks"] == chunks


def test_json_is_complete_whatever_the_text() -> None:
    data = json.loads("".join(FORMATS["json"](untrusted_diff(EVIL))))
    assert data["changes"][0]["name"] == EVIL


def test_json_has_dates_as_str() -> None:
    key = KeyChange(key="x", kind="", old=None, new=origin("x", date(2024, 1, 2)))
    data = json.loads("".join(FORMATS["json"](diff_of(shared=(key,)))))
    assert data["shared"][0]["new"]["value"] == "2024-01-02"


def text(made: CatalogDiff, width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout.isatty", lambda: True)
        return list(as_text(made))


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
    assert narrow[6:] == [
        "  fields.input:  m.yaml:1 → m.yaml:2",
        "    - one template",
        "    + another template",
    ]
    assert wide[6:] == ["  fields.input: one template → another template  m.yaml:1 → m.yaml:2"]
    made = diff_of(replace(change("d", "テンプレート一", "another template"), samples=None))
    assert click.unstyle(text(made, 66, monkeypatch)[6]) == narrow[6]  # 62 characters


def test_only_terminals_get_colors(monkeypatch: pytest.MonkeyPatch) -> None:
    made = diff_of(change("d", "old", "new"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = "\n".join(text(made, 100, monkeypatch))
    assert "\x1b[31mold\x1b[0m → \x1b[32mnew\x1b[0m" in coloured
    plain = "\n".join(as_text(made))
    assert "\x1b" not in plain
    assert click.unstyle(coloured) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in "\n".join(text(made, 100, monkeypatch))


def test_untrusted_text_does_not_control_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    lines = text(untrusted_diff(EVIL), 80, monkeypatch)
    assert not set("".join(lines)) & set("\x1b\u202e\n\r")


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_terminal_without_styles_may_be_the_log_of_a_ci_which_gets_no_command(
    form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    with escaped_output():
        print_diff(diff_of(notes=("##vso[task.complete]",)), form)
    out = capsys.readouterr().out
    assert "vso[task.complete]" in out
    assert "##vso" not in out


def test_lines_are_never_wrapped_in_a_pipe() -> None:
    lines = list(as_text(diff_of(change("d", "some words " * 30, "x"))))
    old = next(n for n, line in enumerate(lines) if line.startswith("    - "))
    assert len(lines[old]) > 150
    assert lines[old + 1] == "    + x"


def test_many_names_are_abbreviated() -> None:
    lines = list(as_text(diff_of(not_compared=tuple(f"d{n}" for n in range(30)))))
    assert lines[-1].startswith("not compared: d0, d1, ")
    assert lines[-1].endswith("d19 and 10 more")


def test_reach_and_new_warnings_stand_below_the_headline_and_the_samples() -> None:
    reach = (NewReach("host", "h.example", ("a", "b")), NewReach("permission", "trust: m:f", ()))
    lines = list(as_text(diff_of(change("d", "old", "new"), reach=reach)))
    assert lines[2] == "new reach: host h.example (datasets a, b); permission trust: m:f (index)"
    (place,) = [number for number, line in enumerate(lines) if line.startswith("  samples: ")]
    assert lines[place + 1] == "  warning: blank target: new"
