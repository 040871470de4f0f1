"""Parquet files within limits, whatever few bytes of them stand for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from registry.base.locations import Location
from registry.boundary.boundary import Limits
from registry.decode import decode
from registry.decode.parquet_files import open_parquet
from registry.decode.parquet_footers import InvalidParquetError
from registry.decode.stream import SourceBytes
from registry.errors import DecodeError
from registry.manifest.source_models import ParquetSource
from registry.manifest.validation import source_from_arguments

LONG = "x" * 1_000_000


def write(path: Path, table: pa.Table, **options: Any) -> SourceBytes:
    pq.write_table(table, path, **{"store_schema": False, **options})
    return SourceBytes(Location("d.parquet"), lambda: path.open("rb"), limits=Limits())


def dictionary(values: list[str], rows: int) -> pa.Table:
    indices = pa.array(np.arange(rows, dtype=np.int32) % len(values))
    return pa.table({"q": pa.DictionaryArray.from_arrays(indices, pa.array(values))})


def most_rows(file: SourceBytes) -> int:
    with open_parquet(file) as opened:
        opened.rows = 1 << 30
        no_rows = pytest.raises(InvalidParquetError, match="row group 1 has 0 rows, while the foo")
        with mock.patch.object(opened.parquet, "iter_batches", return_value=[]) as read, no_rows:
            list(opened.batches())
    return int(read.call_args.args[0])


FIFTY = pa.array(np.arange(0, 101, 2, dtype=np.int32))
SHAPES: dict[str, Callable[[pa.Array], pa.Array]] = {
    "plain": lambda column: column,
    "struct": lambda column: pa.StructArray.from_arrays([column], ["x"]),
    "list": lambda column: pa.ListArray.from_arrays(FIFTY, column),
    "large list": lambda column: pa.LargeListArray.from_arrays(FIFTY.cast(pa.int64()), column),
    "fixed list": lambda column: pa.FixedSizeListArray.from_arrays(column, 2),
    "map": lambda column: pa.MapArray.from_arrays(FIFTY, pa.array(["k", "l"] * 50), column),
}


def nested(values: list[str], rows: int) -> pa.Table:
    one_each = np.arange(rows + 1, dtype=np.int32)
    column = dictionary(values, rows)["q"].combine_chunks()
    return pa.table({"q": pa.ListArray.from_arrays(pa.array(one_each), column)})


# Made by the test that needs it: together they take gigabytes, which every process of a run would
# otherwise hold from collection to the end.
@pytest.mark.parametrize(
    ("table", "options", "rows"),
    [
        (lambda: dictionary(["a", LONG], 20_000), {"dictionary_pagesize_limit": 10**7}, 67),
        (lambda: dictionary([str(number) for number in range(5000)], 20_000), {}, 1 << 20),
        (lambda: dictionary(["a" * 100_000] * 3, 1_000), {}, 671),
        (
            lambda: pa.table({"q": [LONG + str(number) for number in range(90)]}),
            {"use_dictionary": False, "column_encoding": {"q": "DELTA_BYTE_ARRAY"}},
            33,
        ),
        (lambda: pa.table({"q": pa.array([b"x" * 1_000_000] * 9, pa.binary(1_000_000))}), {}, 67),
        (lambda: nested([LONG], 2_000), {"dictionary_pagesize_limit": 10**7}, 67),
        (lambda: pa.table({"q": [1, 2]}), {}, 1 << 26),
    ],
    ids=["one long", "short", "long", "delta", "fixed", "nested", "numbers"],
)
def test_rows_at_a_time_fit_into_memory(
    tmp_path: Path, table: Callable[[], pa.Table], options: dict[str, Any], rows: int
) -> None:
    found = most_rows(write(tmp_path / "d.parquet", table(), **options))
    # A little less where the width includes the length of a value.
    assert found in (rows, rows - 1) or (rows >= 1 << 20 and found >= 1 << 12)


def error_of(file: SourceBytes) -> str:
    source = source_from_arguments(ParquetSource, {"path": ["d.parquet"]})
    with pytest.raises(DecodeError) as caught:
        list(decode(file, source))
    return str(caught.value)


def test_rows_and_bytes_have_limits(tmp_path: Path) -> None:
    file = write(tmp_path / "d.parquet", pa.table({"q": ["abc"] * 50}))
    for limits, message in [
        (Limits(records=49), "the file has more than 49 rows (`limits: {records: …}`"),
        (Limits(unpacked_bytes=10), "the file unpacks to more than 10 bytes"),
    ]:
        limited = SourceBytes(file.location, file.open, limits=limits)
        assert error_of(limited).startswith(f"d.parquet: {message}")


def test_a_page_that_unpacks_to_much_more_is_refused(tmp_path: Path) -> None:
    table = pa.table({"q": ["0" * (1 << 20)] * 100})
    file = write(tmp_path / "d.parquet", table, compression="zstd", use_dictionary=False)
    assert "bytes of the column 'q' unpack to 104," in error_of(file)
    assert "more than 200 bytes (`limits: {ratio: …}`" in error_of(file)


@pytest.mark.parametrize("shape", [*SHAPES, None])
def test_rows_that_decode_to_much_more_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str | None
) -> None:
    monkeypatch.setattr("registry.decode.parquet_files.HARMLESS_BYTES", 1 << 24)
    column = dictionary(["a", LONG], 100)["q"].combine_chunks()
    # The schema of Arrow makes pyarrow return numbers of the dictionary.
    table = pa.table({"q": column if shape is None else SHAPES[shape](column)})
    options = {"store_schema": shape is not None, "dictionary_pagesize_limit": 10**7}
    file = write(tmp_path / "d.parquet", table, **options)
    assert "so each gives more than 200 bytes (`limits: {ratio: …}`" in error_of(file)


def test_name_of_a_column_that_is_not_utf_8_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"question": ["a"]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"question", b"quest\xffon"))
    file = SourceBytes.of_file(Location(str(path)), path)
    with pytest.raises(InvalidParquetError, match="can't decode byte 0xff"), open_parquet(file):
        pass
