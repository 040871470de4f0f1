"""Pages of Parquet whose headers claim other than the footer, as whoever wants to exhaust memory writes them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from registry.base.locations import Location
from registry.boundary.boundary import Limits
from registry.decode import decode, decode_tables
from registry.decode.frame import NotColumnarError
from registry.decode.parquet_pages import InvalidPageError, page_at
from registry.decode.stream import SourceBytes
from registry.errors import DecodeError
from registry.manifest.source_models import ParquetSource
from registry.manifest.validation import source_from_arguments
from tests.decode.handmade_parquet import data_page, dictionary_page, indices, levels, text, write

SOURCE = source_from_arguments(ParquetSource, {"path": ["d.parquet"]})
MANY = 20_000_000
ONE_ROW = levels((0, 1), (1, MANY - 1)) + levels((3, MANY)) + indices(MANY)
HINT = " (it is damaged, or made to exhaust memory; get it again, or write it anew)"


def opened(path: Path, **limits: int) -> SourceBytes:
    return SourceBytes(Location("d.parquet"), lambda: path.open("rb"), limits=Limits(**limits))


def claim(path: Path, unpacked: int = 9) -> None:
    write(path, [data_page(text(b"a"), 1, claim=2_000_000_000)], values=1, unpacked=unpacked)


def values(path: Path) -> None:
    write(path, [data_page(text(b"a") * 3, 3)], values=2, unpacked=90)


def dictionary(path: Path) -> None:
    pages = [dictionary_page(text(b"a" * 1000)), data_page(indices(9), 9, encoding=8)]
    write(path, pages, values=9, unpacked=90, dictionary_at=4)


def late_dictionary(path: Path) -> None:
    pages = [data_page(text(b"a"), 1), dictionary_page(text(b"a" * 1000))]
    write(path, [*pages, data_page(indices(9), 9, encoding=8)], values=10, unpacked=9000)


def hidden_delta(path: Path) -> None:
    write(path, [data_page(b"\0" * 99, 9, encoding=7)], values=9, unpacked=99)


def long_row(path: Path) -> None:
    pages = [dictionary_page(text(b"a" * 1000)), data_page(ONE_ROW, MANY, encoding=8)]
    write(path, pages, values=MANY, unpacked=2000, is_list=True, dictionary_at=4)


def shared(path: Path) -> None:
    write(path, [data_page(text(b"a"), 1)], values=1, unpacked=90, columns=2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (claim, "claim to unpack to 2,000,000,000 bytes, while the footer says 9" + HINT),
        (values, "the pages of the column 'q' claim 3 values, while the footer says 2" + HINT),
        (dictionary, "claim to unpack to 1,004 bytes, while the footer says 90" + HINT),
        (late_dictionary, "has a dictionary after its values, where no reader expects it" + HINT),
        (hidden_delta, "is encoded as DELTA_BYTE_ARRAY, while the footer says otherwise" + HINT),
        (long_row, "may decode to 20,080,000,000 in a row, so each gives more than 200 bytes"),
        (shared, "not a Parquet file, or a damaged one: two columns have the same bytes"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_what_the_footer_does_not_say_is_refused_before_it_is_decoded(
    tmp_path: Path, make: Callable[[Path], None], message: str
) -> None:
    make(tmp_path / "d.parquet")
    used = pa.total_allocated_bytes()
    with pytest.raises(DecodeError) as caught:
        list(decode(opened(tmp_path / "d.parquet"), SOURCE))
    assert str(caught.value).startswith("d.parquet: ")
    assert message in str(caught.value)
    assert pa.total_allocated_bytes() - used < 1 << 20
    with pytest.raises((DecodeError, NotColumnarError)):
        list(decode_tables(opened(tmp_path / "d.parquet"), SOURCE, None))


def test_a_dictionary_is_where_the_pages_begin_whatever_the_footer_says(tmp_path: Path) -> None:
    first = dictionary_page(text(b"a" * 1_000_000))
    pages = [first, data_page(indices(1000), 1000, encoding=8)]
    at = 4 + len(first)
    write(tmp_path / "d.parquet", pages, values=1000, unpacked=1_100_000, dictionary_at=at)
    frames = decode_tables(opened(tmp_path / "d.parquet"), SOURCE, None)
    assert max(frame.size or 0 for frame in frames) < 1 << 27


def test_a_page_that_is_larger_than_a_document_is_refused(tmp_path: Path) -> None:
    claim(tmp_path / "d.parquet", unpacked=2_000_000_000)
    with pytest.raises(DecodeError, match="a page of the column 'q' unpacks to more than 536,870"):
        list(decode(opened(tmp_path / "d.parquet", ratio=1 << 40), SOURCE))


def test_a_row_group_of_many_columns_counts_as_a_whole(tmp_path: Path) -> None:
    columns = {f"q{number}": ["a" * 9_000_000] for number in range(40)}
    path = tmp_path / "d.parquet"
    pq.write_table(pa.table(columns), path, compression="zstd", use_dictionary=False)
    with pytest.raises(DecodeError, match="bytes of a row group unpack to 360,00"):
        list(decode(opened(path), SOURCE))


def test_true_lists_of_a_dictionary_are_read_however_often_they_repeat_it(tmp_path: Path) -> None:
    texts = ["long " * 5000, *map(str, range(40))]
    rows = [{"q": [texts[row % 41], texts[(row * 7) % 40 + 1]]} for row in range(30_000)]
    path = tmp_path / "d.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    assert list(decode(opened(path), SOURCE)) == rows


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "brotli", "lz4"])
def test_each_form_of_page_is_read(tmp_path: Path, codec: str, version: str) -> None:
    rows: list[dict[str, Any]] = [
        {"q": f"question {n % 300}", "n": n, "f": n / 3, "l": [{"t": str(n)}] * (n % 3), "x": None}
        for n in range(3000)
    ]
    table = pa.Table.from_pylist(rows)
    options: dict[str, Any] = {"compression": codec, "data_page_version": version}
    pq.write_table(table, path := tmp_path / "d.parquet", data_page_size=1000, **options)
    assert list(decode(opened(path), SOURCE)) == rows
    found = pq.ParquetFile(path).metadata.row_group(0)
    with path.open("rb") as data:
        for number in range(found.num_columns):
            chunk = found.column(number)
            at = chunk.dictionary_page_offset or chunk.data_page_offset
            end, unpacked, count = at + chunk.total_compressed_size, 0, 0
            while at < end:
                page = page_at(data, range(at, end))
                at, unpacked = at + page.size + page.packed, unpacked + page.size + page.unpacked
                count += page.values
            assert (at, unpacked, count) == (end, chunk.total_uncompressed_size, chunk.num_values)


@pytest.mark.parametrize(
    "data",
    [b"", b"\x15", b"\xff" * 40, b"\x1c" * 40, b"\x15\x00\x15\x01\x15\x02\x00", b"\x00"],
    ids=["nothing", "cut", "ones", "nested", "negative", "empty"],
)
def test_other_bytes_are_no_header(data: bytes) -> None:
    with pytest.raises(InvalidPageError, match="no header of a page"):
        page_at(io.BytesIO(data), range(len(data)))
