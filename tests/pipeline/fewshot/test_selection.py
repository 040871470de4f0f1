"""Which samples of a companion are examples, and how many are too few."""

from __future__ import annotations

import random
from typing import Any

import pytest

from registry.errors import MappingError
from registry.manifest.models import Fewshot
from registry.pipeline.fewshot.selection import Candidate, Selection


def candidates(count: int, groups: str = "") -> list[Candidate]:
    return [
        Candidate(place, b"%d" % place, f"id{place}", groups[place] if groups else None)
        for place in range(count)
    ]


def selection(count: int, groups: str = "", *, own: bool = False, **keys: Any) -> Selection:
    fewshot = Fewshot(split="dev", **keys)
    return Selection(fewshot, candidates(count, groups), name="quiz:dev", own=own)


def places(found: list[Candidate]) -> list[int]:
    return [one.place for one in found]


def test_the_first_ones_are_examples_of_all() -> None:
    found = selection(5, n=3)
    assert places(found.of(b"x")) == places(found.of(b"y")) == [0, 1, 2]


def test_an_example_is_never_the_sample_itself() -> None:
    found = selection(5, n=3, own=True)
    assert places(found.of(b"1")) == [0, 2, 3]


def test_an_example_of_another_split_that_is_the_sample_is_left_out() -> None:
    assert places(selection(3, n=3).of(b"1")) == [0, 2]


def test_each_group_has_its_own_examples() -> None:
    found = selection(6, "abaabb", n=2, by="subject")
    assert places(found.of(b"x", "a")) == [0, 2]
    assert places(found.of(b"x", "b")) == [1, 4]
    assert places(selection(6, "abaabb", n=1, by="subject").of(b"x", "b")) == [1]


def test_ids_are_in_the_order_of_the_list() -> None:
    found = selection(4, ids=("id3", "id0"))
    assert places(found.of(b"x")) == [3, 0]


def test_ids_with_groups_are_those_of_the_group() -> None:
    found = selection(4, "aabb", ids=("id3", "id0", "id1"), by="subject")
    assert places(found.of(b"x", "a")) == [0, 1]
    assert places(found.of(b"x", "b")) == [3]


def test_an_unknown_id_is_an_error_with_a_similar_one() -> None:
    with pytest.raises(MappingError, match=r"quiz:dev has no sample 'id9' \(did you mean 'id"):
        selection(3, ids=("id9",))


def test_too_few_samples_are_counted() -> None:
    message = "4 examples wanted, and quiz:dev has 3 samples"
    with pytest.raises(MappingError, match=message):
        selection(3, n=4).check([None])


def test_the_sample_itself_does_not_count() -> None:
    selection(3, n=3).check([None])
    message = "3 examples wanted besides the sample itself, and quiz:dev has 3 samples"
    with pytest.raises(MappingError, match=message):
        selection(3, n=3, own=True).check([None])


def test_groups_with_too_few_are_listed_with_their_numbers() -> None:
    found = selection(6, "aaabbc", n=3, by="subject")
    found.check(["a", "a"])
    message = r"quiz:dev has fewer of 3 values: b: 2, c: 1, d: 0 \(a smaller `n`"
    with pytest.raises(MappingError, match=message):
        found.check(["a", "b", "c", "d", "b"])


def test_each_sample_draws_its_own_from_one_generator() -> None:
    found = selection(9, n=2, pick="random", seed=7, each=True)
    expected = random.Random(7)
    pool = candidates(9)
    assert [found.of(b"x") for _ in range(3)] == [expected.sample(pool, 2) for _ in range(3)]


def test_a_drawn_example_that_is_the_sample_is_replaced() -> None:
    found = selection(4, n=3, pick="random", seed=7, each=True, own=True)
    for _ in range(20):
        assert sorted(places(found.of(b"2"))) == [0, 1, 3]


def test_groups_draw_as_if_they_were_alone() -> None:
    both = selection(8, "abababab", n=2, pick="random", seed=7, each=True, by="k")
    alone = selection(8, "abababab", n=2, pick="random", seed=7, each=True, by="k")
    both.of(b"x", "a")
    assert both.of(b"x", "b") == alone.of(b"x", "b")


def test_an_example_is_drawn_again_in_place_of_the_sample_itself() -> None:
    found = selection(3, n=2, pick="random", seed=7, each=True)
    drawn = [places(found.of(b"%d" % place)) for place in range(3)]
    assert [sorted(one) for one in drawn] == [[1, 2], [0, 2], [0, 1]]


def test_copies_of_a_sample_are_no_examples_of_it() -> None:
    same = [Candidate(0, b"same"), Candidate(1, b"same"), Candidate(2, b"other")]
    found = Selection(Fewshot(split="dev", n=2), same, name="quiz:dev", own=True)
    found.check([None])
    with pytest.raises(MappingError, match=r"2 .* besides the sample itself, .* has 1 sample"):
        found.of(b"same")
