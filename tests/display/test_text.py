"""A text as it reads beside the text as it is; long ones folded; all of it within an allowance."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.display.html import Allowance, content_html
from registry.display.text import _json_text, json_html, note_html, text_html


def html(text: str, *, is_code: bool = False, size: int = 10_000) -> str:
    return text_html(text, 6_000, Allowance(size, is_code=is_code))


def test_plain_text_has_its_own_direction() -> None:
    assert html("a < b\n**") == '<div class="text" dir="auto">a &lt; b\n**</div>'


def test_drawn_text_has_the_raw_one_beside_it() -> None:
    assert html("<**b**") == (
        '<div class="rich"><div class="text drawn" dir="auto"><p>&lt;<strong>b</strong></p></div>'
        '<details class="raw"><summary>Raw text</summary>'
        '<div class="text" dir="auto">&lt;**b**</div></details></div>'
    )


def test_text_that_has_no_room_to_be_drawn_is_raw() -> None:
    assert html("**b** $x$", size=30) == '<div class="text" dir="auto">**b** $x$</div>'


def test_code_is_left_to_right_and_has_no_raw_text() -> None:
    text = html("\u0643\u0645:\nimport os\nx = '<'\n", is_code=True)
    assert text.startswith(
        '<div class="text" dir="auto">\u0643\u0645:\n</div><pre class="code" dir="ltr">'
    )
    assert "<span class=\"s\">'&lt;'</span>" in text
    assert "details" not in text


@pytest.mark.parametrize(
    ("text", "note"), [("", "empty"), (" \n\t", "only white space: 3 characters")]
)
def test_empty_text_says_so(text: str, note: str) -> None:
    assert html(text) == f'<p class="quiet small">{note}</p>'


@pytest.mark.parametrize(
    ("text", "lines"),
    [("a\n" * 35, 0), ("a\n" * 36, 36), ("a" * 3_400, 0), ("a" * 3_600, 37), ("**b**\n" * 99, 99)],
)
def test_long_text_is_folded(text: str, lines: int) -> None:
    shown = html(text)
    assert ('<div class="fold">' in shown) == bool(lines)
    if lines:
        assert f'<input type="checkbox"> all {lines} lines</label>' in shown


def test_label_and_note_are_escaped_and_short() -> None:
    text = text_html("x" * 30, 20, Allowance(99), label="<l>" * 999)
    assert text.startswith('<span class="label">&lt;l&gt;')
    assert text.count("&lt;") == 67
    assert text.endswith('<p class="quiet small">10 more characters of 30 not shown</p>')
    assert note_html("<") == '<p class="quiet small">&lt;</p>'


def test_json_is_code_with_a_label() -> None:
    assert json_html({"a": "<"}, Allowance(99), label="data") == (
        '<span class="label">data</span>\n'
        '<pre class="code" dir="ltr"><code>{"a": "&lt;"}</code></pre>'
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "é<", "\ud800"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("ab\n"), inner),
    max_leaves=12,
)


@given(JSON)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_json_is_that_of_the_standard_library(value: Any) -> None:
    line = json.dumps(value, ensure_ascii=False)
    assert _json_text(value, 60) == (
        line if len(line) <= 60 else json.dumps(value, ensure_ascii=False, indent=2)
    )


@settings(deadline=None)
@given(st.lists(st.text(max_size=50), max_size=20), st.integers(0, 200))
def test_allowance_bounds_the_bytes_of_a_page(texts: list[str], size: int) -> None:
    allowance = Allowance(size)
    shown = [allowance.take(text, 40).html for text in texts]
    # The share that fits is an estimate for the one text that is cut for it.
    assert sum(len(one.encode()) for one in shown) <= size + 40 * 10
    starts = [{content_html(text[:end]) for end in range(41)} for text in texts]
    assert all(one in known for one, known in zip(shown, starts, strict=True))


def test_allowance_that_is_used_up_gives_nothing() -> None:
    allowance = Allowance(10)
    assert allowance.take("0123456789", 99) == ("0123456789", "0123456789", "")
    assert allowance.take("more", 99) == ("", "", "4 more characters of 4 not shown")
    assert not allowance.add("x")
    assert allowance.add("x", instead_of="y")
