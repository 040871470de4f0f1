"""Untrusted text without anything that controls a terminal or a CI."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.base.escape import escape_control, escape_json, escape_lines

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
COMMANDS = {
    "::error::x": "\\u{3a}:error::x",
    "a\n \t::error::x": "a\n \t\\u{3a}:error::x",
    "\u3000::error::x": "\u3000\\u{3a}:error::x",
    "a ##[add-mask]b": "a \\u{23}#[add-mask]b",
    "###[x]": "#\\u{23}#[x]",
    "##vso[x]": "\\u{23}#vso[x]",
    "a##teamcity[x]": "a\\u{23}#teamcity[x]",
    "section_start:1:x\r\x1b[0K": "\\u{73}ection_start:1:x\\u{d}\\u{1b}[0K",
    "a\rb\x85c\u2028::d": "a\\u{d}b\\u{85}c\\u{2028}::d",
}
HARMLESS = ["a::b", "a\n\tb: :", "## [x](y)", "# [x]", "section_start: 1", "dissection_start"]
COMMAND = re.compile(r"^\s*::|##\w*\[|section_(start|end):\d", re.MULTILINE)
HOSTILE = st.text() | st.lists(
    st.sampled_from([*COMMANDS, "::", ":", "#", "##", "[", "\n", " ", "\x1b", "section_", "end:1"])
).map("".join)


@pytest.mark.parametrize("raw", ESCAPED, ids=repr)
def test_invisible_characters_are_replaced_by_codes(raw: str) -> None:
    assert escape_control(raw) == ESCAPED[raw]


@given(st.text())
def test_escaped_text_is_one_line_without_escapes_of_a_terminal(raw: str) -> None:
    escaped = escape_control(raw)
    assert len(escaped.splitlines()) <= 1
    assert "\x1b" not in escaped
    assert escape_control(escaped) == escaped


@pytest.mark.parametrize("raw", COMMANDS, ids=repr)
def test_commands_of_a_ci_are_broken(raw: str) -> None:
    assert escape_lines(raw) == COMMANDS[raw]


@pytest.mark.parametrize("raw", HARMLESS, ids=repr)
def test_other_text_is_kept(raw: str) -> None:
    assert escape_lines(raw) == raw


def test_only_the_beginning_of_a_line_is_a_place_for_a_command() -> None:
    assert escape_lines("::x\n::y", starts_line=False) == "::x\n\\u{3a}:y"


@given(HOSTILE)
def test_lines_have_no_command_and_no_invisible_character(raw: str) -> None:
    escaped = escape_lines(raw)
    assert COMMAND.search(escaped) is None
    assert {unicodedata.category(one) for one in escaped if one not in "\n\t"}.isdisjoint(
        {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
    )
    assert escape_lines(escaped) == escaped
    assert raw.count("\n") == escaped.count("\n")


@given(st.recursive(HOSTILE, lambda inner: st.lists(inner) | st.dictionaries(HOSTILE, inner)))
def test_json_keeps_its_data(value: object) -> None:
    escaped = escape_json(json.dumps(value, ensure_ascii=False, indent=2))
    assert json.loads(escaped) == value
    assert escape_lines(escaped) == escaped
