"""Operations on columns of strings return what Python returns for each of them."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from registry.mapping.columnar.kernels.text_steps import _WHITESPACE
from tests.mapping.columnar.kernels.by_value import TEXTS, check, has_no_kernel

STEPS: list[Any] = [
    *["strip", {"strip": "a"}, {"strip": ", é"}, {"strip": ""}, {"replace": {"a": "éé", ",": ""}}],
    *[{"split": separator} for separator in (",", "a", "\0", "é", ", ", "\n", "\U0001f600", "ab")],
]


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_any_string_has_a_kernel(step: Any) -> None:
    check(step, TEXTS)
    check(step, TEXTS[:1])
    check(step, ["a,b", "ab"])


@pytest.mark.parametrize("step", ["lower", "upper", "capitalize", "strip", "lines"])
def test_ascii_has_a_kernel(step: Any) -> None:
    check(step, ["", "aB\n", "\n\n", " \t\x1f", "x\n\ny", "\0"])


@pytest.mark.parametrize("step", ["lower", "upper", "capitalize"])
def test_case_beyond_ascii_is_left_to_records(step: Any) -> None:
    has_no_kernel(step, ["a", "ß"])


@pytest.mark.parametrize(
    "end", ["\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
)
def test_other_line_ends_are_left_to_records(end: str) -> None:
    assert len(f"a{end}b".splitlines()) == 2
    has_no_kernel("lines", ["a", f"a{end}b"])
    check("lines", ["a", "é\u2027\xa0\n"])


def test_whitespace_is_what_python_strips() -> None:
    spaces = {chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()}
    assert set(_WHITESPACE) == spaces
    check("strip", [f"{space}x{space}" for space in sorted(spaces)])


@pytest.mark.parametrize("step", [{"split": ","}, "strip", "lines", {"regex": "a"}])
def test_null_is_left_to_records(step: Any) -> None:
    has_no_kernel(step, ["a", None])


@pytest.mark.parametrize("step", [{"regex": {"pattern": "a", "all": True}}, {"regex": "b"}])
def test_matches_that_are_lists_or_missing_are_left_to_records(step: Any) -> None:
    has_no_kernel(step, ["a"])
