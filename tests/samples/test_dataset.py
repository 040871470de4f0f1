"""Datasets in memory and over an Arrow file behave like Inspect's."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import random
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import inspect_ai.dataset as theirs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import (
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    MappingError,
    MemoryDataset,
    Sample,
)
from registry.samples.dataset import Dataset
from registry.samples.letters import letter_of
from registry.store.arrow_dataset import ArrowDataset
from registry.store.views import ViewArrays, choice_orders
from tests.samples.against_inspect import Parts, mcq
from tests.store.samples_file import file_of

# ---------------------------------------------------------------- making datasets


def in_memory(samples: Sequence[Sample], name: str = "data") -> Dataset:
    return MemoryDataset(list(samples), name, "place")


def over_arrow(samples: Sequence[Sample], name: str = "data") -> Dataset:
    return ArrowDataset(file_of(samples), name=name, location="place")


Make = Callable[..., Dataset]
Child = Callable[[Dataset], Dataset]
KINDS: dict[str, Make] = {"memory": in_memory, "arrow": over_arrow}

kinds = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


def of_inspect(parts: Sequence[Parts]) -> theirs.MemoryDataset:
    samples = [theirs.Sample(**copy.deepcopy(part)) for part in parts]
    return theirs.MemoryDataset(samples, "data", "place")


def of_ours(parts: Sequence[Parts]) -> list[Sample]:
    return [Sample(**copy.deepcopy(part)) for part in parts]


def as_text(sample: Any) -> str:
    return json.dumps(sample.model_dump(exclude={"description", "checkpoint"}), sort_keys=True)


def as_texts(dataset: Any) -> list[str]:
    return [as_text(sample) for sample in dataset]


MCQ = mcq(8)

# ---------------------------------------------------------------- reading


@kinds
def test_indexes_of_any_integer_type_count_from_both_ends(make: Make) -> None:
    dataset = make(of_ours(MCQ))
    for index in (0, 3, 7, -1, -8):
        expected = Sample(**MCQ[index])
        assert dataset[index] == expected
        for kind in (np.int8, np.int32, np.int64, *((np.uint16,) if index >= 0 else ())):
            assert dataset[kind(index)] == expected


@kinds
@pytest.mark.parametrize("index", [8, -9, 10**30, np.int64(8), np.int8(-9), np.uint8(200)])
def test_an_index_out_of_range_is_an_index_error(make: Make, index: Any) -> None:
    with pytest.raises(IndexError):
        make(of_ours(MCQ))[index]


@kinds
@pytest.mark.parametrize("index", [0, -1, np.int64(0)])
def test_an_empty_dataset_has_no_sample(make: Make, index: Any) -> None:
    dataset = make([])
    assert len(dataset) == 0
    assert not list(dataset)
    assert not list(dataset[:])
    dataset.sort()
    dataset.shuffle(1)
    dataset.shuffle_choices(1)
    assert not list(dataset.filter(lambda sample: True))
    with pytest.raises(IndexError):
        dataset[index]


@kinds
@pytest.mark.parametrize("index", ["0", 1.0, None, (0, 1), np.float64(1)])
def test_only_integers_are_indexes(make: Make, index: Any) -> None:
    with pytest.raises(TypeError):
        make(of_ours(MCQ))[index]


@kinds
def test_a_dataset_is_a_sequence(make: Make) -> None:
    dataset, samples = make(of_ours(MCQ)), of_ours(MCQ)
    assert list(dataset) == list(dataset) == samples
    assert list(reversed(dataset)) == samples[::-1]
    assert samples[3] in dataset
    assert Sample("another") not in dataset
    assert dataset.index(samples[3]) == 3
    assert dataset.count(samples[3]) == 1
    assert repr(dataset).endswith("Dataset(name='data', samples=8)")


def test_a_long_arrow_dataset_is_read_in_order() -> None:
    parts = mcq(2500)
    memory, arrow = (make(of_ours(parts)) for make in KINDS.values())
    for dataset in (memory, arrow):
        dataset.shuffle(3)
        dataset.shuffle_choices(4)
    assert list(arrow) == list(memory)
    assert [arrow[n] for n in (0, 1023, 1024, 2499, -1)] == [
        memory[n] for n in (0, 1023, 1024, 2499, -1)
    ]


# ---------------------------------------------------------------- order and choices


@dataclass(frozen=True)
class Step:
    """An operation on a dataset."""

    name: str
    do: Callable[[Any], Any]
    """Returns a new dataset, or None if it works in place."""

    def __repr__(self) -> str:
        return self.name


def by_id(sample: Any) -> str:
    return str(sample.id)


def by_first_choice(sample: Any) -> str:
    return str((sample.choices or [""])[0])


def _sorts(reverse: bool, key: Callable[[Any], str] | None) -> Step:
    named = {} if key is None else {"key": key}
    label = f"sort(reverse={reverse}, {key and key.__name__})"
    return Step(label, lambda dataset: dataset.sort(reverse=reverse, **named))


def change_fields(sample: Any) -> None:
    sample.input += " changed"
    sample.target = "A" if sample.choices else "free"
    sample.metadata = {"new": [1]}


def change_inside(sample: Any) -> None:
    """Change a sample without an assignment to it."""
    (sample.choices or []).append("more")
    sample.metadata.setdefault("list", []).append(2)


def change_while_looping(dataset: Any) -> None:
    for sample in dataset:
        if len(sample.input) % 2:
            change_fields(sample)
        else:
            change_inside(sample)


def change_after_a_loop(dataset: Any) -> None:
    samples = list(dataset)
    again = list(dataset)
    dataset.shuffle(3)
    for sample, same in list(zip(samples, again, strict=True))[::2]:
        sample.input += " after"
        same.setup = "echo"
        change_inside(same)
        change_inside(sample)


def _changes(index: int, change: Callable[[Any], None]) -> Step:
    def do(dataset: Any) -> None:
        if len(dataset):
            change(dataset[index % len(dataset)])

    return Step(f"{change.__name__}({index})", do)


seeds = st.integers(0, 2**32) | st.sampled_from([0, 42])
steps = st.one_of(
    st.slices(9).map(lambda part: Step(f"[{part}]", lambda dataset: dataset[part])),
    st.builds(_sorts, st.booleans(), st.sampled_from([None, by_id, by_first_choice])),
    seeds.map(lambda seed: Step(f"shuffle({seed})", lambda dataset: dataset.shuffle(seed))),
    seeds.map(
        lambda seed: Step(f"shuffle_choices({seed})", lambda data: data.shuffle_choices(seed))
    ),
    st.builds(_changes, st.integers(0, 8), st.sampled_from([change_fields, change_inside])),
    st.sampled_from([change_while_looping, change_after_a_loop]).map(
        lambda change: Step(change.__name__, change)
    ),
    st.just(Step("shuffle_choices(seed=1)", lambda dataset: dataset.shuffle_choices(seed=1))),
    st.sampled_from([2, 3]).map(
        lambda n: Step(
            f"filter({n})",
            # Without a name it has that of the whole.
            lambda dataset: dataset.filter(
                lambda sample: int(sample.id) % n == 1, **({"name": "odd"} if n == 2 else {})
            ),
        )
    ),
)


@st.composite
def question_parts(draw: st.DrawFn) -> Parts:
    """Draw a sample with choices and letters of them, or with neither."""
    choices = draw(
        st.lists(st.text(max_size=3), max_size=4) | st.just([f"c{n}" for n in range(30)])
    )
    part: Parts = {"input": draw(st.text("ab", max_size=3))}
    if not choices:
        target = draw(st.text(max_size=3) | st.lists(st.text(max_size=3), max_size=2))
        return {**part, "choices": draw(st.sampled_from([None, []])), "target": target}
    letters = st.integers(0, len(choices) - 1).map(letter_of)
    either_case = letters | letters.map(str.lower)
    target = draw(either_case | st.lists(either_case, max_size=3))
    return {**part, "choices": choices, "target": target}


@settings(deadline=None, max_examples=150)
@given(parts=st.lists(question_parts(), max_size=9), todo=st.lists(steps, max_size=5))
def test_any_operations_give_equal_samples_in_equal_order(
    parts: list[Parts], todo: list[Step]
) -> None:
    numbered = [
        {**part, "id": str(number), "metadata": {"list": [1]}} for number, part in enumerate(parts)
    ]
    expected: Any = of_inspect(numbered)
    datasets: list[Any] = [make(of_ours(numbered)) for make in KINDS.values()]
    for step in todo:
        after = step.do(expected)
        expected = expected if after is None else after
        for place, dataset in enumerate(datasets):
            done = step.do(dataset)
            assert (done is None) == (after is None)
            assert done is None or type(done) is type(dataset)
            datasets[place] = dataset if done is None else done
        for dataset in datasets:
            assert as_texts(dataset) == as_texts(expected)
            assert as_texts(pickle.loads(pickle.dumps(dataset))) == as_texts(expected)
            assert dataset.to_arrow()["input"].to_pylist() == [one.input for one in expected]
            assert len(dataset) == len(expected)
            assert dataset.name == expected.name
            assert dataset.location == expected.location
            assert dataset.shuffled == expected.shuffled


@kinds
def test_sort_key_of_a_conversation_is_the_length_of_its_text(make: Make) -> None:
    picture: list[Content] = [
        ContentText(text="12"),
        ContentImage(image="x" * 99),
        ContentText(text="3"),
    ]
    samples = [
        Sample("12345", id="text"),
        Sample([ChatMessageUser(content=picture)], id="four"),
        Sample([ChatMessageUser(content="1"), ChatMessageUser(content="2")], id="two"),
    ]
    dataset = make(samples)
    dataset.sort()
    assert [sample.id for sample in dataset] == ["two", "four", "text"]


@kinds
def test_unseeded_shuffle_uses_the_global_random_state(make: Make) -> None:
    dataset, expected = make(of_ours(MCQ)), of_inspect(MCQ)
    for shuffled in (dataset, expected):
        random.seed(11)
        shuffled.shuffle()
    assert as_texts(dataset) == as_texts(expected)
    assert dataset.shuffled


@kinds
def test_unseeded_shuffle_of_choices_keeps_the_answer_correct(make: Make) -> None:
    choices = [f"choice {n}" for n in range(30)]
    dataset = make([Sample("?", choices=choices, target=["C", "4"])])
    dataset.shuffle_choices()
    dataset.shuffle_choices()
    (sample,) = dataset
    letters = [letter_of(n) for n in range(30)]
    assert sorted(sample.choices or []) == sorted(choices)
    assert [(sample.choices or [])[letters.index(letter)] for letter in sample.target] == [
        "choice 2",
        "choice 29",
    ]


BAD_TARGETS = ["", "C", "Z", "AA", "0", "1", "A ", "maybe", "²", "½", "一", "ß", "ŉ"]


@kinds
@pytest.mark.parametrize("target", [*BAD_TARGETS, *([target] for target in BAD_TARGETS)])
def test_error_of_an_invalid_target_names_the_sample_and_leaves_it_as_it_is(
    make: Make, target: str | list[str]
) -> None:
    fine = Sample("a", choices=["x", "y"], target="B")
    bad = Sample("b", choices=["x", "y"], target=target)
    dataset = make([fine, bad.model_copy(deep=True)])
    message = f"data: sample 1: the target {target!r} is not a letter of its 2 choices"
    with pytest.raises(MappingError) as raised:
        dataset.shuffle_choices(1)
    assert str(raised.value) == f"{message}, which `shuffle_choices` needs"
    assert dataset[1] == list(dataset)[1] == bad


def test_view_with_an_invalid_target_is_an_error_at_once() -> None:
    samples = [Sample("a", choices=["x", "y"], target="B"), Sample("b", choices=["x"], target="B")]
    file = file_of(samples)
    rows = np.array([1, 0])
    choices, bad = choice_orders(file, rows, 3)
    with pytest.raises(ValueError, match="data: sample 0: the target 'B' is not a letter"):
        ArrowDataset(
            file,
            name="data",
            location="place",
            view=ViewArrays(rows=rows, choices=choices, first_bad=bad),
        )


# ---------------------------------------------------------------- nothing is shared


def rich_sample() -> Sample:
    return Sample(
        [ChatMessageUser(content=[ContentText(text="hi")], id="m", metadata={"a": [1]})],
        choices=["x", "y", "z"],
        target=["A", "B"],
        id=1,
        metadata={"deep": {"list": [1, 2]}},
        files={"a": "b"},
    )


def change(sample: Sample) -> None:
    """Change every mutable part of a sample."""
    assert isinstance(sample.input, list)
    assert isinstance(sample.target, list)
    assert isinstance(sample.input[0].content, list)
    assert sample.input[0].metadata is not None
    assert sample.choices is not None
    assert sample.metadata is not None
    assert sample.files is not None
    sample.input[0].content.append(ContentText(text="more"))
    sample.input[0].metadata["a"].append(2)
    sample.input[0].text = "other"
    sample.input.append(ChatMessageUser(content="more"))
    sample.choices.append("new")
    sample.target[0] = "C"
    sample.metadata["deep"]["list"].clear()
    sample.files["c"] = "d"
    sample.setup = "changed"


CHILDREN: dict[str, Child] = {
    "slice": lambda dataset: dataset[:],
    "slice of one": lambda dataset: dataset[1:2],
    "filter": lambda dataset: dataset.filter(lambda sample: True),
    "slice of a filter": lambda dataset: dataset.filter(lambda sample: True)[0:2],
}


@kinds
@pytest.mark.parametrize("child", CHILDREN.values(), ids=CHILDREN)
def test_parent_and_child_share_no_mutable_state(make: Make, child: Child) -> None:
    for changed_first in (True, False):
        dataset = make([rich_sample(), rich_sample()])
        part = child(dataset)
        changed, kept = (dataset, part) if changed_first else (part, dataset)
        for sample in changed:
            change(sample)
        changed.shuffle(2)
        changed[-1:].shuffle_choices(1)
        changed.sort(reverse=True)
        assert set(as_texts(kept)) == {as_text(rich_sample())}
        assert not kept.shuffled


@kinds
@pytest.mark.parametrize("child", CHILDREN.values(), ids=CHILDREN)
def test_choices_of_parent_and_child_are_shuffled_independently(make: Make, child: Child) -> None:
    dataset = make([rich_sample(), rich_sample()])
    dataset.shuffle_choices(5)
    before = as_texts(dataset)
    part = child(dataset)
    of_part = as_texts(part)
    part.shuffle_choices(6)
    part.shuffle(1)
    assert as_texts(dataset) == before
    part = child(dataset)
    dataset.shuffle_choices(7)
    dataset.shuffle(1)
    assert as_texts(part) == of_part


def test_memory_dataset_does_not_change_its_argument() -> None:
    samples = of_ours(MCQ)
    dataset = MemoryDataset(samples)
    dataset.shuffle(1)
    assert [sample.id for sample in samples] == list(range(8))
    samples.clear()
    assert len(dataset) == 8


@kinds
def test_a_sample_is_the_dataset_s_once_it_is_accessed_or_assigned_to(make: Make) -> None:
    dataset = make([rich_sample() for _ in range(4)])
    change(dataset[0])
    by_id, *_, last = list(dataset)
    assert by_id is dataset[0] is dataset.by_id(1)
    last.target = "Z"
    for kept in (dataset, copy.copy(dataset), copy.deepcopy(dataset), dataset[:], dataset[[0, 3]]):
        assert kept[0].setup == "changed"
        assert len(kept[0].choices or []) == 4
        assert kept[-1].target == "Z"
    twice = dataset[[3, 3]]
    twice[0].target = "Y"
    assert [one.target for one in (*twice, dataset[3])] == ["Y", "Z", "Z"]


@kinds
def test_a_changed_id_is_found(make: Make) -> None:
    dataset = make(of_ours(MCQ))
    dataset[2].id = "new"
    assert dataset.by_id("new") is dataset[2]
    with pytest.raises(KeyError):
        dataset.by_id(2)


def test_a_loop_over_an_arrow_dataset_keeps_no_sample_that_is_not_assigned_to() -> None:
    dataset = over_arrow([rich_sample() for _ in range(100)])
    change(next(iter(dataset[50:])))
    samples = [weakref.ref(sample) for sample in dataset]
    gc.collect()
    assert not any(one() for one in samples)
    size = len(pickle.dumps(dataset))
    assert len(pickle.dumps(dataset[:])) < 1.1 * size


# --- map ---


def shout(sample: Sample) -> Sample:
    sample.input = f"{sample.input}!"
    sample.metadata = {**(sample.metadata or {}), "loud": True}
    return sample


@kinds
def test_map_gives_a_dataset_of_its_own(make: Make) -> None:
    dataset = make(of_ours(mcq(3)))
    before = as_texts(dataset)
    mapped = dataset.map(shout, name="loud")
    assert (mapped.name, len(mapped)) == ("loud", 3)
    assert all(str(sample.input).endswith("!") for sample in mapped)
    assert as_texts(dataset) == before
    assert dataset.map(lambda sample: [sample] * 2).name == "data"
    assert len(dataset.map(lambda sample: [sample, sample])) == 6
    assert len(dataset.map(lambda sample: [])) == 0


@kinds
def test_provenance_of_mapped_samples_names_the_function(make: Make) -> None:
    dataset = make(of_ours(mcq(3)))
    found = dataset.map(shout)[:2].provenance
    assert found.modified == ("mapped: shout",)
    assert (found.name, found.samples) == ("data", 2)
    assert found.ordered not in {None, dataset.provenance.ordered}
    assert dataset.map(lambda sample: sample).provenance.ordered == dataset.provenance.ordered


@kinds
@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (None, r"returned NoneType for the sample with the id .* \(end it with `return sample`\)"),
        ("text", "returned str for"),
        ([None], "returned NoneType for"),
        (3, "returned int for"),
    ],
)
def test_function_of_map_returns_samples(make: Make, returned: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        make(of_ours(mcq(1))).map(lambda sample: returned)
