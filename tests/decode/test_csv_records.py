"""Rows of CSV as dicts of str, and errors of invalid rows."""

from __future__ import annotations

import io
from contextlib import nullcontext
from typing import Any

import pytest

from registry.base.locations import Location
from registry.decode.csv_records import end_of_rows, read_csv
from registry.decode.stream import SourceBytes
from registry.errors import DecodeError
from registry.manifest.source_models import CsvSource
from registry.manifest.validation import source_from_arguments


def read(data: bytes, *, strict: bool = True, **options: Any) -> list[dict[str, Any]]:
    file = SourceBytes(Location("d.csv"), lambda: nullcontext(io.BytesIO(data)))
    return list(
        read_csv(
            file, source_from_arguments(CsvSource, {"path": ["d.csv"], **options}), strict=strict
        )
    )


X1 = [{"q": "x", "a": "1"}]


@pytest.mark.parametrize(
    ("data", "options", "records"),
    [
        (b"q,a\nx,1\n", {}, X1),
        (b"q,a\nx,1", {}, X1),
        (b"\xef\xbb\xbfq,a\r\nx,1\r\n", {}, X1),
        (b'q,a\n"x","1"\n', {}, X1),
        (b'q,a\n"x\r\ny","""1"""\n', {}, [{"q": "x\ny", "a": '"1"'}]),
        (b"q,a\n,\n", {}, []),
        (b"q,a\n\n \t, \n\nx,1\n", {}, X1),
        (b"q,a\nx,\n", {}, [{"q": "x", "a": ""}]),
        (b"q,a\nnull,NaN\n", {}, [{"q": "null", "a": "NaN"}]),
        (b"q;a\nx;1\n", {"delimiter": ";"}, X1),
        (b"q\ta\nx\t1\n", {"dialect": "excel-tab"}, X1),
        (b"x,1\n", {"fieldnames": ["q", "a"]}, X1),
        (b"# one\n# two\nq,a\nx,1\n", {"skip_rows": 2}, X1),
        (b"# one\nx,1\n", {"skip_rows": 1, "fieldnames": ["q", "a"]}, X1),
        (b"q,a\n", {}, []),
        (b"caf\xe9\nx\n", {"encoding": "latin-1"}, [{"café": "x"}]),
    ],
)
def test_rows(data: bytes, options: dict[str, Any], records: list[dict[str, str]]) -> None:
    assert read(data, **options) == records


def test_a_cell_may_be_longer_than_the_limit_of_the_csv_module() -> None:
    text = "x" * 200_000
    assert read(f"q\n{text}\n".encode()) == [{"q": text}]


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (b"", {}, "d.csv: the file has no header row"),
        (b"\nq\nx\n", {}, "d.csv:1: the file has no header row"),
        (b"q\n", {"skip_rows": 5}, "d.csv: the file has no header row"),
        (b"q,a,q\n1,2,3\n", {}, "d.csv:1: duplicate column 'q' in the header"),
        (b"1,2\n", {"fieldnames": ["q", "q"]}, "d.csv: duplicate column 'q' in the header"),
        (b"q,a\nx\n", {}, "d.csv:2: line 2 has 1 field, the header has 2. No value for: a"),
        (
            b'q,a\n"x\n\ny",1,2,3\n',
            {},
            "d.csv:4: line 4 has 4 fields, the header has 2. Unexpected values: ['2', '3']",
        ),
        (b'q,a\nx,1\n"y,2\nz,3\n', {}, "d.csv:3: a quote that opens in this row is never closed"),
        (b'q,a\nx,"', {}, "d.csv:2: a quote that opens in this row is never closed"),
        (b"q\n\xff\n", {}, "d.csv:2: byte 0xff is not utf-8 (set `encoding`, such as latin-1)"),
    ],
)
def test_an_invalid_file_is_an_error_with_its_line(
    data: bytes, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        read(data, **options)
    assert str(caught.value) == message


@pytest.mark.parametrize(("data", "records"), [(b"", []), (b"q,q\n1,2\n", [{"q": "2"}])])
def test_loaders_accept_files_that_lose_data(data: bytes, records: list[dict[str, str]]) -> None:
    assert read(data, strict=False) == records


def test_rows_before_an_error_are_yielded() -> None:
    file = SourceBytes(Location("d.csv"), lambda: nullcontext(io.BytesIO(b"q\nx\ny,z\n")))
    rows = read_csv(file, CsvSource(path=("d.csv",)), strict=True)
    assert next(rows) == {"q": "x"}
    with pytest.raises(DecodeError):
        next(rows)


def test_the_end_of_rows_differs_each_time_and_needs_no_quotes() -> None:
    assert end_of_rows() != end_of_rows()
    assert len(end_of_rows()) == 16
    assert all(0xE000 <= ord(character) < 0xE100 for character in end_of_rows())
