"""What every dataset offers to tools that read Arrow, here over samples in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from registry import Dataset, MemoryDataset, Sample, SampleNotFoundError, csv_dataset
from registry.samples.frames.layout import frame_schema

SAMPLES = [Sample(input=f"q{n}", id=n if n % 2 else f"s{n}", metadata={"n": n}) for n in range(6)]


@pytest.fixture
def dataset() -> MemoryDataset:
    return MemoryDataset(SAMPLES, name="some")


def test_table_stream_and_batches_have_the_same_rows(dataset: MemoryDataset) -> None:
    table = dataset.to_arrow()
    assert table.column("input").to_pylist() == [sample.input for sample in SAMPLES]
    assert pa.table(dataset) == table
    assert pa.Table.from_batches(dataset.batches(4)) == table
    assert [len(batch) for batch in dataset.batches(4)] == [4, 2]
    assert tuple(table.column_names) == dataset.columns


def test_stream_converts_to_a_schema_that_is_asked_for(dataset: MemoryDataset) -> None:
    schema = pa.schema([pa.field(one.name, one.type) for one in frame_schema()])
    schema = schema.set(0, pa.field("input", pa.string()))
    reader = pa.RecordBatchReader.from_stream(dataset, schema=schema)
    assert reader.read_all().schema.field("input").type == pa.string()


def test_empty_dataset_has_all_columns() -> None:
    assert pa.table(MemoryDataset([])).schema == frame_schema()


@pytest.mark.parametrize("selected", [[0, -1], np.array([0, 5]), [n in {0, 5} for n in range(6)]])
def test_positions_select_a_dataset(dataset: MemoryDataset, selected: Any) -> None:
    part = dataset[selected]
    assert isinstance(part, MemoryDataset)
    assert (list(part), part.name) == ([SAMPLES[0], SAMPLES[5]], "some")
    assert part[0] is not SAMPLES[0], "as in a slice, a change must not affect the other"


@pytest.mark.parametrize(
    ("identifier", "position"), [("s2", 2), (3, 3), ("3", 3), (np.int64(5), 5)]
)
def test_sample_is_found_by_its_id(dataset: MemoryDataset, identifier: Any, position: int) -> None:
    assert dataset.by_id(identifier) is SAMPLES[position]


def test_id_that_is_a_text_wins_over_an_int() -> None:
    samples = [Sample(input="int", id=3), Sample(input="str", id="3")]
    assert MemoryDataset(samples).by_id("3").input == "str"


def test_unknown_id_is_a_key_error_with_similar_ids(dataset: MemoryDataset) -> None:
    with pytest.raises(SampleNotFoundError) as caught:
        dataset.by_id("s22")
    assert isinstance(caught.value, KeyError)
    assert str(caught.value).startswith("no sample of some has the id 's22'; similar ids: s2")


@pytest.mark.parametrize(
    ("asked", "offered"),
    [("12", "similar ids: demo-012"), ("zzz", "its first ids: demo-001, demo-002, demo-003")],
)
def test_ids_that_are_not_alike_are_offered_too(asked: str, offered: str) -> None:
    error = SampleNotFoundError(
        asked, [f"demo-{number:03}" for number in range(1, 30)], dataset="d"
    )
    assert str(error) == f"no sample of d has the id '{asked}'; {offered}"


def test_ids_are_those_of_now(dataset: MemoryDataset) -> None:
    changed = MemoryDataset([sample.model_copy() for sample in dataset])
    changed[0].id = "new"
    changed.sort(reverse=True, key=lambda sample: str(sample.input))
    assert changed.by_id("new").input == "q0"


def test_several_samples_at_once_are_those_of_their_positions(dataset: MemoryDataset) -> None:
    assert dataset.__getitems__([4, 1]) == [SAMPLES[4], SAMPLES[1]]
    with pytest.raises(IndexError, match="index 6"):
        dataset.__getitems__([6])


def test_pandas_has_the_columns(dataset: MemoryDataset) -> None:
    frame = dataset.to_pandas(metadata="struct")
    assert list(frame.columns) == list(dataset.columns)
    assert frame["metadata"].tolist() == [{"n": n} for n in range(6)]


def test_loaders_return_datasets_with_the_same_methods(tmp_path: Any) -> None:
    path = tmp_path / "a.csv"
    path.write_text("input,target,id\nq,A,x\n", encoding="utf-8")
    dataset = csv_dataset(str(path))
    assert dataset.to_arrow().to_pylist()[0]["target"] == "A"
    assert dataset.by_id("x").input == "q"


def test_a_dataset_of_another_class_needs_no_method_of_its_own() -> None:
    class Other(MemoryDataset):
        def __iter__(self) -> Iterator[Sample]:
            return iter(self.samples)

    other: Dataset = Other(SAMPLES)
    assert other.to_arrow() == MemoryDataset(SAMPLES).to_arrow()
