"""What two long lists of words have in common."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.diff import sequences
from registry.diff.sequences import matches

words = st.lists(st.sampled_from("abc"), max_size=30)


def check(old: list[str], new: list[str]) -> int:
    """Check that matches are equal parts in order; return how many words they have."""
    i = j = total = 0
    for one in matches(old, new):
        assert one.size > 0
        assert (one.old >= i, one.new >= j) == (True, True)
        assert old[one.old : one.old + one.size] == new[one.new : one.new + one.size]
        i, j, total = one.old + one.size, one.new + one.size, total + one.size
    return total


@given(old=words, new=words)
def test_matches_are_equal_parts_in_order(old: list[str], new: list[str]) -> None:
    check(old, new)


@given(old=words, new=words)
def test_so_they_are_in_long_lists(old: list[str], new: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequences, "_MAX_PAIRS", 4)
        patch.setattr(sequences, "_ANCHOR_WORDS", 2)
        check(old, new)


@given(old=words, new=words)
def test_edits_of_repeated_words_are_the_fewest(old: list[str], new: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequences, "_MAX_PAIRS", 0)
        patch.setattr(sequences, "_MAX_SPLITS", 0)
        assert check(old, new) == longest_common(old, new)


def longest_common(old: list[str], new: list[str]) -> int:
    row = [0] * (len(new) + 1)
    for one in old:
        before = row[:]
        for j, two in enumerate(new):
            row[j + 1] = before[j] + 1 if one == two else max(before[j + 1], row[j])
    return row[-1]


def test_all_edits_of_a_long_list_are_found() -> None:
    old = [str(random.Random(7).random() * n) for n in range(20_000)]
    new = list(old)
    for place in range(0, 20_000, 50):
        new[place] = "edited"
    assert check(old, new) == 20_000 - 400


@pytest.mark.parametrize("alphabet", [1, 2, 50, 100_000])
def test_work_is_bounded(alphabet: int) -> None:
    chance = random.Random(1)
    old, new = ([str(chance.randrange(alphabet)) for _ in range(40_000)] for _ in "ab")
    start = time.process_time()
    check([*old, "x"], ["y", *new])
    assert time.process_time() - start < 20
