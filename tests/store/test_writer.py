"""Samples files: small batches are combined, empty columns omitted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from registry.base.fs import file_sha256
from registry.cache.folders import checksum
from registry.store import writer as sample_writer
from registry.store.checked_file import unpack_numbers
from registry.store.reader import SampleFile
from registry.store.schema import schema_of
from registry.store.writer import SampleWriter
from tests.store.samples_file import METADATA_TYPES, batch, shapes_of, values_of, written


@pytest.mark.usefixtures("small_batches")
def test_writer_counts_rows_and_choices_of_each_batch(tmp_path: Path) -> None:
    watched: list[int] = []
    parts = [batch([0, 1, 2]), batch([5]), batch([6])]
    writer = written(tmp_path / "samples.arrow", parts, watched)
    assert (writer.rows, shapes_of(writer), watched) == (5, [[3, 3], [1, 2], [1, 0]], [3, 1, 1])
    names = ["input", "choices", "target", "id_number", "metadata_values", "record"]
    assert writer.columns == set(names)
    assert writer.sha256 == file_sha256(tmp_path / "samples.arrow")


@pytest.mark.parametrize(
    ("most", "batches"), [(1, [1] * 7), (2, [2, 2, 2, 1]), (3, [3, 3, 1]), (100, [7])]
)
def test_small_batches_are_combined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, batches: list[int]
) -> None:
    monkeypatch.setattr(sample_writer, "_BATCH_ROWS", most)
    writer = written(tmp_path / "samples.arrow", [batch([number]) for number in range(7)])
    assert [rows for rows, _ in shapes_of(writer)] == batches
    file = SampleFile(tmp_path / "samples.arrow", writer.batches)
    assert values_of(file, range(7), "id_number") == list(range(7))


def test_large_batches_are_not_combined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_writer, "_BATCH_BYTES", 1)
    writer = written(tmp_path / "samples.arrow", [batch([1]), batch([2])])
    assert shapes_of(writer) == [[1, 1], [1, 2]]


@pytest.mark.usefixtures("small_batches")
def test_every_byte_of_a_file_has_a_checksum(tmp_path: Path) -> None:
    path = tmp_path / "samples.arrow"
    # The second batch has the first choices, so that the first is written twice.
    writer = written(path, [batch([3]), batch([1, 2]), batch([4])])
    (_, _, start, footer), *batches = (
        np.array(unpack_numbers(writer.batches)).reshape(-1, 4).tolist()
    )
    content = path.read_bytes()
    for _, _, end, found in batches:
        assert found == checksum(content[start:end])
        start = end
    assert footer == checksum(content[start:])
    assert 0 < start < len(content)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("size", [0, 1, 100, 1 << 20])
def test_small_pieces_are_written_together_and_change_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    # The third batch has the first value of a column, so the file is written again.
    parts = [batch([2]), batch([3, 4]), batch([0, 1, 5])]
    expected = written(tmp_path / "expected.arrow", parts)
    monkeypatch.setattr(sample_writer, "_WRITE_BYTES", size)
    found = written(tmp_path / "found.arrow", parts)
    assert (tmp_path / "found.arrow").read_bytes() == (tmp_path / "expected.arrow").read_bytes()
    assert (found.sha256, found.batches) == (expected.sha256, expected.batches)
    assert found.sha256 == file_sha256(tmp_path / "found.arrow")


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("without", [0, 1, 3])
def test_columns_with_late_first_values_are_in_all_batches(tmp_path: Path, without: int) -> None:
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


@pytest.mark.usefixtures("small_batches")
def test_file_is_incomplete_after_an_error(tmp_path: Path) -> None:
    path = tmp_path / "samples.arrow"

    def batches() -> Iterator[pa.RecordBatch]:
        yield batch([1], metadata_types={})
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        written(path, batches())
    with pytest.raises(pa.ArrowInvalid):
        pa.ipc.open_file(path.read_bytes())


def test_no_file_is_created_before_the_first_batch(tmp_path: Path) -> None:
    path = tmp_path / "samples.arrow"
    with pytest.raises(ValueError, match="none"), SampleWriter(path, schema_of({}), print):
        raise ValueError("none")
    assert not path.exists()
    writer = written(path, [])
    assert SampleFile(path, writer.batches).rows == 0


@pytest.mark.parametrize(("most", "threads"), [(1, {"write_0"}), (3, {"write_0"}), (4, set())])
def test_small_file_is_written_without_a_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, threads: set[str]
) -> None:
    monkeypatch.setattr(sample_writer, "_BATCH_ROWS", most)
    names: set[str] = set()
    end_part = SampleWriter._end_part

    def note_and_end(self: SampleWriter, rows: int, choices: int) -> None:
        names.add(threading.current_thread().name)
        end_part(self, rows, choices)

    monkeypatch.setattr(SampleWriter, "_end_part", note_and_end)
    written(tmp_path / "samples.arrow", [batch([number]) for number in range(3)])
    assert names - {threading.current_thread().name} == threads


@pytest.mark.usefixtures("small_batches")
def test_last_batch_is_watched_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched: list[int] = []
    is_watched = threading.Event()
    end_part = SampleWriter._end_part

    def watch(one: pa.RecordBatch) -> None:
        watched.append(one.num_rows)
        if len(watched) == 3:
            is_watched.set()

    def wait_and_end(self: SampleWriter, rows: int, choices: int) -> None:
        if rows == 4:
            assert is_watched.wait(timeout=60)
        end_part(self, rows, choices)

    monkeypatch.setattr(SampleWriter, "_end_part", wait_and_end)
    with SampleWriter(tmp_path / "samples.arrow", schema_of(METADATA_TYPES), watch) as writer:
        for one in (batch([1]), batch([2, 3]), batch([4, 5, 6, 7])):
            writer.write(one)
    assert watched == [1, 2, 4]
    file = SampleFile(tmp_path / "samples.arrow", writer.batches)
    assert values_of(file, range(7), "id_number") == list(range(1, 8))


@pytest.mark.usefixtures("small_batches")
def test_error_in_the_writing_thread_is_raised(tmp_path: Path) -> None:

    def fail(one: pa.RecordBatch) -> None:
        raise RuntimeError("watched")

    path = tmp_path / "samples.arrow"
    with (
        pytest.raises(RuntimeError, match="watched"),
        SampleWriter(path, schema_of(METADATA_TYPES), fail) as writer,
    ):
        writer.write(batch([1]))
