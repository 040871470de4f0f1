"""Untrusted text without anything that controls a terminal or a CI."""

from __future__ import annotations

import json
import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.base.escape import (
    escape_control,
    escape_json,
    escape_lines,
    escaped_characters,
    mark_alike,
    normal_form,
    show_invisible,
    start_of,
)

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
NEEDED = {
    "Persian": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Telugu": "\u0c2c\u0c21\u0c4d\u0c1c\u0c46\u0c1f\u0c4d\u200c\u0c15\u0c41",
    "Hindi": "\u0915\u094d\u200d\u0937",
    "Malayalam": "\u0d15\u0d4d\u200d",
    "Sinhala": "\u0dbb\u0dca\u200d\u0dba",
    "Bengali": "\u09b0\u200d\u09cd\u09af\u09be\u09ac",
    "Kannada": "\u0c85\u0cb0\u200d\u0ccd\u0c95",
    "Mongolian": "\u182f\u180b",
    "sign of Arabic numbers": "\u0600\u06f1",
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "heart on fire": "\u2764\ufe0f\u200d\U0001f525",
    "rainbow flag": "\U0001f3f3\ufe0f\u200d\U0001f308",
    "doctor": "\U0001f469\U0001f3fd\u200d\u2695\ufe0f",
    "keycap": "1\ufe0f\u20e3",
    "England": "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
}
HIDDEN = {
    "selectors after a letter": "q\U000e0143\U000e0141",
    "selectors after an ideograph": "\u65e5\U000e0100",
    "two styles": "\U0001f600\ufe0f\ufe0f",
    "style of a letter": "x\ufe0f",
    "joiner between Latin letters": "a\u200db",
    "two joiners": "\u0c4d\u200c\u200c\u0c15",
    "joiner past something hidden": "\u0628\u2060\u200c\u0647",
    "tags after a flag": "\U0001f3f4\U000e0067\U000e0062\U000e0041\U000e007f",
    "grapheme joiner": "a\u034fb",
    "fillers": "\u3164\u115f\u1160\uffa0",
    "Braille blank": "\u2800",
    "Khmer vowels": "\u17b4\u17b5",
    "Mongolian selector of a letter": "a\u180b",
}
SCRIPTS = st.text(
    st.sampled_from([*"".join(NEEDED.values()), *"".join(HIDDEN.values()), *"ab \u0301\u202e"])
)
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


@pytest.mark.parametrize("raw", NEEDED.values(), ids=NEEDED)
def test_what_a_script_needs_is_shown(raw: str) -> None:
    assert escape_control(raw) == show_invisible(raw) == raw
    assert escaped_characters(raw) == list(raw)


@pytest.mark.parametrize("raw", HIDDEN.values(), ids=HIDDEN)
def test_what_hides_something_is_shown_as_its_code(raw: str) -> None:
    shown = escape_control(raw)
    assert "\\u{" in shown
    assert json.loads(escape_json(json.dumps(raw, ensure_ascii=False))) == raw
    assert "\\u" in escape_json(json.dumps(raw, ensure_ascii=False))


@given(SCRIPTS)
def test_escaping_again_changes_nothing(raw: str) -> None:
    shown = escape_control(raw)
    assert escape_control(shown) == shown
    assert "".join(escaped_characters(raw)) == shown


@given(SCRIPTS, st.data())
def test_a_text_in_parts_is_escaped_as_the_whole(raw: str, data: st.DataObject) -> None:
    # A part ends before a character that joins nothing to the next one.
    ends = [place for place, one in enumerate(raw) if one in "ab "]
    place = data.draw(st.sampled_from(ends or [0]))
    parts = [escape_lines(raw[:place]), escape_lines(raw[place:], before=raw[:place][-32:])]
    assert "".join(parts) == escape_lines(raw)


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


@given(
    st.recursive(
        HOSTILE,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(HOSTILE, inner, max_size=3),
        max_leaves=8,
    )
)
def test_json_keeps_its_data(value: object) -> None:
    escaped = escape_json(json.dumps(value, ensure_ascii=False, indent=2))
    assert json.loads(escaped) == value
    assert escape_lines(escaped) == escaped


@pytest.mark.parametrize(
    ("text", "start"), [("abc", "abc"), ("abcd", "abc…"), (f"ab{NEEDED['doctor'][2:]}", "ab…")]
)
def test_start_of_a_text_ends_with_no_joiner(text: str, start: str) -> None:
    assert start_of(text, 3) == start


@pytest.mark.parametrize("text", ["\u0434" * 200_000, "a" + "\u0315\u0300" * 100_000])
def test_what_looks_alike_is_marked_in_linear_time(text: str) -> None:
    start = time.process_time()
    assert mark_alike(text, text[:-1]) == text
    assert time.process_time() - start < 5


@pytest.mark.parametrize("text", ["e\u0301 \ufb01", "\uff76\uff9e" * 40, "e\u0301" + "\u2014" * 40])
def test_normal_form_of_a_text_is_that_of_unicode(text: str) -> None:
    assert normal_form("NFKC", text) == unicodedata.normalize("NFKC", text)
