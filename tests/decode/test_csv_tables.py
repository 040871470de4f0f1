"""Which CSV files are read by column, and which row ends reading by column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.decode import csv_tables
from tests.decode.frames import read


@pytest.mark.parametrize(
    "data",
    [
        b"q,a\nx,1\ny,2\n",
        b"q,a\nx,1\ny,2",
        b"q,a\r\nx,1\r\ny,2\r\n",
        b"q,a\rx,1\ry,2\r",
        b'\xef\xbb\xbf"q",a\n"x",1\n\n , \n"","\t"\ny,2\n',
    ],
)
def test_rows_of_csv_are_read_by_column(tmp_path: Path, data: bytes) -> None:
    assert read(tmp_path, data, "d.csv") == ([{"q": "x", "a": "1"}, {"q": "y", "a": "2"}], "")


def test_line_ends_in_quotes_are_normalized(tmp_path: Path) -> None:
    data = b'q,a\n"x\r\ny",1\n"x\ry","2\n"\n'
    assert read(tmp_path, data, "d.csv") == (
        [{"q": "x\ny", "a": "1"}, {"q": "x\ny", "a": "2\n"}],
        "",
    )


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (b"q\tx\n1\t2\n", {"dialect": "excel-tab"}),
        (b"q;x\n1;2\n", {"delimiter": ";"}),
        (b"1,2\n", {"fieldnames": ["q", "x"]}),
        (b"q,x\n1,2\n", {"encoding": "UTF_8"}),
    ],
)
def test_dialects_that_differ_in_the_delimiter_are_read_by_column(
    tmp_path: Path, data: bytes, options: dict[str, Any]
) -> None:
    assert read(tmp_path, data, "d.csv", **options) == ([{"q": "1", "x": "2"}], "")


ROW_BY_ROW = "a form of CSV that is only read row by row"
COMPLAINED = "an invalid header"


@pytest.mark.parametrize(
    ("data", "options", "why"),
    [
        (b"q x\n1 2\n", {"delimiter": " "}, ROW_BY_ROW),
        (b"#\nq\n1\n", {"skip_rows": 1}, ROW_BY_ROW),
        (b"q\n1\n", {"encoding": "latin-1"}, ROW_BY_ROW),
        (b"<html><body>\n", {}, "a page or pointer in place of data"),
        (b"", {}, COMPLAINED),
        (b"\nq\n1\n", {}, COMPLAINED),
        (b"q,q\n1,2\n", {}, COMPLAINED),
        (b"q,\xff\n1,2\n", {}, "invalid CSV"),
        (b"q\n\xff\n", {}, "invalid CSV"),
        (b"q," + b"x" * (1 << 16) + b"\n1,2\n", {}, "a header that pyarrow reads differently"),
        (b"1,2\n", {"fieldnames": ["q", "q"]}, "a duplicate column name"),
        (b"q,a\n1\n", {}, "invalid CSV"),
        (b"q,a\n1,2,3\n", {}, "invalid CSV"),
        (b'q,a\n1,"2\n', {}, "an unclosed quote"),
        (b'q,a\n1,2\n"3', {}, "an invalid row"),
    ],
)
def test_csv_that_is_read_row_by_row(
    tmp_path: Path, data: bytes, options: dict[str, Any], why: str
) -> None:
    assert read(tmp_path, data, "d.csv", **options) == ([], why)


def test_rows_before_a_ragged_one_are_read_by_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_tables, "_BLOCK_BYTES", 64)
    data = b"q,a\n" + b"x,1\n" * 100 + b"x\n" + b"x,1\n" * 100
    records, why = read(tmp_path, data, "d.csv")
    assert why == "an invalid row"
    assert 50 < len(records) <= 100
    assert records == [{"q": "x", "a": "1"}] * len(records)
