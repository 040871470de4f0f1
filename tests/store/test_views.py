"""Views: the shuffles of Inspect's loaders, stored as arrays."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry import (
    Sample,
)
from registry.samples.letters import index_of
from registry.store.views import choice_orders
from tests.store.samples_file import file_of

targets = st.sampled_from(["A", "b", "C", "Z", "1", "0", "", "é", "ß", "²", "9" * 30, "word"])
some_samples = st.lists(
    st.builds(
        lambda count, target: Sample("q", choices=["x"] * count or None, target=target),
        st.integers(0, 3),
        targets | st.lists(targets, max_size=3),
    ),
    min_size=1,
    max_size=8,
)


def fits(sample: Sample) -> bool:
    letters = [sample.target] if isinstance(sample.target, str) else sample.target
    try:
        return all(index_of(letter) < len(sample.choices or ()) for letter in letters)
    except ValueError:
        return False


@given(some_samples, st.randoms(use_true_random=False))
def test_the_first_sample_of_a_view_whose_target_does_not_fit_is_found(
    samples: list[Sample], rng: random.Random
) -> None:
    order = rng.sample(range(len(samples)), len(samples))
    bad = [place for place, row in enumerate(order) if samples[row].choices]
    bad = [place for place in bad if not fits(samples[order[place]])]
    found = choice_orders(file_of(samples), np.array(order), 3)[1]
    assert found == (bad[0] if bad else None)


def test_choices_are_drawn_alike_however_many_rows_are_taken_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    samples = [Sample("q", choices=["x"] * (row % 4) or None, target="A") for row in range(50)]
    rows = np.arange(len(samples))[::-1]
    whole = choice_orders(file_of(samples), rows, 3)[0]
    monkeypatch.setattr("registry.store.views._ROWS_AT_ONCE", 7)
    parts = choice_orders(file_of(samples), rows, 3)[0]
    assert whole is not None
    assert parts is not None
    assert whole.tolist() == parts.tolist()
