"""The samples file: batches as they are written, and rows read across them in any order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.base.fs import file_sha256
from registry.errors import CacheError
from registry.store import reader as sample_file
from registry.store import writer as sample_writer
from registry.store.reader import SampleFile, is_readable
from registry.store.schema import MetadataType, batch_of, schema_of
from registry.store.writer import SampleWriter

METADATA_TYPES: dict[str, MetadataType] = {"n": "int", "any": "json"}


def batch(
    numbers: list[int],
    *,
    choices: bool = True,
    metadata_types: dict[str, MetadataType] | None = None,
) -> pa.RecordBatch:
    """Return a sample a number, with as many choices as the number modulo 3."""
    chosen = METADATA_TYPES if metadata_types is None else metadata_types
    fields: dict[str, list[Any]] = {
        "input": [f"q{number}" for number in numbers],
        "choices": [[f"{number}{at}" for at in range(number % 3)] or None for number in numbers],
        "target": ["A"] * len(numbers),
        "id": numbers,
        "metadata": [{"n": number, "any": [number]} for number in numbers],
    }
    if not choices:
        del fields["choices"]
    return batch_of(fields, numbers, chosen)


def written(
    path: Path, batches: Iterable[pa.RecordBatch], watched: list[int] | None = None
) -> SampleWriter:
    def watch(one: pa.RecordBatch) -> None:
        if watched is not None:
            watched.append(one.num_rows)

    waiting = iter(batches)
    first = next(waiting, batch([], metadata_types={}))
    with SampleWriter(path, first.schema, watch) as writer:
        for one in chain([first] if first.num_rows else [], waiting):
            writer.write(one)
    return writer


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleFile:
    """Write ten samples in batches of 3, 1, 0, 4 and 2."""
    monkeypatch.setattr(sample_writer, "_BATCH_ROWS", 0)
    parts = [[0, 1, 2], [3], [], [4, 5, 6, 7], [8, 9]]
    writer = written(tmp_path / "samples.arrow", [batch(part) for part in parts])
    return SampleFile(tmp_path / "samples.arrow", writer.batches)


def test_a_writer_tells_rows_and_choices_of_each_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_writer, "_BATCH_ROWS", 0)
    watched: list[int] = []
    parts = [batch([0, 1, 2]), batch([5]), batch([6])]
    writer = written(tmp_path / "samples.arrow", parts, watched)
    assert (writer.rows, writer.batches, watched) == (5, [[3, 3], [1, 2], [1, 0]], [3, 1, 1])
    assert writer.columns == {
        "input",
        "choices",
        "target",
        "id_number",
        "metadata_values",
        "record",
    }
    assert writer.sha256 == file_sha256(tmp_path / "samples.arrow")


@pytest.mark.parametrize(
    ("most", "batches"), [(1, [1] * 7), (2, [2, 2, 2, 1]), (3, [3, 3, 1]), (100, [7])]
)
def test_small_batches_are_put_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, batches: list[int]
) -> None:
    monkeypatch.setattr(sample_writer, "_BATCH_ROWS", most)
    writer = written(tmp_path / "samples.arrow", [batch([number]) for number in range(7)])
    assert [rows for rows, _ in writer.batches] == batches
    file = SampleFile(tmp_path / "samples.arrow", writer.batches)
    assert values_of(file, range(7), "id_number") == list(range(7))


def values_of(file: SampleFile, rows: Iterable[int], name: str) -> list[Any]:
    """Return the values that rows have in one column."""
    parts = file.read(np.array(list(rows)))
    return [value for count, part in parts for value in part.get(name, [None] * count)]


@pytest.mark.parametrize("rows", [[9], [0, 9], range(10), [7, 0, 7, 3, 9, 9, 1, 4]])
def test_values_are_made_of_some_rows_at_a_time(
    file: SampleFile, monkeypatch: pytest.MonkeyPatch, rows: Iterable[int]
) -> None:
    monkeypatch.setattr(sample_file, "_VALUE_ROWS", 3)
    wanted = list(rows)
    counts = [count for count, _ in file.read(np.array(wanted))]
    assert (sum(counts), max(counts)) == (len(wanted), min(3, len(wanted)))
    assert values_of(file, wanted, "id_number") == wanted


def test_batches_of_many_bytes_are_not_put_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_writer, "_BATCH_BYTES", 1)
    writer = written(tmp_path / "samples.arrow", [batch([1]), batch([2])])
    assert writer.batches == [[1, 1], [1, 2]]


@pytest.mark.parametrize("without", [0, 1, 3])
def test_columns_that_have_values_only_later_are_there_for_all_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without: int
) -> None:
    monkeypatch.setattr(sample_writer, "_BATCH_ROWS", 0)
    path = tmp_path / "samples.arrow"
    parts = [batch([5], choices=False)] * without + [batch([1, 2])]
    writer = written(path, [*parts, batch([5], choices=False)])
    assert writer.sha256 == file_sha256(path)
    assert [one.name for one in tmp_path.iterdir()] == ["samples.arrow"]
    file = SampleFile(path, writer.batches)
    found = values_of(file, range(file.rows), "choices")
    assert found == [None] * without + [["10"], ["20", "21"]] + [None]
    assert file.batch(0).schema.names == [
        name for name in schema_of(METADATA_TYPES).names if name in writer.columns
    ]
    assert file.full_batch(0).schema.names == schema_of(METADATA_TYPES).names


def test_a_file_that_an_error_ends_is_left_unfinished(tmp_path: Path) -> None:
    path = tmp_path / "samples.arrow"

    def batches() -> Iterator[pa.RecordBatch]:
        yield batch([1], metadata_types={})
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        written(path, batches())
    assert not is_readable(path)


def test_an_error_of_the_thread_that_writes_is_raised(tmp_path: Path) -> None:
    def fail(one: pa.RecordBatch) -> None:
        raise RuntimeError("watched")

    path = tmp_path / "samples.arrow"
    with (
        pytest.raises(RuntimeError, match="watched"),
        SampleWriter(path, schema_of(METADATA_TYPES), fail) as writer,
    ):
        writer.write(batch([1]))


def test_counts_of_a_file(file: SampleFile) -> None:
    assert (file.rows, file.choices, file.batch_count) == (10, 9, 5)
    assert file.json_keys == ["any"]


PARTS = [batch(part) for part in ([0, 1, 2], [3], [4, 5, 6, 7], [8, 9])]


@pytest.fixture(scope="module")
def four_batches(tmp_path_factory: pytest.TempPathFactory) -> SampleFile:
    """Write ten samples in four batches, once for all examples."""
    path = tmp_path_factory.mktemp("samples") / "samples.arrow"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample_writer, "_BATCH_ROWS", 0)
        return SampleFile(path, written(path, PARTS).batches)


@settings(deadline=None, max_examples=200)
@given(rows=st.lists(st.integers(0, 9), min_size=1, max_size=15))
def test_rows_are_read_in_the_order_asked_for(four_batches: SampleFile, rows: list[int]) -> None:
    wanted = pa.Table.from_batches(PARTS).take(pa.array(rows))
    for name in ("id_number", "input", "metadata_values", "choices"):
        assert values_of(four_batches, rows, name) == wanted[name].to_pylist()


@pytest.mark.parametrize("row", range(10))
def test_a_single_row_is_a_slice_of_its_batch(
    file: SampleFile, monkeypatch: pytest.MonkeyPatch, row: int
) -> None:
    monkeypatch.setattr(sample_file, "_take", lambda *_: pytest.fail("rows were copied"))
    assert values_of(file, [row], "id_number") == [row]


def test_columns_without_a_value_are_left_out(file: SampleFile) -> None:
    ((count, part),) = file.read(np.array([0, 3]))
    assert (count, set(part)) == (2, {"input", "target", "id_number", "metadata_values"})


def test_the_choices_of_a_row_have_a_range_among_all(file: SampleFile) -> None:
    ranges = [file.choice_range(row) for row in range(10)]
    counts = [row % 3 for row in range(10)]
    starts = np.concatenate([[0], np.cumsum(counts)]).tolist()
    assert ranges == list(pairwise(starts))
    assert file.choice_starts().tolist() == starts


def test_a_file_without_choices_has_empty_ranges(tmp_path: Path) -> None:
    writer = written(tmp_path / "samples.arrow", [batch([1, 2], choices=False)])
    file = SampleFile(tmp_path / "samples.arrow", writer.batches)
    assert (file.choices, file.choice_range(1), file.choice_starts().tolist()) == (
        0,
        (0, 0),
        [0, 0, 0],
    )


def test_metadata_comes_in_the_order_of_the_file(file: SampleFile) -> None:
    assert list(file.metadata()) == [{"n": number, "any": [number]} for number in range(10)]


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "samples.arrow"
    file = SampleFile(path, written(path, []).batches)
    assert is_readable(path)
    assert (file.rows, file.choices, file.batch_count, file.json_keys) == (0, 0, 0, [])
    assert (list(file.metadata()), file.choice_starts().tolist()) == ([], [0])


@pytest.mark.parametrize("cut", [0, 7, 100, -1])
def test_a_damaged_file_is_an_error_with_what_to_do(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "samples.arrow"
    writer = written(path, [batch([1])])
    path.write_bytes(path.read_bytes()[:cut])
    assert not is_readable(path)
    with pytest.raises(CacheError, match=r"samples\.arrow: can't be read: .*cache clear"):
        SampleFile(path, writer.batches)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    assert not is_readable(tmp_path / "samples.arrow")
    with pytest.raises(CacheError, match="can't be read"):
        SampleFile(tmp_path / "samples.arrow", [])


def test_an_arrow_file_of_other_columns_is_no_samples_file(tmp_path: Path) -> None:
    path = tmp_path / "other.arrow"
    table = pa.table({"input": ["x"]})
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    assert not is_readable(path)
