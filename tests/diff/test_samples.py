"""Samples matched by id or content, their differences, and examples."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.diff.models import Chunk, SampleChange
from registry.diff.samples import (
    Samples,
    compare_samples,
    counterpart,
    equal_samples,
    field_change,
    new_samples,
)
from registry.samples.checkpoint import CheckpointSampleConfig, TokenInterval, TurnInterval
from registry.samples.sample import Sample


def samples(*texts: str, **more: Any) -> list[Sample]:
    """Make samples of `id:input:target`; an empty id is None."""
    made = []
    for text in texts:
        name, question, answer = f"{text}::".split(":")[:3]
        made.append(Sample(input=question, target=answer, id=name or None, **more))
    return made


def compared(old: list[Sample], new: list[Sample], **more: Any) -> SampleChange:
    return compare_samples(Samples(old, **more), Samples(new, **more))


def numbers(change: SampleChange) -> tuple[Any, ...]:
    return (change.matched_by, change.added, change.removed, change.changed, change.moved)


CASES: dict[str, tuple[list[str], list[str], tuple[Any, ...]]] = {
    "nothing": ([], [], ("id", 0, 0, 0, 0)),
    "the same": (["1:q:a", "2:r:b"], ["1:q:a", "2:r:b"], ("id", 0, 0, 0, 0)),
    "another target": (["1:q:a", "2:r:b"], ["1:q:a", "2:r:c"], ("id", 0, 0, 1, 0)),
    "added": (["1:q:a"], ["1:q:a", "2:r:b"], ("id", 1, 0, 0, 0)),
    "removed": (["1:q:a", "2:r:b"], ["2:r:b"], ("id", 0, 1, 0, 0)),
    "moved": (["1:q:a", "2:r:b", "3:s:c"], ["3:s:c", "1:q:a", "2:r:b"], ("id", 0, 0, 0, 1)),
    "other ids": (["1:q:a", "2:r:b"], ["x:q:a", "y:r:b"], ("id", 0, 0, 2, 0)),
    "exchanged": (["1:q:a", "2:r:b"], ["1:r:b", "2:q:a"], ("id", 0, 0, 2, 0)),
    "no ids": ([":q:a", ":r:b"], [":r:b", ":q:a"], ("content", 0, 0, 0, 1)),
    "no ids, another target": ([":q:a", ":r:b"], [":q:a", ":r:c"], ("content", 0, 0, 1, 0)),
    "no ids, twice the same": ([":q:a", ":q:a"], [":q:a", ":q:a", ":q:a"], ("content", 1, 0, 0, 0)),
    "ids on one side": (["1:q:a"], [":q:a"], ("content", 0, 0, 1, 0)),
    "repeated ids": (["1:q:a", "1:r:b"], ["1:q:a", "1:r:c"], ("content", 0, 0, 1, 0)),
    "a word of the input": (
        [":zero:z", ":which of the two is it?:a"],
        [":zero:z", ":which of the three is it?:a"],
        ("content", 0, 0, 1, 0),
    ),
    "another input": ([":q:a", ":how many?:b"], [":q:a", ":where to?:b"], ("content", 1, 1, 0, 0)),
    "a word, and the id that follows": (
        ["1:q:a", "h1:which of the two is it?:b"],
        ["1:q:a", "h2:which of the three is it?:b"],
        ("id", 0, 0, 1, 0),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_samples_are_matched_by_id_or_content(case: str) -> None:
    old, new, expected = CASES[case]
    assert numbers(compared(samples(*old), samples(*new))) == expected


def test_row_numbers_do_not_identify_samples() -> None:
    old = [Sample(input=text, id=n) for n, text in enumerate("abc", 1)]
    new = [Sample(input=text, id=n) for n, text in enumerate("xabc", 1)]
    assert numbers(compared(old, new, auto_id=True)) == ("content", 1, 0, 0, 0)


CHANGED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "input": ({"input": "x"}, {"input": "y"}),
    "choices": ({"choices": ["a"]}, {"choices": ["a", "b"]}),
    "target": ({"target": "a"}, {"target": ["a"]}),
    "metadata": ({"metadata": {"a": 1}}, {"metadata": {"a": True}}),
    "sandbox": ({"sandbox": "docker"}, {"sandbox": ("docker", "a.yaml")}),
    "files": ({"files": {"a": "b"}}, {"files": None}),
    "setup": ({"setup": ""}, {"setup": None}),
    "description": ({"description": "a"}, {"description": None}),
    "checkpoint": (
        {"checkpoint": CheckpointSampleConfig(TurnInterval(5))},
        {"checkpoint": CheckpointSampleConfig(TokenInterval(5))},
    ),
}


@pytest.mark.parametrize("field", CHANGED)
def test_every_field_is_compared(field: str) -> None:
    first: dict[str, Any] = {"input": "q", "id": 1}
    old, new = (Sample(**{**first, **keys}) for keys in CHANGED[field])
    change = compared([old], [new])
    assert change.fields == {field: 1}
    ((example,)) = change.examples
    (shown,) = example.fields
    assert shown.field == field
    assert any(chunk.sign != "=" for chunk in shown.chunks), "a difference that nobody sees"


def test_row_numbers_differ_where_nothing_else_does() -> None:
    old, new = [Sample(input="a", id=1)], [Sample(input="a", id=2)]
    change = compared(old, new, auto_id=True)
    assert (change.is_same, change.fields) == (False, {"id": 1}), "the lockfile has their digest"


def test_equal_short_digests_are_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    class Constant:
        def __init__(self, data: bytes, digest_size: int) -> None: ...

        def digest(self) -> bytes:
            return b"collides"

    monkeypatch.setattr("registry.diff.matching.blake2b", Constant)
    change = compared(samples("1:q:20"), samples("1:q:21"))
    assert (change.is_same, change.fields) == (False, {"target": 1})


def test_examples_show_changed_words() -> None:
    old = [Sample(input="What is the capitol of it?", target="A", choices=["x", "y"], id="i")]
    new = [Sample(input="What is the capital of it?", target="B", choices=["x", "y z"], id="i")]
    (example,) = compared(old, new).examples
    assert (example.status, example.label) == ("changed", "id i")
    assert {one.field: one.chunks for one in example.fields} == {
        "input": (
            Chunk("=", "What is the "),
            Chunk("-", "capitol"),
            Chunk("+", "capital"),
            Chunk("=", " of it?"),
        ),
        "choices": (Chunk("=", "A) x\nB) y"), Chunk("+", " z")),
        "target": (Chunk("-", "A"), Chunk("+", "B")),
    }


@pytest.mark.parametrize("most", [0, 1, 3])
def test_number_of_examples_is_per_status(most: int) -> None:
    old = Samples(samples(*(f"o{n}:old {n}" for n in range(5)), *(f"{n}:q:a" for n in range(5))))
    new = Samples(samples(*(f"n{n}:new {n}:x" for n in range(4)), *(f"{n}:q:b" for n in range(5))))
    found = [one.status for one in compare_samples(old, new, examples=most).examples]
    assert found == ["changed"] * most + ["added"] * most + ["removed"] * most


def test_new_dataset_shows_its_first_samples() -> None:
    change = new_samples(Samples(samples("1:q:a", ":r:b", "3:s:c")), examples=2)
    assert (change.old, change.new, change.added) == (None, 3, 3)
    assert [one.label for one in change.examples] == ["id 1", "sample 2"]


ids = st.lists(st.integers(0, 30), unique=True, max_size=20)


@given(old=ids, new=ids, seed=st.integers(0, 9))
def test_counts_agree_with_sets_of_ids(old: list[int], new: list[int], seed: int) -> None:
    rng = random.Random(seed)
    before = [Sample(input=f"number {n}", id=n) for n in old]
    after = [Sample(input=f"number {n}", id=n, target=rng.choice(["", "x"])) for n in new]
    change = compared(before, after)
    common = set(old) & set(new)
    assert (change.removed, change.added) == (len(old) - len(common), len(new) - len(common))
    assert change.changed == sum(bool(one.target) for one in after if one.id in common)
    assert change.moved <= max(len(common) - 1, 0)
    kept = [n for n in old if n in common] == [n for n in new if n in common]
    assert (change.moved == 0) == kept


def test_equal_samples_are_paired_by_id_or_content_and_changed_ones_left_out() -> None:
    old, new = samples("1:q:a", "2:r:b", "3:s:c"), samples("3:s:c", "2:r:x", "9:q:a")
    assert equal_samples(Samples(old), Samples(new)) == [(2, 0), (0, 2)]
    assert equal_samples(Samples(old, auto_id=True), Samples(new)) == [(2, 0), (0, 2)]


COUNTERPARTS: dict[str, tuple[list[str], list[str], int, dict[str, Any], int | None]] = {
    "the same id": (["1:q:a", "2:r:b"], ["2:x:y", "1:q:a"], 0, {}, 1),
    "a new sample": (["1:q:a"], ["1:q:a", "2:r:b"], 1, {}, None),
    "another id": (["1:q:a", "2:r:b"], ["x:q:a", "y:r:b"], 1, {}, 1),
    "row numbers": (["1:q:a", "2:r:b"], ["1:r:b", "2:q:a"], 0, {"auto_id": True}, 1),
    "repeated ids": (["1:q:a", "1:r:b"], ["1:r:b", "1:q:a"], 0, {}, 1),
}


@pytest.mark.parametrize("case", COUNTERPARTS)
def test_counterpart_of_a_sample_is_the_one_that_a_comparison_matches(case: str) -> None:
    old, new, position, more, expected = COUNTERPARTS[case]
    sides = (Samples(samples(*old), **more), Samples(samples(*new), **more))
    assert counterpart(*sides, position) == expected


def test_change_of_a_field_is_never_two_equal_texts() -> None:
    before, after = Sample(input="q", target="", id=1), Sample(input="q", target="a", id="1")
    assert field_change(before, after, "target").chunks == (Chunk("+", "a"),)
    assert {one.sign for one in field_change(before, after, "id").chunks} > {"="}
