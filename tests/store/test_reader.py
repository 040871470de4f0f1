"""The samples file: batches as they are written, and rows read across them in any order."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.cache.folders import checksum
from registry.errors import CacheError
from registry.store import reader as sample_file
from registry.store import writer as sample_writer
from registry.store.checked_file import pack_numbers
from registry.store.reader import SampleFile
from tests.store.samples_file import batch, values_of, written


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleFile:
    """Write ten samples in batches of 3, 1, 0, 4 and 2."""
    monkeypatch.setattr(sample_writer, "_BATCH_ROWS", 0)
    parts = [[0, 1, 2], [3], [], [4, 5, 6, 7], [8, 9]]
    writer = written(tmp_path / "samples.arrow", [batch(part) for part in parts])
    return SampleFile(tmp_path / "samples.arrow", writer.batches)


@pytest.mark.parametrize("rows", [[9], [0, 9], range(10), [7, 0, 7, 3, 9, 9, 1, 4]])
def test_values_are_converted_in_small_groups_of_rows(
    file: SampleFile, monkeypatch: pytest.MonkeyPatch, rows: Iterable[int]
) -> None:
    monkeypatch.setattr(sample_file, "_VALUE_ROWS", 3)
    wanted = list(rows)
    counts = [count for count, _ in file.read(np.array(wanted))]
    assert (sum(counts), max(counts)) == (len(wanted), min(3, len(wanted)))
    assert values_of(file, wanted, "id_number") == wanted


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
def test_rows_are_read_in_the_requested_order(four_batches: SampleFile, rows: list[int]) -> None:
    wanted = pa.Table.from_batches(PARTS).take(pa.array(rows))
    for name in ("id_number", "input", "metadata_values", "choices"):
        assert values_of(four_batches, rows, name) == wanted[name].to_pylist()


@pytest.mark.parametrize("row", range(10))
def test_a_single_row_has_the_values_of_a_slice_without_arrow(
    file: SampleFile, monkeypatch: pytest.MonkeyPatch, row: int
) -> None:
    ((_, part),) = file.read(np.array([row]))
    monkeypatch.setattr(SampleFile, "batch", lambda *_: pytest.fail("Arrow read the batch"))
    assert list(file.row(row).items()) == list(part.items())


def test_a_file_that_is_not_of_samples_is_damage(tmp_path: Path) -> None:
    other = pa.record_batch({"input": pa.array([1], pa.decimal128(5))})
    with pa.ipc.new_file(str(tmp_path / "other.arrow"), other.schema) as writer:
        writer.write_batch(other)
    content = (tmp_path / "other.arrow").read_bytes()
    batches = pack_numbers(
        np.array([0, 0, 0, checksum(content), 1, 0, 0, checksum(b"")], np.uint64)
    )
    with pytest.raises(CacheError, match="is not a samples file"):
        SampleFile(tmp_path / "other.arrow", batches).row(0)


def test_columns_without_a_value_are_omitted(file: SampleFile) -> None:
    assert (file.rows, file.choices, file.batch_count) == (10, 9, 5)
    assert file.json_keys == ["any"]
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
    assert (file.choices, file.choice_range(1)) == (0, (0, 0))
    assert file.choice_starts().tolist() == [0, 0, 0]


def test_metadata_has_the_order_of_the_file(file: SampleFile) -> None:
    assert list(file.metadata()) == [{"n": number, "any": [number]} for number in range(10)]


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "samples.arrow"
    file = SampleFile(path, written(path, []).batches)
    assert (file.rows, file.choices, file.batch_count, file.json_keys) == (0, 0, 0, [])
    assert (list(file.metadata()), file.choice_starts().tolist()) == ([], [0])


@pytest.mark.parametrize("cut", [0, 7, 100, -1])
def test_cut_or_missing_file_is_an_error(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "samples.arrow"
    batches = written(path, [batch([1])]).batches
    path.write_bytes(path.read_bytes()[:cut])
    message = r"samples\.arrow: (is empty|has no bytes|the bytes .* differ)"
    with pytest.raises(CacheError, match=message):
        SampleFile(path, batches)
    path.unlink()
    with pytest.raises(CacheError, match="is gone"):
        SampleFile(path, batches)


def test_each_flipped_byte_is_found_before_the_batch_is_decoded(file: SampleFile) -> None:
    path, batches, _ = file.__reduce__()[1]
    content = path.read_bytes()
    for position in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        with pytest.raises(CacheError, match="differ from those that were written"):
            list(SampleFile(path, batches).metadata())


def test_a_batch_that_is_not_read_is_not_checked(file: SampleFile) -> None:
    path, batches, _ = file.__reduce__()[1]
    content = bytearray(path.read_bytes())
    content[content.rindex(b"q9")] ^= 1
    path.write_bytes(content)
    damaged = SampleFile(path, batches)
    assert values_of(damaged, range(8), "id_number") == list(range(8))
    with pytest.raises(CacheError, match="differ from those that were written"):
        values_of(damaged, [9], "id_number")


def test_what_was_read_does_not_change_with_the_file(file: SampleFile) -> None:
    path = file.__reduce__()[1][0]
    assert values_of(file, range(4), "id_number") == [0, 1, 2, 3]
    assert file.row(9)["id_number"] == [9]
    for content in (bytes(path.stat().st_size), b""):  # written into the file that is open
        path.write_bytes(content)
        assert values_of(file, range(4), "id_number") == [0, 1, 2, 3]
        assert values_of(file, [9], "id_number") == [9]
        assert (file.row(3)["id_number"], file.choice_range(3)) == ([3], (3, 3))


def test_file_that_is_cut_while_it_is_open_is_an_error(file: SampleFile) -> None:
    os.truncate(file.__reduce__()[1][0], 10)
    for rows in ([0], range(10)):
        with pytest.raises(CacheError, match="was cut to 10 of"):
            values_of(file, rows, "id_number")
    for read in (file.row, file.choice_range):
        with pytest.raises(CacheError, match="was cut to 10 of"):
            read(3)


def test_batches_that_were_read_first_are_dropped(
    file: SampleFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_file, "_KEPT_BYTES", file._ends[2])
    for number, kept in enumerate([[0], [0, 1], [1, 2]]):
        file.batch(number)
        assert list(file._kept) == kept
    monkeypatch.setattr(sample_file, "_KEPT_BYTES", 0)
    assert file.row(9)["id_number"] == [9]
    assert list(file._kept) == [4]
    assert values_of(file, range(10), "id_number") == list(range(10))
