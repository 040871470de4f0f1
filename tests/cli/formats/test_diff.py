"""The table of formats: each prints every diff."""

from __future__ import annotations

import io
import json
import sys
from datetime import date

import pytest

from registry.cli.formats.diff import FORMATS
from registry.cli.formats.markdown import as_markdown
from registry.cli.formats.text import as_text
from registry.diff.models import KeyChange
from registry.errors import Problem
from tests.cli.formats.diffs import EVIL, change, diff_of, origin, untrusted_diff


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_prints_a_diff_without_differences(form: str) -> None:
    assert "no differences" in "\n".join(FORMATS[form](diff_of(), False))


def test_text_and_markdown_are_those_of_their_modules() -> None:
    diff = untrusted_diff("text")
    assert list(FORMATS["text"](diff, False)) == list(as_text(diff, terminal=False))
    assert list(FORMATS["markdown"](diff, False)) == [as_markdown(diff)]


@pytest.mark.parametrize(("encoding", "shown"), [("utf-8", "é→"), ("latin-1", "&#233;&#8594;")])
def test_html_is_utf_8_whatever_the_encoding_of_stdout(
    encoding: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    (page,) = FORMATS["html"](diff_of(change("d", "é→", "new")), False)
    assert f"<del>{shown}</del>" in page
    assert page.isascii() == (encoding != "utf-8")


def test_json_has_the_headline_and_every_field_of_the_diff() -> None:
    problem = Problem(message="bad", file="m.yaml", line=3)
    diff = diff_of(change("d", "old", "new"), head_problems=(problem,))
    data = json.loads("".join(FORMATS["json"](diff, False)))
    assert data["headline"] == "1 dataset changed: 1 inputs; 1 problem"
    assert data["counts"] == {"inputs": 1}
    assert data["head_problems"] == [problem.to_dict()]
    (changed,) = data["changes"]
    assert changed["kinds"] == ["inputs"]
    assert changed["keys"][0]["kind"] == "inputs"
    assert changed["keys"][0]["old"]["value"] == "old"
    assert changed["samples"]["examples"][0]["fields"][0]["chunks"] == [
        ["=", "new "],
        ["-", "old"],
        ["+", "new"],
    ]


def test_json_is_complete_whatever_the_text() -> None:
    data = json.loads("".join(FORMATS["json"](untrusted_diff(EVIL), True)))
    assert data["changes"][0]["name"] == EVIL


def test_json_has_dates_as_str() -> None:
    key = KeyChange(key="x", kind="", old=None, new=origin("x", date(2024, 1, 2)))
    data = json.loads("".join(FORMATS["json"](diff_of(shared=(key,)), False)))
    assert data["shared"][0]["new"]["value"] == "2024-01-02"
