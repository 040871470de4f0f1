"""Patterns that are written for RE2 match what `re` matches, or have no kernel."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.mapping.columnar.kernels.arrays import NoKernelError
from registry.mapping.columnar.kernels.patterns import (
    contains_pattern,
    first_match,
    replace_matches,
)
from registry.mapping.regex_worker import APPLY

_atoms = st.sampled_from(
    [
        "a",
        "b",
        ".",
        "\\d",
        "\\w",
        "\\s",
        "\\W",
        "[^a]",
        "[a-b1]",
        "[\\d_]",
        "\\n",
        "\\.",
        "\\\\",
        "é",
    ]
)
_items = st.tuples(
    _atoms, st.sampled_from(["", "", "*", "+", "?", "*?", "+?", "{2}", "{1,2}"])
).map("".join)
_sequences = st.lists(_items, max_size=3).map("".join)
_branches = st.lists(_sequences, min_size=1, max_size=2).map("|".join)
_groups = st.tuples(st.sampled_from(["({})", "(?:{})", "{}"]), _branches).map(
    lambda parts: parts[0].format(parts[1])
)
_patterns = st.tuples(
    st.sampled_from(["", "", "^", "\\A", "(?s)", "(?s)^"]),
    st.lists(_groups, min_size=1, max_size=2).map("".join),
    st.sampled_from(["", "", "$", "\\Z"]),
).map("".join)
_texts = st.lists(
    st.text(st.sampled_from("ab1_ .\n\\\x1c\x0b\0"), max_size=6), min_size=1, max_size=5
)
_LARGE = 1 << 20


def _by_value(name: str, pattern: str, texts: list[str], to: str = "") -> list[object]:
    return [APPLY[name](re.compile(pattern), text, to, _LARGE) for text in texts]


@settings(deadline=None, max_examples=300)
@given(_patterns, _texts)
def test_matches_are_those_of_re(pattern: str, texts: list[str]) -> None:
    column = pa.array(texts, pa.large_string())
    for name, function in (("found", contains_pattern), ("first", first_match)):
        try:
            found = function(column, pattern).to_pylist()
        except NoKernelError:
            continue
        assert found == _by_value(name, pattern, texts)
    for to in ("", "x", "{é}"):
        try:
            found = replace_matches(column, pattern, to).to_pylist()
        except NoKernelError:
            continue
        assert found == _by_value("sub", pattern, texts, to)


@pytest.mark.parametrize("pattern", ["Q: (.*)", r"^\([A-D]\)", r"#### (-?\d+)", "Points:", r"\s+$"])
def test_usual_patterns_have_a_kernel(pattern: str) -> None:
    texts = ["Q: why?\nA: so", "(A) x", "#### -12", "1 Points: ", ""]
    column = pa.array(texts, pa.large_string())
    assert contains_pattern(column, pattern).to_pylist() == _by_value("found", pattern, texts)


@pytest.mark.parametrize(
    "pattern",
    [
        "(?i)a",
        "(?m)^a",
        "(?x) a",
        r"\ba",
        "(?=a)",
        "(a)?b",
        "(a|b)*",
        r"(a)\1",
        "a++",
        "(?:a{2}){2}",
    ],
)
def test_other_patterns_have_no_kernel(pattern: str) -> None:
    with pytest.raises(NoKernelError):
        first_match(pa.array(["ab"], pa.large_string()), pattern)


def test_only_ascii_has_a_kernel_unless_the_pattern_is_literal() -> None:
    column = pa.array(["é1", "a"], pa.large_string())
    assert contains_pattern(column, "é1").to_pylist() == [True, False]
    with pytest.raises(NoKernelError):
        contains_pattern(column, r"\w")


@pytest.mark.parametrize(("pattern", "to"), [("a", r"\g<0>"), ("a*", "x")])
def test_replacements_that_differ_have_no_kernel(pattern: str, to: str) -> None:
    with pytest.raises(NoKernelError):
        replace_matches(pa.array(["ab"], pa.large_string()), pattern, to)
