"""Parquet files of one text column, written byte by byte: headers and footer say whatever they are given."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import pyarrow as pa

__all__ = ["Thrift", "data_page", "dictionary_page", "indices", "levels", "text", "write", "zigzag"]

I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12
RLE_DICTIONARY = 8
ZSTD = 6


def varint(number: int) -> bytes:
    found = b""
    while number > 0x7F:
        found += bytes([number & 0x7F | 0x80])
        number >>= 7
    return found + bytes([number])


def zigzag(number: int) -> bytes:
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)


class Thrift:
    """A struct of Thrift's compact protocol."""

    def __init__(self) -> None:
        self.data = b""
        self._last = 0

    def add(self, number: int, kind: int, value: bytes) -> Self:
        """Add a field; those of smaller numbers come first."""
        self.data += bytes([(number - self._last) << 4 | kind]) + value
        self._last = number
        return self

    def integer(self, number: int, value: int, kind: int = I32) -> Self:
        return self.add(number, kind, zigzag(value))

    def items(self, number: int, kind: int, items: Sequence[bytes]) -> Self:
        return self.add(number, LIST, bytes([len(items) << 4 | kind]) + b"".join(items))

    def name(self, number: int, value: bytes) -> Self:
        return self.add(number, BINARY, varint(len(value)) + value)

    def end(self) -> bytes:
        return self.data + b"\0"


def zstandard(data: bytes) -> bytes:
    return bytes(pa.compress(data, "zstd", asbytes=True))


def text(value: bytes) -> bytes:
    """Return a value as PLAIN encodes it."""
    return struct.pack("<I", len(value)) + value


def run(value: int, count: int) -> bytes:
    """Return a number, of up to 8 bits, that is repeated."""
    return varint(count << 1) + bytes([value])


def indices(count: int) -> bytes:
    """Return so many times the number of the first value of a dictionary."""
    return b"\1" + run(0, count)


def levels(*runs: tuple[int, int]) -> bytes:
    """Return how deep each value of a list is: numbers, and how often each follows."""
    found = b"".join(run(value, count) for value, count in runs)
    return struct.pack("<I", len(found)) + found


def page(kind: int, body: bytes, of_data: tuple[int, bytes], claim: int | None, size: int) -> bytes:
    packed = zstandard(body) * size
    header = Thrift().integer(1, kind)
    header.integer(2, len(body) * size if claim is None else claim).integer(3, len(packed))
    return header.add(of_data[0], STRUCT, of_data[1]).end() + packed


def data_page(
    body: bytes, values: int, *, claim: int | None = None, encoding: int = 0, times: int = 1
) -> bytes:
    """Return a page of values.

    Args:
        body: Its levels and values.
        values: How many it says it has.
        claim: The bytes that it says it unpacks to; None for what is true.
        encoding: That of its values.
        times: How often the body is there.
    """
    of_data = Thrift().integer(1, values).integer(2, encoding).integer(3, 3).integer(4, 3)
    return page(0, body, (5, of_data.end()), claim, times)


def dictionary_page(body: bytes, values: int = 1, *, claim: int | None = None) -> bytes:
    """Return the dictionary of the pages after it."""
    return page(2, body, (7, Thrift().integer(1, values).integer(2, 0).end()), claim, 1)


def write(
    path: Path,
    pages: Sequence[bytes],
    *,
    values: int,
    rows: int | None = None,
    unpacked: int,
    is_list: bool = False,
    dictionary_at: int = 0,
    encodings: Sequence[int] = (0, 3, RLE_DICTIONARY),
    columns: int = 1,
    chunks: int | None = None,
    all_rows: int | None = None,
    kind: int = 6,
    column: bytes = b"q",
    data_at: int = 4,
    sizes: bytes = b"",
    encryption: bytes = b"",
) -> None:
    """Write the file; what is not in the pages is what the footer says of them.

    Args:
        path: The file.
        pages: The pages of the column.
        values: Its values.
        rows: Its rows, if they are not as many.
        unpacked: The bytes that its pages unpack to.
        is_list: Whether its values are lists of texts.
        dictionary_at: Where its dictionary begins; 0 if that is not said.
        encodings: Encodings of its pages.
        columns: Columns that all are these same bytes.
        chunks: How many the row group has, if not as many.
        all_rows: The rows of the whole file, if not those of its row group.
        kind: The type of its values, as the row group says it.
        column: Its name, as the row group says it.
        data_at: Where its values begin, as the row group says it.
        sizes: Statistics of the sizes of its values.
        encryption: How it is encrypted.
    """
    body = b"".join(pages)
    names = [b"q", b"list", b"element"] if is_list else [b"q"]
    leaf = Thrift().integer(1, 6).integer(3, 1 if is_list else 0).name(4, names[-1]).integer(6, 0)
    nodes = [Thrift().name(4, b"schema").integer(5, columns).end()]
    if is_list:
        nodes += [
            Thrift().integer(3, 1).name(4, b"q").integer(5, 1).integer(6, 3).end(),
            Thrift().integer(3, 2).name(4, b"list").integer(5, 1).end(),
        ]
    chunk = Thrift().integer(1, kind).items(2, I32, [zigzag(one) for one in encodings])
    named = [column, *names[1:]]
    chunk.items(3, BINARY, [varint(len(one)) + one for one in named]).integer(4, ZSTD)
    chunk.integer(5, values, I64).integer(6, unpacked, I64).integer(7, len(body), I64)
    chunk.integer(9, data_at, I64)
    if dictionary_at:
        chunk.integer(11, dictionary_at, I64)
    if sizes:
        chunk.add(16, STRUCT, sizes)
    of_group = Thrift().integer(2, 4, I64).add(3, STRUCT, chunk.end())
    if encryption:
        of_group.add(8, STRUCT, encryption)
    count = values if rows is None else rows
    group = Thrift().items(1, STRUCT, [of_group.end()] * (columns if chunks is None else chunks))
    group.integer(2, unpacked, I64).integer(3, count, I64)
    footer = Thrift().integer(1, 1).items(2, STRUCT, [*nodes, *[leaf.end()] * columns])
    footer.integer(3, count if all_rows is None else all_rows, I64).items(4, STRUCT, [group.end()])
    end = footer.end()
    path.write_bytes(b"PAR1" + body + end + struct.pack("<I", len(end)) + b"PAR1")
