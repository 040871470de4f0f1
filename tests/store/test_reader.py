"""The samples file: batches as they are written, and rows read across them in any order."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import CacheError
from registry.store import reader as sample_file
from registry.store import writer as sample_writer
from registry.store.reader import SampleFile, is_readable
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
def test_rows_are_read_in_the_requested_order(four_batches: SampleFile, rows: list[int]) -> None:
    wanted = pa.Table.from_batches(PARTS).take(pa.array(rows))
    for name in ("id_number", "input", "metadata_values", "choices"):
        assert values_of(four_batches, rows, name) == wanted[name].to_pylist()


@pytest.mark.parametrize("row", range(10))
def test_a_single_row_is_a_slice_of_its_batch(
    file: SampleFile, monkeypatch: pytest.MonkeyPatch, row: int
) -> None:
    monkeypatch.setattr(sample_file, "_take", lambda *_: pytest.fail("rows were copied"))
    assert values_of(file, [row], "id_number") == [row]


def test_columns_without_a_value_are_omitted(file: SampleFile) -> None:
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


def test_metadata_has_the_order_of_the_file(file: SampleFile) -> None:
    assert list(file.metadata()) == [{"n": number, "any": [number]} for number in range(10)]


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "samples.arrow"
    file = SampleFile(path, written(path, []).batches)
    assert is_readable(path)
    assert (file.rows, file.choices, file.batch_count, file.json_keys) == (0, 0, 0, [])
    assert (list(file.metadata()), file.choice_starts().tolist()) == ([], [0])


@pytest.mark.parametrize("cut", [0, 7, 100, -1])
def test_damaged_file_is_an_error_with_a_hint(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "samples.arrow"
    writer = written(path, [batch([1])])
    path.write_bytes(path.read_bytes()[:cut])
    assert not is_readable(path)
    with pytest.raises(CacheError, match=r"samples\.arrow: can't be read: .*cache clear"):
        SampleFile(path, writer.batches)


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    assert not is_readable(tmp_path / "samples.arrow")
    with pytest.raises(CacheError, match="can't be read"):
        SampleFile(tmp_path / "samples.arrow", [])


def test_arrow_file_with_other_columns_is_not_a_samples_file(tmp_path: Path) -> None:
    path = tmp_path / "other.arrow"
    table = pa.table({"input": ["x"]})
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    assert not is_readable(path)
