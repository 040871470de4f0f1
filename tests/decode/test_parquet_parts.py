"""Parts of a Parquet file have one digest, and are read as the file is."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from registry.decode.parquet_parts import (
    PartsFile,
    bytes_of,
    digest_parts,
    header_of,
    parts_worth_it,
    places_of,
)
from tests.decode.wide import chunk, wide

WANTED = frozenset({"c07", "c30", "absent"})
COLUMNS = ["c07", "c30"]


class MoreError(Exception):
    """More than the parts is read."""


@pytest.fixture
def data(tmp_path: Path) -> bytes:
    return wide(tmp_path / "wide.parquet")


@pytest.fixture
def parts_file(data: bytes, tmp_path: Path) -> Path:
    whole = io.BytesIO(data)
    places, size = places_of(whole, COLUMNS)
    path = tmp_path / "parts"
    path.write_bytes(header_of(places, size) + b"".join(bytes_of(whole, places)))
    return path


def test_parts_are_read_as_the_file_is(parts_file: Path, data: bytes) -> None:
    with PartsFile(parts_file, MoreError()) as file:
        table = pq.ParquetFile(file).read(COLUMNS)
        assert table.equals(pq.read_table(io.BytesIO(data), columns=COLUMNS))
        assert file.seek(0, io.SEEK_END) == len(data)
        assert file.read() == b""


def test_to_read_more_is_an_error(parts_file: Path, data: bytes) -> None:
    used, unused = chunk(data, "c07"), chunk(data, "c08")
    with PartsFile(parts_file, MoreError()) as file:
        file.expect([used])
        file.seek(used.start)
        assert file.read(len(used)) == data[used.start : used.stop]
        with pytest.raises(MoreError):
            file.read()
        file.seek(unused.start)
        with pytest.raises(MoreError):
            file.read(10)
        with pytest.raises(MoreError):
            file.expect([used, unused])


def test_another_file_is_not_taken_for_parts(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"PAR1\n")
    with pytest.raises(MoreError):
        PartsFile(tmp_path / "other", MoreError())


def test_the_digest_is_that_of_the_parts_alone(data: bytes, tmp_path: Path) -> None:
    pinned = parts_worth_it(tmp_path / "wide.parquet", WANTED)
    assert pinned is not None
    assert pinned.size < len(data) // 10
    for column, is_same in (("c08", True), ("c07", False), ("c30", False)):
        changed = bytearray(data)
        changed[chunk(data, column, 2).stop - 1] ^= 1
        (tmp_path / "changed").write_bytes(changed)
        assert (digest_parts(tmp_path / "changed", COLUMNS) == pinned) is is_same
    (tmp_path / "changed").write_bytes(data[:-8] + data[:8])
    assert digest_parts(tmp_path / "changed", COLUMNS) is None
    other = digest_parts(tmp_path / "wide.parquet", ["c07"])
    assert other is not None
    assert other.sha256 != pinned.sha256


def test_parts_must_be_worth_it(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "wide.parquet"
    assert parts_worth_it(path, WANTED) is not None
    assert parts_worth_it(path, frozenset(f"c{number:02}" for number in range(30))) is None
    assert parts_worth_it(path, frozenset({"absent"})) is None
    wide(path, groups=100)  # a request for each
    assert parts_worth_it(path, WANTED) is None
    path.write_bytes(b"no Parquet")
    assert parts_worth_it(path, WANTED) is None


@pytest.mark.parametrize("name", ["a.b", "twice"])
def test_columns_that_only_records_tell_apart_have_no_parts(tmp_path: Path, name: str) -> None:
    names = [*map(str, range(7)), name, name if name == "twice" else "other"]
    table = pa.table([pa.array([os.urandom(1 << 20)])] * len(names), names=names)
    pq.write_table(table, tmp_path / "a.parquet", compression="none", use_dictionary=False)
    assert parts_worth_it(tmp_path / "a.parquet", frozenset({name})) is None
    assert (parts_worth_it(tmp_path / "a.parquet", frozenset({"1"})) is None) is (name == "twice")
