"""Columns of a file are columns of a frame without a copy; the others are converted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import (
    ChatMessageUser,
    ContentAudio,
    ContentDocument,
    ContentImage,
    ContentText,
    ContentVideo,
    MappingError,
    Sample,
)
from registry.samples.dataset import permute_choices
from registry.samples.frames.layout import COLUMNS
from registry.samples.frames.rows import frame_batch
from registry.store.frame_columns import (
    changed_columns,
    frame_columns,
    ids_of_file,
    kinds_of_file,
    reordered,
)
from tests.store.samples_file import METADATA_TYPES, batch, file_of, rows_of

SAMPLES = [
    Sample(input="q", target=["A"], id=1, sandbox=("docker", "compose.yaml")),
    Sample(input="r", choices=["x", "y"], target="B", id="two", files={"a": "b"}),
    Sample(input="s", metadata={"k": b"x"}, setup="ls", description="d"),
]


def batch_of(samples: list[Sample]) -> pa.RecordBatch:
    """Return a batch of a file, without the columns that have no value."""
    return file_of(samples).batch(0)


def addresses(column: pa.Array) -> list[int]:
    return [buffer.address for buffer in column.buffers() if buffer is not None]


def test_columns_equal_those_of_the_samples() -> None:
    for samples in (SAMPLES, [Sample(input="q", metadata={"$dict": 1})]):
        columns = frame_columns(rows_of(samples, {}), COLUMNS, None)
        found = {name: column.to_pylist() for name, column in columns.items()}
        assert found == frame_batch(samples).to_pydict()


def test_columns_of_the_file_are_not_copied() -> None:
    stored = rows_of(SAMPLES, {})
    columns = frame_columns(stored, COLUMNS, None)
    for name in ("input", "choices", "target", "targets", "setup", "description", "files"):
        assert addresses(columns[name]) == addresses(stored.column(name))


def test_ids_are_both_texts_and_numbers() -> None:
    file = file_of(SAMPLES)
    assert ids_of_file(file) == [1, "two", None]
    assert ids_of_file(file_of(SAMPLES[2:])) == [None]


def test_struct_of_metadata_has_the_types_of_the_file() -> None:
    stored = batch([1, 2])
    kinds: Any = METADATA_TYPES
    made = frame_columns(stored, ["metadata"], kinds)["metadata"]
    assert made.to_pylist() == [{"n": 1, "any": "[1]"}, {"n": 2, "any": "[2]"}]
    values = stored.column("metadata_values")
    assert addresses(made.field("n")) == addresses(values.field("n"))
    slices = frame_columns(stored.slice(1), ["metadata"], kinds)["metadata"]
    assert slices.to_pylist() == made.to_pylist()[1:]


def test_kinds_of_metadata_that_differs_between_samples_are_found() -> None:
    samples = [Sample(input="q", metadata={"a": 1}), Sample(input="r", metadata={"b": [1]})]
    assert kinds_of_file(file_of(samples)) == {"a": "int", "b": "json"}
    assert kinds_of_file(file_of([])) == {}


def test_only_what_a_view_can_change_is_taken_from_samples() -> None:
    stored = batch_of(SAMPLES)
    assert changed_columns(stored, order=False, files=False) == []
    assert changed_columns(stored, order=True, files=False) == ["choices", "target", "targets"]
    assert changed_columns(stored, order=False, files=True) == ["sandbox", "files", "setup"]


@pytest.mark.parametrize(
    ("content", "changed"),
    [
        ('an "image" and \\"video"', []),
        ([ContentText(text='"document"')], []),
        ([ContentText(text="x"), ContentImage(image="a.png")], ["messages"]),
        ([ContentDocument(document="a.pdf")], ["messages"]),
        ([ContentAudio(audio="a.wav", format="wav")], ["messages"]),
        ([ContentVideo(video="a.mov", format="mov")], ["messages"]),
    ],
)
def test_conversations_are_taken_from_samples_if_they_may_name_files(
    content: Any, changed: list[str]
) -> None:
    stored = batch_of([Sample(input=[ChatMessageUser(content=content)])])
    assert changed_columns(stored, order=True, files=True) == ["target", *changed]


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
