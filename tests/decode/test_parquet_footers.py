"""Footers of Parquet that say what can't be: an error, and never the end of the process."""

from __future__ import annotations

import dataclasses
import gc
import json
import random
import subprocess
import sys
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from registry.base.locations import Location
from registry.boundary.boundary import Limits
from registry.decode import decode_tables
from registry.decode.parquet_files import open_parquet
from registry.decode.parquet_footers import read_footer
from registry.decode.stream import SourceBytes
from registry.errors import DecodeError
from registry.manifest.source_models import ParquetSource
from registry.manifest.validation import source_from_arguments
from tests.decode.handmade_parquet import (
    Thrift,
    data_page,
    dictionary_page,
    indices,
    levels,
    text,
    write,
    zigzag,
)

SOURCE = source_from_arguments(ParquetSource, {"path": ["d.parquet"]})
I64, BINARY, STRUCT = 6, 8, 12
MANY = 10**18
HISTOGRAM = Thrift().items(2, I64, [zigzag(1)] * 8).end()
"""Eight numbers of a list's levels, which are two."""
ENCRYPTED = Thrift().add(2, STRUCT, Thrift().items(1, BINARY, [b"\1q"]).end()).end()
READ = """
import dataclasses, json, sys
from pathlib import Path
from typing import Any
from registry.base.locations import Location
from registry.decode.parquet_files import divided, open_parquet
from registry.decode.parquet_footers import InvalidParquetError
from registry.decode.parquet_parts import digest_parts, parts_worth_it
from registry.decode.stream import SourceBytes
from registry.errors import DecodeError

for path in map(Path, sys.argv[1:]):
    file = SourceBytes.of_file(Location(str(path)), path)
    digest_parts(path, ["q"])
    parts_worth_it(path, frozenset("q"))
    with path.open("rb") as data:
        parts = divided(data, 1)
    found = []
    for part, columns in [(None, None), (None, ["q"]), *((part, None) for part in parts[:9])]:
        try:
            with open_parquet(dataclasses.replace(file, row_groups=part)) as opened:
                found.append(sum(batch.num_rows for batch in opened.batches(columns)))
        except (DecodeError, InvalidParquetError) as error:
            found.append(str(error))
    print(json.dumps(found), flush=True)
"""


