"""Choices and targets are reordered as a sample's are, for many rows at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import MappingError, Sample
from registry.samples.dataset import permute_choices
from registry.store.frames.choices import reordered
from tests.store.samples_file import rows_of

LETTERS = "ABCabcZ1é"


@st.composite
def some_rows(draw: st.DrawFn) -> tuple[Sample, list[int]]:
    """Return a sample and an order of its choices."""
    choices = draw(st.none() | st.lists(st.text("xyz", max_size=2), max_size=4))
    letters = st.sampled_from("ABCDabcd"[: len(choices)]) if choices else st.sampled_from(LETTERS)
    wrong = st.sampled_from(LETTERS)
    target = draw(letters | st.lists(letters, max_size=3) | wrong)
    order = draw(st.permutations(range(len(choices or ()))))
    return Sample(input="q", choices=choices, target=target), order


def permuted(samples: list[Sample], orders: list[list[int]]) -> list[Any] | None:
    """Return choices and targets as `permute_choices` changes them; None if it can't."""
    copies = [sample.model_copy(deep=True) for sample in samples]
    try:
        for sample, order in zip(copies, orders, strict=True):
            if sample.choices:
                permute_choices(sample, order, where="")
    except MappingError:
        return None
    return [(sample.choices, sample.target) for sample in copies]


@settings(deadline=None)
@given(st.lists(some_rows(), min_size=1, max_size=8), st.integers(0, 7))
def test_rows_are_those_of_reordered_samples(
    rows: list[tuple[Sample, list[int]]], first: int
) -> None:
    samples, orders = [one for one, _ in rows], [order for _, order in rows]
    # A slice too, whose offsets do not start at 0.
    first = min(first, len(rows) - 1)
    old = np.array([place for order in orders[first:] for place in order], np.int32)
    made = reordered(rows_of(samples, {}).slice(first), old)
    wanted = permuted(samples[first:], orders[first:])
    if made is None or wanted is None:
        assert (made is None) == (wanted is None)
        return
    columns = [made[name].to_pylist() for name in ("choices", "target", "targets")]
    assert [
        (choices, target if several is None else several)
        for choices, target, several in zip(*columns, strict=True)
    ] == wanted


@pytest.mark.parametrize("count", [1, 26, 30])
def test_targets_beyond_the_alphabet_are_numbers(count: int) -> None:
    choices = [f"c{n}" for n in range(count)]
    sample = Sample(input="q", choices=choices, target="A")
    old = np.arange(count, dtype=np.int32)[::-1].copy()
    made = reordered(rows_of([sample], {}), old)
    assert made is not None
    permute_choices(sample, old.tolist(), where="")
    assert made["target"].to_pylist() == [sample.target]
