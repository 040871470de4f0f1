"""Streams with limits: how much they unpack to, and how long their lines are."""

from __future__ import annotations

import gzip
import io
from contextlib import nullcontext
from pathlib import Path

import pytest

from registry.base.locations import Location
from registry.boundary.boundary import Limits
from registry.decode import decode, decode_tables
from registry.decode.bounded import first_line_over
from registry.decode.frame import NotColumnarError
from registry.decode.stream import SourceBytes, open_bytes
from registry.errors import DecodeError
from registry.manifest.source_models import CsvSource, JsonSource
from registry.manifest.validation import source_from_arguments

LIMITS = Limits(line_bytes=1000, document_bytes=2000, unpacked_bytes=5000, ratio=10)


def file(data: bytes, name: str, limits: Limits = LIMITS) -> SourceBytes:
    return SourceBytes(Location(name), lambda: nullcontext(io.BytesIO(data)), limits=limits)


def error_of(data: bytes, name: str, encoding: str = "utf-8", **options: object) -> str:
    model = CsvSource if ".csv" in name else JsonSource
    source = source_from_arguments(model, {"path": [name], "encoding": encoding, **options})
    with pytest.raises(DecodeError) as caught:
        list(decode(file(data, name), source))
    return str(caught.value)


LONG = "x" * 1001
ROW = "a\nb\n" + '"' + "y\n" * 501 + '"\n'
RAISES = "(`limits: {line_bytes: …}` in the root index raises the limit)"


@pytest.mark.parametrize(
    ("text", "name", "place"),
    [
        (f"a\n1\n{LONG}\n2\n", "d.csv", "d.csv:3: the line has"),
        (f"a\n1\n2\n{LONG}", "d.csv", "d.csv:4: the line has"),
        (ROW, "d.csv", "d.csv:3: the row has"),
        (f'{{"a": 1}}\n{{"a": "{LONG}"}}\n', "d.jsonl", "d.jsonl:2: the line has"),
        (f"a\r1\r{LONG}\r", "d.csv", "d.csv:3: the line has"),
    ],
)
def test_a_long_line_is_an_error_with_its_number(text: str, name: str, place: str) -> None:
    assert error_of(text.encode(), name) == f"{place} more than 1,000 bytes {RAISES}"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "cp500", "latin-1"])
def test_long_lines_of_other_encodings_are_errors(encoding: str) -> None:
    short = "ਅ一" if "utf" in encoding else "éé"  # U+0A05 and U+4E00 have the bytes 0x0a 0x00
    assert "more than 1,000 bytes" in error_of((short * 600).encode(encoding), "d.csv", encoding)
    source = source_from_arguments(CsvSource, {"path": ["d.csv"], "encoding": encoding})
    lines = "a\n" + f"{short * 10}\n" * 30
    assert len(list(decode(file(lines.encode(encoding), "d.csv"), source))) == 30


def test_a_large_document_is_an_error() -> None:
    text = b'[{"a": "' + b"x" * 3000 + b'"}]'
    raises = RAISES.replace("line", "document")
    assert error_of(text, "d.json") == f"d.json: the document has more than 2,000 bytes {raises}"


@pytest.mark.parametrize("name", ["d.json", "d.json.gz"])
@pytest.mark.parametrize("unit", [b"{}", b"[]", b"[[]]", b"1", b'""'])
def test_a_document_of_many_values_is_an_error(unit: bytes, name: str) -> None:
    limits = Limits(document_bytes=2000)
    most, do = (4_000, "unpack it, or write") if name.endswith(".gz") else (16_000, "write")

    def packed(data: bytes) -> SourceBytes:
        return file(gzip.compress(data) if name.endswith(".gz") else data, name, limits)

    source = source_from_arguments(JsonSource, {"path": [name]})
    text = b'[{"a": [' + b",".join([unit] * 300) + b"]}]"
    raises = f"({do} JSON Lines, which are read line by line; `limits: {{document_bytes: …}}` in"
    with pytest.raises(DecodeError) as caught:
        list(decode(packed(text), source))
    message = f"{name}: the values of the document may take more than {most:,} bytes of memory "
    assert str(caught.value).startswith(message + raises)
    with pytest.raises(DecodeError, match="the values of the document may take more"):
        list(decode_tables(packed(text), source, None))
    few = b'[{"a": [' + b",".join([unit] * 20) + b"]}]"
    assert list(decode(packed(few), source))


def test_unpacked_bytes_and_their_ratio_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(data: bytes, limits: Limits) -> int:
        with open_bytes(file(gzip.compress(data), "d.csv.gz", limits), harmless=100) as opened:
            return len(opened.read())

    assert read(b"x" * 5000, Limits(unpacked_bytes=5000, ratio=1000)) == 5000
    with pytest.raises(DecodeError, match=r"d\.csv\.gz: the file unpacks to more than 4,999 bytes"):
        read(b"x" * 5000, Limits(unpacked_bytes=4999, ratio=1000))
    assert read(b"x" * 100, Limits(ratio=1)) == 100
    message = r"packed bytes unpack to 5,000, so each gives more than 10 bytes .`limits: {ratio: …}"
    with pytest.raises(DecodeError, match=message):
        read(b"x" * 5000, Limits(ratio=10))


def test_columns_end_where_a_line_is_too_long(tmp_path: Path) -> None:
    source = source_from_arguments(JsonSource, {"path": ["d.jsonl"]})
    data = b'{"a": "' + b"x" * 995 + b'"}\n'
    with pytest.raises(NotColumnarError, match="too long"):
        list(
            decode_tables(file(b'{"a": "1"}\n' * 20 + data * 2, "d.jsonl"), source, frozenset("a"))
        )
    short = data.replace(b"x" * 20, b"")
    (frame,) = decode_tables(file(short * 20, "d.jsonl"), source, frozenset("a"))
    assert frame.count == 20


def test_the_line_of_a_byte_is_counted_from_one() -> None:
    assert first_line_over(io.BytesIO(b"a\nb\nc"), 0) == 1
    assert first_line_over(io.BytesIO(b"a\nb\nc"), 4) == 3
    assert first_line_over(io.BytesIO(b"a\rb\rc"), 4) == 3