def read_apart(*paths: Path) -> list[list[str | int]]:
    """Read files in a process of its own: rows or message of all columns, of `q`, of each part."""
    done = subprocess.run(
        [sys.executable, "-c", READ, *map(str, paths)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def lists(path: Path, **lies: Any) -> None:
    body = levels((0, 3)) + levels((3, 3)) + text(b"a") * 3
    write(path, [data_page(body, 3)], values=3, unpacked=90, is_list=True, **lies)


def texts(path: Path, **lies: Any) -> None:
    write(path, [data_page(text(b"a") * 3, 3)], values=3, unpacked=90, **lies)


LIES: Mapping[str, tuple[Callable[[Path], None], str]] = {
    "histogram": (lambda path: lists(path, sizes=HISTOGRAM), "histogram size mismatch, size: 8"),
    "encrypted": (lambda path: texts(path, encryption=ENCRYPTED), "decrypt"),
    "fewer rows": (lambda path: texts(path, rows=2), "'q' has 3 values of 90 bytes in 2 rows"),
    "more rows": (lambda path: texts(path, rows=4), "'q' has 3 values of 90 bytes in 4 rows"),
    "no data": (lambda path: texts(path, data_at=0, dictionary_at=4), "'q' begins nowhere"),
    "no dictionary": (lambda path: texts(path, dictionary_at=-4), "'q' begins nowhere"),
    "all rows": (lambda path: texts(path, all_rows=4), "have 3 rows, while the footer says 4"),
    "more lists": (
        lambda path: write(
            path,
            [data_page(levels((0, 1), (1, 2)) + levels((3, 3)) + text(b"a") * 3, 3)],
            values=3,
            rows=2,
            unpacked=90,
            is_list=True,
        ),
        "row group 1 has 1 rows, while the footer says 2",
    ),
    "negative rows": (lambda path: texts(path, rows=-3), "row group 1 has -3 rows of 1 columns"),
    "another column": (lambda path: texts(path, chunks=2), "of 2 columns, while the schema has 1"),
    "no column": (lambda path: texts(path, chunks=0), "of 0 columns, while the schema has 1"),
}


def test_a_lie_of_the_footer_is_an_error(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.parquet" for name in LIES]
    for path, (make, _) in zip(paths, LIES.values(), strict=True):
        make(path)
    found = dict(zip(LIES, read_apart(*paths), strict=True))
    for name, (_, message) in LIES.items():
        assert all(message in str(one) for one in found[name]), found
    assert str(found["histogram"][0]).endswith(" (get it again, or write it anew)")


def test_any_mutation_of_a_footer_is_read_or_an_error(tmp_path: Path) -> None:
    rows = [{"q": f"question {n % 7}", "l": ["x", "y"] * (n % 3), "n": n} for n in range(60)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "d.parquet", row_group_size=20)
    whole = (tmp_path / "d.parquet").read_bytes()
    start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    chosen = random.Random(7)
    paths = [tmp_path / f"{number}.parquet" for number in range(300)]
    for path in paths:
        data = bytearray(whole)
        for _ in range(chosen.choice((1, 1, 2))):
            at = chosen.randrange(start, len(data) - 8)
            data[at] = chosen.choice((0, 1, 0x7F, 0x80, 0xFF, data[at] ^ 1 << chosen.randrange(8)))
        path.write_bytes(data)
    found = read_apart(*paths)
    assert len(found) == len(paths)
    assert any(one[0] == len(rows) for one in found)
    assert any("not a Parquet file" in str(one[0]) for one in found)


@pytest.mark.parametrize("lie", [{"column": b"other"}, {"kind": 2}], ids=["name", "type"])
def test_a_column_is_what_the_schema_says(tmp_path: Path, lie: dict[str, Any]) -> None:
    path = tmp_path / "d.parquet"
    first = dictionary_page(text(b"a" * 1_000_000))
    pages = [first, data_page(indices(1000), 1000, encoding=8)]
    write(path, pages, values=1000, unpacked=1_100_000, dictionary_at=4, **lie)
    file = SourceBytes(Location("d.parquet"), lambda: path.open("rb"), limits=Limits())
    frames = decode_tables(file, SOURCE, frozenset("q"))
    assert max(frame.size or 0 for frame in frames) < 1 << 27


@pytest.mark.parametrize("has_dictionary", [True, False])
def test_a_row_group_without_rows_has_no_pages(tmp_path: Path, has_dictionary: bool) -> None:
    empty = pa.table({"q": pa.array([], pa.string()), "l": pa.array([], pa.list_(pa.int64()))})
    path = tmp_path / "d.parquet"
    with pq.ParquetWriter(path, empty.schema, use_dictionary=has_dictionary) as writer:
        writer.write_table(empty)
        writer.write_table(pa.table({"q": ["a"], "l": [[1]]}))
        writer.write_table(empty)
    assert read_apart(path)[0][:2] == [1, 1]


def test_no_footer_stays_in_memory(tmp_path: Path) -> None:
    texts(tmp_path / "d.parquet")
    with (tmp_path / "d.parquet").open("rb") as data:
        metadata = weakref.ref(read_footer(data))
    gc.collect()
    assert metadata() is None


def test_rows_of_which_no_column_is_read_are_counted(tmp_path: Path) -> None:
    texts(tmp_path / "d.parquet")
    write(tmp_path / "empty.parquet", [b"-"], values=MANY, unpacked=9, columns=0)
    with open_parquet(SourceBytes.of_file(Location("d"), tmp_path / "d.parquet")) as opened:
        opened.rows = 2
        assert [batch.num_rows for batch in opened.batches([])] == [2, 1]
    # pyarrow ends the process, for want of memory.
    empty = SourceBytes.of_file(Location("d"), tmp_path / "empty.parquet")
    with open_parquet(empty) as opened:
        assert next(opened.batches()).num_rows == 1
    limited = dataclasses.replace(empty, limits=Limits())
    with pytest.raises(DecodeError, match="more than 100,000,000 rows"), open_parquet(limited):
        pass
