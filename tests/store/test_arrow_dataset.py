"""Datasets are fast: they read nothing before it is needed, and nothing twice."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from registry import ChatMessageUser, Dataset, MemoryDataset, get_dataset
from registry.base.arrow import int64_array, repeat_string
from registry.cache.cache import Cache
from registry.store import arrow_dataset, views
from registry.store import rows as sample_rows
from registry.store import writer as sample_writer
from registry.store.arrow_dataset import ArrowDataset
from registry.store.checked_file import StoredArray
from registry.store.columns import batch_of
from registry.store.reader import SampleFile
from registry.store.schema import batch_from, schema_of
from registry.store.writer import SampleWriter

Calls = dict[str, int]
NOTHING: Calls = {"batch": 0, "read": 0, "rows": 0, "sample": 0}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Count batches read, rows read and samples created."""
    found = dict.fromkeys(NOTHING, 0)

    def count(owner: Any, name: str, *counts: str) -> None:
        real = getattr(owner, name)

        def counted(*arguments: Any) -> Any:
            for one in counts:
                is_many = (name, one) == ("read", "rows")
                found[one] += len(arguments[1]) if is_many else 1
            return real(*arguments)

        monkeypatch.setattr(owner, name, counted)

    count(SampleFile, "batch", "batch")
    count(SampleFile, "read", "read", "rows")
    count(SampleFile, "row", "rows")
    count(sample_rows, "_make", "sample")
    return found


def rows_of(start: int, count: int) -> pa.RecordBatch:
    columns = {
        "input": repeat_string("q", count),
        "target": repeat_string("", count),
        "id_number": int64_array(np.arange(start, start + count)),
        "record": int64_array(np.arange(start + 1, start + count + 1)),
    }
    return batch_from(columns, count, {})


def file_of(path: Path, count: int, batch: int) -> SampleFile:
    """Write samples numbered from 0, with a given number in each batch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample_writer, "_BATCH_ROWS", 0)
        with SampleWriter(path, schema_of({}), lambda one: None) as writer:
            for start in range(0, count, batch):
                writer.write(rows_of(start, min(batch, count - start)))
    return SampleFile(path, writer.batches)


def dataset_of(file: SampleFile, view: views.ViewArrays | None = None) -> ArrowDataset:
    return ArrowDataset(file, name="d", location="", view=view)


CATALOG = """
version: 1
datasets:
  d:
    source: {type: json, path: d.jsonl}
    fields: {input: q, choices: c, target: {from: n, do: [letter]}, metadata: [k]}
