"""Frames of a file equal those of its samples, in every view of it."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry import (
    ChatMessage,
    ChatMessageUser,
    ContentImage,
    ContentText,
    MemoryDataset,
    Sample,
    SampleNotFoundError,
    get_dataset,
)
from registry.base.digest import from_json
from registry.samples.frames.rows import frame_batch
from registry.store.arrow_dataset import ArrowDataset
from registry.store.frame_columns import kinds_of_file
from registry.store.reader import SampleFile
from registry.store.schema import schema_of
from registry.store.writer import SampleWriter
from tests.store.samples_file import file_of, rows_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT | st.binary(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
PART = st.builds(ContentText, text=TEXT) | st.builds(ContentImage, image=TEXT)
CHAT: st.SearchStrategy[list[ChatMessage]] = st.lists(
    st.builds(ChatMessageUser, content=TEXT | st.lists(PART, max_size=2)), min_size=1, max_size=2
)


@st.composite
def some_samples(draw: st.DrawFn) -> Sample:
    choices = draw(st.none() | st.lists(TEXT, min_size=1, max_size=3))
    letters = st.sampled_from("ABC"[: len(choices or "ABC")])
    return Sample(
        input=draw(TEXT | CHAT),
        choices=choices,
        target=draw(letters | st.lists(letters, max_size=2)),
        id=draw(st.none() | st.integers(-5, 5) | TEXT),
        metadata=draw(st.none() | st.dictionaries(TEXT, VALUES, max_size=2)),
        files=draw(st.none() | st.dictionaries(TEXT, TEXT, max_size=1)),
        sandbox=draw(st.sampled_from([None, "docker", ("k8s", "a.yaml")])),
        setup=draw(st.none() | TEXT),
    )


def absolute(sample: Sample) -> Sample:
    """Stand for what makes names of files absolute."""
    if sample.setup is not None:
        sample.setup = f"/{sample.setup}"
    for message in sample.input if isinstance(sample.input, list) else ():
        for part in message.content_list:
            if isinstance(part, ContentImage):
                part.image = f"/{part.image}"
    return sample


def dataset_of(samples: Sequence[Sample], **keys: Any) -> ArrowDataset:
    return ArrowDataset(file_of(samples), name="some", location="", **keys)


def rows(batches: Any) -> list[Any]:
    return [row for batch in batches for row in batch.to_pylist()]


def assert_frames_are_those_of_samples(dataset: ArrowDataset) -> None:
    samples = list(dataset)
    # As texts, since numbers have several forms in JSON.
    wanted = rows([frame_batch(samples)])
    assert [without_json(row) for row in rows(dataset.batches())] == list(map(without_json, wanted))
    kinds = dataset._reading(kinds_of_file)
    assert rows(dataset.batches(2, metadata="struct")) == rows([frame_batch(samples, kinds)])


def without_json(row: dict[str, Any]) -> dict[str, Any]:
    text = row["metadata"]
    return {**row, "metadata": None if text is None else from_json(text)}


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(st.lists(some_samples(), max_size=5), st.integers(0, 3), *[st.booleans()] * 3)
def test_frames_are_those_of_the_samples(
    samples: list[Sample], seed: int, auto_id: bool, files: bool, choices: bool
) -> None:
    dataset = dataset_of(samples, auto_id=auto_id, finish=absolute if files else None)
    assert_frames_are_those_of_samples(dataset)
    dataset.shuffle(seed)
    if choices:
        dataset.shuffle_choices(seed)
    assert_frames_are_those_of_samples(dataset)
    part = dataset[1:]
    assert isinstance(part, ArrowDataset)
    assert_frames_are_those_of_samples(part)


@pytest.fixture
def parted(tmp_path: Path, small_batches: None) -> ArrowDataset:
    """A dataset of 10 samples in batches of 4."""
    samples = [Sample(input=f"q{n}", id=n) for n in range(10)]
    with SampleWriter(tmp_path / "s.arrow", schema_of({}), lambda one: None) as writer:
        for start in range(0, 10, 4):
            writer.write(rows_of(samples[start : start + 4], {}))
    file = SampleFile(tmp_path / "s.arrow", writer.batches)
    return ArrowDataset(file, name="parted", location="")


def all_inputs(batches: Iterable[pa.RecordBatch]) -> list[str]:
    return [text for batch in batches for text in batch.column("input").to_pylist()]


def kept(dataset: ArrowDataset, column: pa.Array) -> bool:
    """Return whether the texts of a column lie in the bytes that the file keeps."""
    address: int = column.buffers()[2].address
    buffers = [pa.py_buffer(batch.data) for batch in dataset._file._kept.values()]
    return any(one.address <= address < one.address + one.size for one in buffers)


@pytest.mark.parametrize("part", [slice(None), slice(2, 9), slice(5, 6), slice(0, 4)])
def test_batches_are_those_of_the_file_without_a_copy(parted: ArrowDataset, part: slice) -> None:
    batches = list(parted[part].batches())
    assert all(kept(parted, batch.column("input")) for batch in batches)
    assert all_inputs(batches) == [f"q{n}" for n in range(10)][part]
    if part == slice(None):
        assert [len(batch) for batch in batches] == [4, 4, 2]


@pytest.mark.parametrize("size", [1, 3, 4, 10, 99])
def test_batches_have_the_size_that_is_asked_for(parted: ArrowDataset, size: int) -> None:
    batches = list(parted.batches(size))
    assert {len(batch) for batch in batches[:-1]} <= {size}
    assert all_inputs(batches) == [f"q{n}" for n in range(10)]


def test_batches_of_an_order_are_in_that_order(parted: ArrowDataset) -> None:
    parted.shuffle(3)
    order = list(range(10))
    random.Random(3).shuffle(order)
    for size in (None, 3):
        assert all_inputs(parted.batches(size)) == [f"q{n}" for n in order]


def test_a_later_sort_does_not_change_batches_that_are_being_read(parted: ArrowDataset) -> None:
    reading = parted.batches(4)
    first = next(reading)
    parted.sort(reverse=True)
    assert all_inputs([first]) + all_inputs(reading) == [f"q{n}" for n in range(10)]


def test_stream_reads_a_batch_when_it_is_consumed(parted: ArrowDataset) -> None:
    reader = pa.RecordBatchReader.from_stream(parted)
    assert parted._file._kept.keys() == set()
    assert len(reader.read_next_batch()) == 4
    assert parted._file._kept.keys() == {0}


def test_stream_applies_view_and_limit() -> None:
    dataset = get_dataset("demo-mcq", shuffle=True, seed=2, shuffle_choices=3, limit=7)
    samples = list(dataset)
    assert pa.table(dataset).to_pylist() == frame_batch(samples).to_pylist()


@pytest.mark.parametrize("selected", [[9, 0, -1], np.array([9, 0, 9])])
def test_positions_select_a_dataset_over_the_same_file(parted: ArrowDataset, selected: Any) -> None:
    part = parted[selected]
    assert isinstance(part, ArrowDataset)
    assert part._file is parted._file
    assert [sample.id for sample in part] == [9, 0, 9]
    mask = np.arange(10) % 5 == 4
    assert [sample.id for sample in parted[mask]] == [4, 9]
    assert [sample.id for sample in parted[:5][[False, True, False, False, True]]] == [1, 4]


def test_positions_count_in_the_view() -> None:
    limited = get_dataset("demo-mcq", limit=3)
    assert list(limited[[-1]]) == [limited[2]]
    for read in (limited.__getitem__, limited.__getitems__):
        with pytest.raises(IndexError, match="index 3 of a dataset of 3 samples"):
            read([3])


def test_sample_is_found_by_its_id_in_every_view(parted: ArrowDataset) -> None:
    assert parted.by_id(7).input == parted.by_id("7").input == "q7"
    parted.shuffle(1)
    assert parted.by_id(7).input == "q7"
    with pytest.raises(SampleNotFoundError, match="no sample of parted has the id 2"):
        parted[[7, 8]].by_id(2)


def test_first_of_equal_ids_is_found() -> None:
    dataset = dataset_of([Sample(input="a", id="x"), Sample(input="b", id="x"), Sample(input="c")])
    assert dataset.by_id("x").input == "a"
    assert dataset[::-1].by_id("x").input == "b"


def test_generated_ids_are_found() -> None:
    dataset = get_dataset("demo-mcq", auto_id=True, shuffle=True, seed=1)
    assert dataset.by_id(5).id == 5
    assert pa.table(dataset).column("id").to_pylist() == [str(one.id) for one in dataset]


def test_ids_are_read_once_for_a_view(
    parted: ArrowDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[int] = []
    batch = SampleFile.batch

    def count(file: SampleFile, number: int) -> pa.RecordBatch:
        reads.append(number)
        return batch(file, number)

    monkeypatch.setattr(SampleFile, "batch", count)
    parted.by_id(1)
    parted.by_id(5)
    assert reads == [0, 1, 2], "each batch for the ids"


def test_pickled_dataset_has_the_same_frame_and_no_rows() -> None:
    dataset = get_dataset("demo-mcq", shuffle=True, seed=4)[3:20]
    data = pickle.dumps(dataset)
    assert str(dataset[0].input).encode() not in data
    assert pa.table(pickle.loads(data)) == pa.table(dataset)


def test_frames_of_a_copy_in_memory_are_equal() -> None:
    dataset = get_dataset("demo-chat")
    assert MemoryDataset(list(dataset)).to_arrow() == dataset.to_arrow()


def test_damaged_file_is_built_again_while_a_frame_is_read(
    one_dataset: Callable[..., Path], tmp_path: Path, cache_dir: Path
) -> None:
    lines = "".join(f'{{"q": "What is {n}?", "a": "{n}"}}\n' for n in range(20))
    (tmp_path / "d.jsonl").write_text(lines, encoding="utf-8")
    source = {"type": "json", "path": str(tmp_path / "d.jsonl")}
    root = one_dataset(source)
    wanted = get_dataset("data", root=root).to_arrow().to_pylist()  # a copy
    again = get_dataset("data", root=root)
    (path,) = cache_dir.glob("v*/samples/*/samples.arrow")
    path.write_bytes(path.read_bytes().replace(b"What", b"Whot", 1))
    assert again.to_arrow().to_pylist() == wanted
    assert len(list(cache_dir.glob("v*/quarantine/*"))) == 1
