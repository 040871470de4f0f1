"""Python literals are parsed as by `ast`, or refused."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.mapping.generated.literals import parse_literal


def parsed(text: str) -> str | None:
    """Return the `repr` of the value of a text; None if the text is refused."""
    try:
        return repr(parse_literal(text))
    except Exception:  # noqa: BLE001 (whatever it raises, another way parses the text)
        return None


@pytest.mark.parametrize(
    "value",
    [
        [], {}, ["a", 1, -2.5, True, False, None], {"it's": ['"', "'\"", "a\\b", "\n\t\r", "ä\u2028\xa0"]},
        [1e-30, 2**80, -0.0], {"a": {"b": [{}]}}, ["True", "x: None"], [[[["x"]]]], {"": ""},
    ],
    ids=repr,
)  # fmt: skip
def test_what_repr_writes_is_parsed(value: Any) -> None:
    if value != [1e-30, 2**80, -0.0]:  # "e" outside of a string is a word that JSON may lack
        assert parse_literal(f" {value!r}\n") == value
    assert parsed(repr(value)) in (None, repr(ast.literal_eval(repr(value))))


@pytest.mark.parametrize(
    "text",
    [
        "[true]", "[null]", "[NaN]", "[Infinity]", "[u'a']", "[b'a']", "['a' 'b']", "[(1, 2)]", "[1,]",
        r"['\x4']", r"['\u12g4']", r"['\N{DASH}']", r"['\ud83d\ude00']", r"['\/']", r"['\a']", "['''a''']", "['a\nb']", "['a\tb']",
        "{1: 2}", "[01]", "[1_000]", "[.5]", "['a", "'a'", "5", "", "['\ud800']", "[1e999]", "[1+2j]",
        "[x for x in []]", "[" * 101 + "]" * 101, "[1] # comment", "[True1]", "[1True]", "{'a', 'b'}",
    ],
)  # fmt: skip
def test_all_else_is_refused(text: str) -> None:
    assert parsed(text) is None


PIECES = ["'", '"', "\\", "[", "]", "{", "}", ",", ":", "a", "n", "1", "-", ".", "e", " ", "True",
          "None", "u", "\\x4", "\\u00", "d8", "\n", "ä", "\u0085"]  # fmt: skip


@settings(deadline=None, max_examples=500)
@given(st.lists(st.sampled_from(PIECES), max_size=10).map("".join))
def test_any_text_has_the_value_of_ast_or_is_refused(text: str) -> None:
    for whole in (text, f"[{text}]", f"['{text}']"):
        found = parsed(whole)
        assert found is None or found == repr(ast.literal_eval(whole.strip()))
