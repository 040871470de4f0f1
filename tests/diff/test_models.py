"""Properties of the values of a diff."""

from __future__ import annotations

from typing import Any

import pytest

from registry.diff.models import CatalogDiff, DatasetChange, KeyChange, SampleChange
from registry.errors import Problem

PROBLEM = Problem(message="bad", file="m.yaml", line=1)


def test_samples_are_the_same_unless_one_differs_or_moved() -> None:
    assert SampleChange(old=1, new=1).is_same
    for change in (
        SampleChange(old=1, new=2, added=1),
        SampleChange(old=2, new=1, removed=1),
        SampleChange(old=1, new=1, changed=1),
        SampleChange(old=2, new=2, moved=1),
    ):
        assert not change.is_same


DIFFERENCES: list[dict[str, Any]] = [
    {"changes": (DatasetChange(name="d", status="added"),)},
    {"shared": (KeyChange(key="trust", kind="", old=None, new=None),)},
    {"base_problems": (PROBLEM,)},
    {"head_problems": (PROBLEM,)},
]


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda one: next(iter(one)))
def test_diff_is_clean_without_differences_and_problems(difference: dict[str, Any]) -> None:
    assert CatalogDiff(base="a", head="b").is_clean
    assert not CatalogDiff(base="a", head="b", **difference).is_clean


def test_problems_have_the_label_of_their_snapshot() -> None:
    other = Problem(message="worse", file="m.yaml", line=2)
    diff = CatalogDiff(base="a", head="b", base_problems=(PROBLEM,), head_problems=(other,))
    assert list(diff.problems) == [("a", PROBLEM), ("b", other)]
