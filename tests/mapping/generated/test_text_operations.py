"""Generated operations on strings."""

from __future__ import annotations

from typing import Any

import pytest

from registry.mapping import regex, sizes
from registry.mapping.generated import text_operations
from registry.mapping.operations import text
from registry.mapping.row import MISSING
from tests.mapping.generated.both import assert_same
from tests.mapping.generated.odd_values import ODD

STEPS: list[Any] = [
    {"split": " "}, "lines", "strip", {"strip": "x "}, "lower", "upper", "capitalize",
    {"replace": {"a": "bb", "b": "a", "x": ""}},
    {"regex": "a"}, {"regex": "(x)|(a)"}, {"regex": {"pattern": "a(b)?", "optional": True}},
    {"regex": "|".join(f"({letter})" for letter in "zyxwvutsrqponmlkjihgfedcba")},
    {"regex": {"pattern": "[a-c]", "all": True}}, {"regex": "(x+x+)+$"},
    {"sub": {"pattern": "a|x", "to": "<>"}}, {"sub": {"pattern": "(a)|(x)", "to": r"\1-\2\\"}},
    {"sub": {"pattern": "a"}}, {"sub": {"pattern": "(x+x+)+y", "to": ""}},
]  # fmt: skip
TEXTS = ["", "a", " Xx a\nb ", "ä\u2028ß", "abab"]


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_operation_of_odd_values(step: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regex, "SECONDS", 0.2)
    rows = [{"a": value} for value in [*ODD, *TEXTS] if value is not MISSING]
    assert_same({"from": "a", "do": [step]}, [*rows, {}])
    assert_same({"from": {"template": "{a}"}, "do": [step]}, rows)


@pytest.mark.parametrize("step", STEPS[:8] + STEPS[10:13:2] + STEPS[14:17], ids=str)
def test_strings_and_numbers_are_decided_by_the_function(step: Any) -> None:
    rows = [{"a": value} for value in [*TEXTS, 12, 1.5]]
    assert_same({"from": "a", "do": [step]}, rows, fast=True)


def test_replacement_that_is_too_large_is_left_to_the_evaluator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (sizes, text, regex, text_operations):
        monkeypatch.setattr(module, "MAX_TEXT", 10_000)
    long = "x" * 10
    assert_same({"from": "a", "do": [{"replace": {"x": "y" * 2000}}]}, [{"a": long}], fast=False)
    step = {"sub": {"pattern": "x", "to": "y" * 2000}}
    assert_same({"from": "a", "do": [step]}, [{"a": long}], fast=False)


def test_invalid_replacement_is_left_to_the_evaluator() -> None:
    raw = {"from": "a", "do": [{"sub": {"pattern": "a", "to": r"\2"}}]}
    assert assert_same(raw, [{"a": "a"}, {"a": "b"}, {"a": ""}], fast=False)
