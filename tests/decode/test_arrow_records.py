"""Rows of Parquet and Arrow as Python values, and errors of invalid ones."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from registry.decode import arrow_records
from registry.decode.arrow_records import read_arrow, read_parquet
from registry.decode.stream import SourceBytes
from registry.errors import DecodeError
from registry.manifest.source_models import HfSource, ParquetSource

PARQUET = ParquetSource(path=("d.parquet",))
HF = HfSource(path="o/d", split="test")
ROWS = [
    {"q": "é", "n": 1, "l": [1, None], "s": {"x": "y"}, "t": dt.date(2020, 1, 2)},
    {"q": None, "n": None, "l": None, "s": None, "t": None},
]


@pytest.fixture(params=["parquet", "arrow"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def written(folder: Path, kind: str, table: pa.Table) -> SourceBytes:
    path = folder / f"d.{kind}"
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    return SourceBytes.of_file(f"d.{kind}", path)


def read(kind: str, file: SourceBytes) -> list[dict[str, Any]]:
    if kind == "parquet":
        return list(read_parquet(file, PARQUET, strict=True))
    return list(read_arrow(file, HF, strict=True))


def test_rows_have_python_values(tmp_path: Path, kind: str) -> None:
    assert read(kind, written(tmp_path, kind, pa.Table.from_pylist(ROWS))) == ROWS


def test_an_empty_file_has_no_rows(tmp_path: Path, kind: str) -> None:
    assert read(kind, written(tmp_path, kind, pa.table({"q": pa.array([], pa.string())}))) == []


def test_rows_of_many_batches_are_in_order(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_records, "_BATCH_ROWS", 3)
    table = pa.table({"n": list(range(10))})
    assert [row["n"] for row in read(kind, written(tmp_path, kind, table))] == list(range(10))


def test_error_of_invalid_utf8_has_row_and_column(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_records, "_BATCH_ROWS", 2)
    data = [b"good", b"good", b"good", b"caf\xe9"]
    column = pa.Array.from_buffers(pa.string(), 4, pa.array(data).buffers())
    file = written(tmp_path, kind, pa.table({"a": [1, 2, 3, 4], "q": column}))
    with pytest.raises(DecodeError) as caught:
        read(kind, file)
    assert str(caught.value) == f"d.{kind}: row 4, column 'q': a string that is not UTF-8"


def test_date_out_of_range_for_python_is_an_error(tmp_path: Path, kind: str) -> None:
    invalid = pa.Array.from_buffers(pa.string(), 2, pa.array([b"good", b"caf\xe9"]).buffers())
    table = pa.table({"q": invalid, "t": pa.array([2**30, 0], pa.date32())})
    with pytest.raises(DecodeError) as caught:
        read(kind, written(tmp_path, kind, table))
    message = f"d.{kind}: row 1, column 't': a value is out of range for Python: "
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"no parquet at all", b"PAR1" + bytes(50)])
def test_invalid_parquet_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "d.parquet"
    path.write_bytes(data)
    message = r"^d\.parquet: not a Parquet file, or a damaged one: "
    with pytest.raises(DecodeError, match=message):
        read("parquet", SourceBytes.of_file("d.parquet", path))


def test_duplicate_columns_are_refused(tmp_path: Path, kind: str) -> None:
    twice = pa.Table.from_arrays([pa.array(["x"]), pa.array(["y"])], ["q", "q"])
    with pytest.raises(DecodeError, match="duplicate column 'q'"):
        read(kind, written(tmp_path, kind, twice))


def test_missing_file_raises_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read("parquet", SourceBytes.of_file("d.parquet", tmp_path / "missing"))


def test_arrow_file_that_is_cut_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "records.arrow"
    batch = pa.record_batch({"text": ["x" * 1000] * 100})
    with pa.ipc.new_file(str(path), batch.schema) as writer:
        for _ in range(10):
            writer.write_batch(batch)
    records = read_arrow(SourceBytes.of_file("org/name", path), HF, strict=True)
    assert next(records) == {"text": "x" * 1000}
    os.truncate(path, 5000)
    with pytest.raises(DecodeError, match=r"^org/name: a damaged Arrow file: .*\(try again\)$"):
        list(records)