"""


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    lines = (json.dumps({"q": f"q{n}", "c": ["x", "y"], "n": n % 2, "k": n}) for n in range(1000))
    (tmp_path / "d.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "datasets.yaml").write_text(CATALOG, encoding="utf-8")
    return tmp_path  # type: ignore[return-value]


@pytest.mark.parametrize(
    "view", [{}, {"shuffle": True, "seed": 1}, {"shuffle_choices": 3}, {"limit": 5}]
)
def test_opening_a_dataset_builds_no_sample_and_reads_no_batch(
    root: Path, calls: Calls, view: dict[str, Any]
) -> None:
    get_dataset("d", root=root, **view)
    calls.update(NOTHING)
    dataset = get_dataset("d", root=root, **view)
    assert len(dataset) == view.get("limit", 1000)
    assert (repr(dataset), dataset.name) != ("", "")
    assert calls == NOTHING
    dataset[0]
    assert calls["sample"] == 1


COUNT = 1_000_000


def test_view_of_a_million_rows_is_opened_without_reading_them(
    tmp_path: Path, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, cache = file_of(tmp_path / "samples.arrow", COUNT, 1 << 17), Cache(tmp_path / "cache")
    options: dict[str, Any] = {"samples": "sha256:0", "seed": 1, "choice_seed": None}
    first = views.open_view(file, cache, order="hub", **options)
    monkeypatch.setattr(views, "row_order", lambda *_: pytest.fail("the order was made again"))
    monkeypatch.setattr(views, "choice_orders", lambda *_: pytest.fail("choices were looked at"))
    calls.update(NOTHING)
    view = views.open_view(file, cache, order="hub", **options)
    dataset = dataset_of(file, view)
    assert view.rows is not None
    assert (type(view.rows), len(dataset)) == (StoredArray, COUNT)
    assert calls == NOTHING
    assert first.rows is not None
    assert [dataset[place].id for place in (0, 7, -1)] == [
        int(first.rows[:][place]) for place in (0, 7, -1)
    ]
    assert calls["rows"] == calls["sample"] == 3


def test_slice_of_a_view_reads_nothing(tmp_path: Path, calls: Calls) -> None:
    dataset = dataset_of(file_of(tmp_path / "samples.arrow", 1000, 100))
    calls.update(NOTHING)
    part = dataset[100:900:3]
    assert len(part) == 267
    assert calls == NOTHING
    assert part[1].id == 103


def test_access_to_one_sample_reads_one_batch(tmp_path: Path) -> None:
    places = list(range(1000))
    random.Random(0).shuffle(places)
    written = pickle.dumps(file_of(tmp_path / "samples.arrow", 1000, 100))
    for place in places[:50]:
        file = pickle.loads(written)
        assert dataset_of(file)[place].id == place
        assert list(file._kept) == [place // 100]


@pytest.mark.parametrize(
    ("count", "first", "most", "reads"),
    [
        (1000, 4096, 4096, 1),
        (1000, 300, 300, 4),
        (1000, 100, 400, 4),  # 100, 200, 400 and the rest
        (1000, 4096, 500, 2),
        (0, 10, 10, 0),
        (1, 1, 1, 1),
    ],
)
def test_iteration_reads_each_part_once(
    tmp_path: Path,
    calls: Calls,
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    first: int,
    most: int,
    reads: int,
) -> None:
    monkeypatch.setattr(arrow_dataset, "_FIRST_ROWS", first)
    monkeypatch.setattr(arrow_dataset, "_PREFETCH_ROWS", most)
    dataset = dataset_of(file_of(tmp_path / "samples.arrow", count, 100))
    assert [sample.id for sample in dataset] == list(range(count))
    assert (calls["read"], calls["rows"], calls["sample"]) == (reads, count, count)


def test_the_first_sample_of_an_iteration_reads_one_part(
    tmp_path: Path, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_dataset, "_FIRST_ROWS", 10)
    dataset = dataset_of(file_of(tmp_path / "samples.arrow", 1000, 100))
    assert next(iter(dataset)).id == 0
    assert (calls["read"], calls["rows"], calls["sample"]) == (1, 10, 1)


def test_iteration_reads_fewer_long_samples_at_a_time(
    tmp_path: Path, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = file_of(tmp_path / "samples.arrow", 1000, 100)
    size = (tmp_path / "samples.arrow").stat().st_size
    monkeypatch.setattr(arrow_dataset, "_PREFETCH_BYTES", size // 20)
    assert len(list(dataset_of(file))) == 1000
    assert calls["read"] == 1000 // (1000 * (size // 20) // size) + 1
    monkeypatch.setattr(arrow_dataset, "_PREFETCH_BYTES", 1)
    assert len(list(dataset_of(file)[:5])) == 5


def test_shuffled_iteration_reads_each_batch_once_per_part(
    tmp_path: Path, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_dataset, "_FIRST_ROWS", 500)
    monkeypatch.setattr(arrow_dataset, "_PREFETCH_ROWS", 500)
    dataset = dataset_of(file_of(tmp_path / "samples.arrow", 1000, 100))
    dataset.shuffle(1)
    calls.update(NOTHING)
    found = [sample.id for sample in dataset]
    assert sorted(found, key=lambda one: int(one or 0)) == list(range(1000)) != found
    assert (calls["read"], calls["batch"]) == (2, 20)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("reverse", [False, True])
def test_sorting_by_the_length_of_the_input_builds_no_sample(
    tmp_path: Path, calls: Calls, reverse: bool
) -> None:
    texts = ["bbb", "ä", "c", "\U0001f600\U0001f600", "a" * 9, "dd"]
    with SampleWriter(tmp_path / "f.arrow", schema_of({}), lambda one: None) as writer:
        for start in (0, 3):
            fields = {"input": texts[start : start + 3], "target": [""] * 3}
            writer.write(batch_of(fields, range(start + 1, start + 4), {}))
    dataset = dataset_of(SampleFile(tmp_path / "f.arrow", writer.batches))
    dataset.shuffle(seed=4)
    expected = MemoryDataset(list(dataset))
    calls.update(NOTHING)
    dataset.sort(reverse=reverse)
    assert calls["sample"] == 0
    expected.sort(reverse=reverse)
    assert list(dataset) == list(expected)


def test_conversations_are_sorted_by_their_text(tmp_path: Path) -> None:
    turns = [ChatMessageUser(content="longer", id="1")]
    with SampleWriter(tmp_path / "f.arrow", schema_of({}), lambda one: None) as writer:
        fields: dict[str, list[Any]] = {"input": [turns, "four"], "target": ["", ""]}
        writer.write(batch_of(fields, [1, 2], {}))
    dataset = dataset_of(SampleFile(tmp_path / "f.arrow", writer.batches))
    dataset.sort()
    assert [sample.input for sample in dataset] == ["four", turns]


# --- Samples that a loop gave ---


def held(dataset: Dataset) -> list[Any]:
    """Change samples of a finished loop."""
    samples = list(dataset)
    for sample in samples:
        sample.metadata["new"] = 1  # type: ignore[index]
    return samples


def current(dataset: Dataset) -> None:
    for sample in dataset:
        sample.metadata["new"] = 1  # type: ignore[index]


def values(dataset: Dataset) -> None:
    """Change dicts that were taken out of samples which nobody holds any more."""
    for one in [sample.metadata for sample in dataset]:
        one["new"] = 1  # type: ignore[index]


def generator(dataset: Dataset) -> None:
    for one in (sample.metadata for sample in dataset):
        one["new"] = 1  # type: ignore[index]


def two_loops(dataset: Dataset) -> None:
    for one, same in zip(list(dataset), dataset, strict=True):
        assert one.metadata is same.metadata
        same.metadata["new"] = 1  # type: ignore[index]


def one_by_one(dataset: Dataset) -> None:
    """Leave each loop at its first sample but for those that have been seen."""
    for number in range(len(dataset)):
        for place, sample in enumerate(dataset):
            if place == number:
                sample.metadata["new"] = 1  # type: ignore[index]
                break


@pytest.mark.parametrize(
    ("change", "limit"),
    [(one_by_one, 3), *product([held, current, values, generator, two_loops], [3, 1000])],
)
def test_no_change_within_a_field_is_lost(
    root: Path, change: Callable[[Dataset], Any], limit: int
) -> None:
    dataset = get_dataset("d", root=root, limit=limit)
    change(dataset)
    assert all(sample.metadata["new"] == 1 for sample in dataset)  # type: ignore[index]
    assert dataset[limit - 1].metadata == {"k": limit - 1, "new": 1}
    assert dataset.to_pandas()["metadata"][0] == '{"k":0,"new":1}'
    assert "changed" in str(dataset.provenance.modified)
    assert pickle.loads(pickle.dumps(dataset))[0].metadata["new"] == 1


def test_loop_that_reads_fields_keeps_no_sample(root: Path) -> None:
    dataset = get_dataset("d", root=root)
    assert isinstance(dataset, ArrowDataset)
    total = sum(sample.metadata["k"] + len(sample.choices or ()) for sample in dataset)  # type: ignore[index]
    assert total == sum(range(1000)) + 2000
    assert len(dataset._kept) < 10, "the last of each part, which the loop still held"
    assert dataset.provenance.modified == ()


def test_change_of_the_current_sample_is_seen_by_index(root: Path) -> None:
    dataset = get_dataset("d", root=root)
    sample = next(iter(dataset))
    (sample.choices or []).append("z")
    assert dataset[0] is sample
