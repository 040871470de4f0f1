"""Untrusted text on one line, without anything that controls a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.diff.escape import display_value, escape_control

ESCAPED = {
    "a\nb\tc": "a⏎b⇥c",
    "\x1b[31mred": "\\u{1b}[31mred",
    "\u202eright to left": "\\u{202e}right to left",
    "zero\u200bwidth\ufeff": "zero\\u{200b}width\\u{feff}",
    "\u2066isolate\u2069": "\\u{2066}isolate\\u{2069}",
    "a\u2028b\r": "a\\u{2028}b\\u{d}",
    "\x9b2J\x7f": "\\u{9b}2J\\u{7f}",
    "naïve 日本 😀": "naïve 日本 😀",
}


@pytest.mark.parametrize("raw", ESCAPED, ids=repr)
def test_invisible_characters_are_replaced_by_codes(raw: str) -> None:
    assert escape_control(raw) == ESCAPED[raw]


@given(st.text())
def test_escaped_text_is_one_line_without_escapes_of_a_terminal(raw: str) -> None:
    escaped = escape_control(raw)
    assert len(escaped.splitlines()) <= 1
    assert "\x1b" not in escaped
    assert escape_control(escaped) == escaped


VALUES = [
    ("plain", "plain"),
    ("", '""'),
    (" x", '" x"'),
    ("null", '"null"'),
    ("1e5", '"1e5"'),
    (None, "null"),
    (True, "true"),
    (["a", 1], '["a",1]'),
    ("sha256:" + "ab" * 32, "sha256:abababababab…"),
    ("0123456789abcdef" * 2 + "01234567", "0123456789ab…"),
    ("x" * 400, "x" * 78 + " … " + "x" * 78),
]


@pytest.mark.parametrize(("value", "expected"), VALUES)
def test_value_is_one_short_line(value: object, expected: str) -> None:
    assert display_value(value) == expected
