"""Parquet and Arrow as records and as columns; what is invalid is an error, or not columnar."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from registry.decode import arrow_files, decode
from registry.decode.arrow_files import read_arrow, read_parquet
from registry.decode.frame import NotColumnarError
from registry.decode.stream import SourceBytes
from registry.errors import DecodeError
from registry.manifest.source import Source
from registry.manifest.source_models import HfSource, ParquetSource
from tests.decode.frames import frames_of, parquet, rows_of, table

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
    monkeypatch.setattr(arrow_files, "_RECORDS", 3)
    table = pa.table({"n": list(range(10))})
    assert [row["n"] for row in read(kind, written(tmp_path, kind, table))] == list(range(10))


def test_error_of_invalid_utf8_has_row_and_column(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_files, "_RECORDS", 2)
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
def test_invalid_parquet_is_an_error_and_not_columnar(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "d.parquet"
    path.write_bytes(data)
    message = r"^d\.parquet: not a Parquet file, or a damaged one: "
    with pytest.raises(DecodeError, match=message):
        read("parquet", SourceBytes.of_file("d.parquet", path))
    assert frames_of(path, PARQUET) == ([], "an invalid file")


def test_duplicate_columns_are_refused(tmp_path: Path, kind: str) -> None:
    twice = pa.Table.from_arrays([pa.array(["x"]), pa.array(["y"])], ["q", "q"])
    file = written(tmp_path, kind, twice)
    with pytest.raises(DecodeError, match="duplicate column 'q'"):
        read(kind, file)
    source = PARQUET if kind == "parquet" else HF
    assert frames_of(tmp_path / f"d.{kind}", source) == ([], "a duplicate column name")


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
    with pytest.raises(NotColumnarError):
        list(arrow_files.read_arrow_tables(SourceBytes.of_file("org/name", path), HF, None))


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (None, ["q", "a", "m"]),
        (frozenset({"a", "q"}), ["q", "a"]),
        (frozenset({"m.b"}), ["m"]),
        (frozenset({"none"}), []),
        (frozenset(), []),
    ],
)
def test_only_the_wanted_columns_of_a_table_are_read(
    tmp_path: Path, wanted: frozenset[str] | None, names: list[str]
) -> None:
    path = tmp_path / "d.parquet"
    frames, why = frames_of(path, parquet(path, table()), wanted)
    assert why == ""
    assert [(frame.names, frame.count) for frame in frames] == [(names, 3)]


def test_row_groups_are_read_in_batches_of_bounded_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_files, "_BATCH_ROWS", 64)
    path = tmp_path / "d.parquet"
    source = parquet(path, pa.table({"q": [str(number) for number in range(200)]}))
    frames, _ = frames_of(path, source)
    assert [frame.count for frame in frames] == [64, 64, 64, 8]
    assert [row["q"] for row in rows_of(frames)] == [str(number) for number in range(200)]


@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int8(), pa.string())])
def test_batches_are_bounded_by_values_however_small_they_are_encoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: pa.DataType
) -> None:
    monkeypatch.setattr(arrow_files, "_BATCH_BYTES", 1 << 20)
    path = tmp_path / "d.parquet"
    texts = [letter * 10_000 for letter in "ab"] * 500
    source = parquet(path, pa.table({"q": pa.array(texts, kind)}))
    assert path.stat().st_size < 10_000
    frames, _ = frames_of(path, source)
    assert [frame.count for frame in frames] == [512, 104, 104, 104, 104, 72]
    assert [row["q"] for row in rows_of(frames)] == texts


def test_batches_of_ordinary_rows_are_large(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    source = parquet(path, pa.table({"q": [str(number) for number in range(40_000)]}))
    frames, _ = frames_of(path, source)
    assert [frame.count for frame in frames] == [512, 2048, 8192, 16384, 12864]


NO_UTF8 = pa.Array.from_buffers(pa.string(), 2, pa.array([b"good", b"caf\xe9"]).buffers())


@pytest.mark.parametrize(
    "column",
    [
        NO_UTF8,
        pa.DictionaryArray.from_arrays([0, 1], NO_UTF8),
        pa.ListArray.from_arrays([0, 1, 2], NO_UTF8),
        pa.StructArray.from_arrays([NO_UTF8], ["x"]),
        pa.MapArray.from_arrays([0, 1, 2], NO_UTF8, NO_UTF8),
    ],
    ids=lambda column: str(column.type),
)
def test_invalid_utf8_is_not_columnar(tmp_path: Path, column: pa.Array) -> None:
    data = pa.table({"q": column, "a": [1, 2]})
    path = tmp_path / "records.arrow"
    with pa.ipc.new_file(str(path), data.schema) as writer:
        writer.write_table(data)
    files: list[tuple[Path, Source]] = [(path, HF)]
    if column is NO_UTF8:
        files.append((tmp_path / "d.parquet", parquet(tmp_path / "d.parquet", data)))
    for path, source in files:
        assert frames_of(path, source) == ([], "an invalid value")
        frames, why = frames_of(path, source, frozenset({"a"}))
        assert (rows_of(frames), why) == ([{"a": 1}, {"a": 2}], "")
        with pytest.raises(DecodeError) as caught:
            list(decode(SourceBytes.of_file("where", path), source))
        assert str(caught.value) == "where: row 2, column 'q': a string that is not UTF-8"


def test_a_column_with_a_dotted_name_is_read_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    source = parquet(path, pa.table({"q.x": ["1"], "q": [{"x": "2"}], "a": [1]}))
    frames, _ = frames_of(path, source, frozenset({"q.x"}))
    assert rows_of(frames) == [{"q.x": "1", "q": {"x": "2"}}]


def test_small_batches_of_an_arrow_file_are_combined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_files, "_BATCH_ROWS", 2)
    path = tmp_path / "records.arrow"
    with pa.ipc.new_file(str(path), table().schema) as writer:
        writer.write_table(table(), max_chunksize=1)
    frames, why = frames_of(path, HF)
    assert [frame.count for frame in frames] == [2, 1]
    assert (rows_of(frames), why) == ([{"q": "x"}, {"q": "y"}, {"q": "z"}], "")
