"""Look at the headers of Parquet's pages as they are read: they must claim what the footer says."""

from __future__ import annotations

import io
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from registry.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.boundary.boundary import Limits
    from registry.decode.stream import Ranges

__all__ = ["FOOTER_SAYS", "CheckedPages", "InvalidPageError", "Page", "page_at"]

FOOTER_SAYS = "while the footer says"

DICTIONARY_PAGE = 2
DELTA_BYTE_ARRAY = 7
_HARMLESS_EXCESS = 1 << 26
"""Bytes that pages of a row group may unpack to beyond what the footer says, as some writers
count otherwise."""
_FIRST_LOOK, _LARGEST_HEADER = 1 << 8, 1 << 24
_MOST_NESTED = 8
_NO_HEADER = "no header of a page where one has to be"
_VALUES, _ENCODING = 1, 2
_DATA_HEADERS = {5: _ENCODING, 8: 4}
"""Field of a page's header with that of its data → field of its encoding; versions 1 and 2."""


class InvalidPageError(Exception):
    """Bytes where a page begins are not its header."""


class Page(NamedTuple):
    """What the header of a page claims."""

    kind: int
    unpacked: int
    packed: int
    values: int
    """0 if it has no data."""
    encoding: int
    size: int
    """Bytes of the header."""

    @property
    def is_dictionary(self) -> bool:
        """Whether it has the dictionary of the pages after it."""
        return self.kind == DICTIONARY_PAGE


def page_at(data: IO[bytes] | Ranges | CheckedPages, place: range) -> Page:
    """Return the page that begins a part of a file, whose own position stays.

    Raises:
        InvalidPageError: there is none.
    """
    before, size = data.tell(), _FIRST_LOOK
    try:
        while True:
            data.seek(place.start)
            found = data.read(min(size, len(place)))
            page = _page(found)
            if page is not None:
                return page
            if len(found) < size or size >= _LARGEST_HEADER:
                raise InvalidPageError(_NO_HEADER)
            size <<= 4
    finally:
        data.seek(before)


def _page(data: bytes) -> Page | None:
    """Return the page whose header begins some bytes; None if they end before it does."""
    try:
        fields, size = _struct(data, 0, _MOST_NESTED)
    except IndexError:
        return None
    kind, unpacked, packed = (fields.get(number, -1) for number in (1, 2, 3))
    if not all(type(one) is int and one >= 0 for one in (kind, unpacked, packed)):
        raise InvalidPageError(_NO_HEADER)
    values = encoding = 0
    for number, of_encoding in _DATA_HEADERS.items():
        if isinstance(own := fields.get(number), dict):
            values, encoding = own.get(_VALUES, -1), own.get(of_encoding, -1)
    if type(values) is not int or values < 0:
        raise InvalidPageError(_NO_HEADER)
    return Page(kind, unpacked, packed, values, encoding, size)


# Thrift's compact protocol: a byte for the distance to the field before, and the type.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, 7, 8, 12
_INTEGERS = (4, 5, 6)


def _struct(data: bytes, at: int, nested: int) -> tuple[dict[int, Any], int]:
    """Return the integers and structs of a struct by their numbers, and where it ends.

    Raises:
        IndexError: the data ends before.
        InvalidPageError: it is of another form than any header.
    """
    if not nested:
        raise InvalidPageError(_NO_HEADER)
    fields: dict[int, Any] = {}
    number = 0
    while kind := data[at]:
        at += 1
        if kind >> 4:
            number += kind >> 4
        else:
            number, at = _integer(data, at)
        kind &= 15
        if kind in _INTEGERS:
            fields[number], at = _integer(data, at)
        elif kind == _STRUCT:
            fields[number], at = _struct(data, at, nested - 1)
        elif kind == _BINARY:
            length, at = _unsigned(data, at)
            at += length
        elif kind in (_BYTE, _DOUBLE):
            at += 1 if kind == _BYTE else 8
        elif kind not in (_TRUE, _FALSE):
            raise InvalidPageError(_NO_HEADER)
    return fields, at + 1


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at
        if shift > 63:
            raise InvalidPageError(_NO_HEADER)


def _integer(data: bytes, at: int) -> tuple[int, int]:
    number, at = _unsigned(data, at)
    return (number >> 1) ^ -(number & 1), at


@dataclass
class _Column:
    """The pages of a column in a row group that have been seen."""

    chunk: Any
    place: range
    next: int
    """Where the next page begins."""
    unpacked: int = 0
    values: int = 0
    pages: int = 0


class CheckedPages(io.RawIOBase):
    """A Parquet file whose columns end with an error at a page that claims more than the footer.

    All bounds of memory are computed from the footer, and whoever decodes a page allocates first
    what its header claims. The headers are looked at as they pass, so nothing is read twice.
    """

    def __init__(self, data: IO[bytes] | Ranges, file: str, limits: Limits) -> None:
        """Check nothing yet.

        Args:
            data: The file.
            file: Its location, for messages.
            limits: How large it may be.
        """
        super().__init__()
        self._data = data
        self._file = file
        self._limits = limits
        self._columns: list[_Column] = []
        self._starts: list[int] = []
        self._excess = 0

    def check(self, chunks: Sequence[tuple[range, Any]]) -> None:
        """Check the pages of the columns of a row group, which are read from now on.

        Args:
            chunks: The place of each, and its metadata.

        Raises:
            InvalidPageError: two have the same bytes.
        """
        ordered = sorted(chunks, key=lambda one: one[0].start)
        self._columns = [_Column(chunk, place, place.start) for place, chunk in ordered]
        self._starts = [place.start for place, _ in ordered]
        self._excess = 0
        for (place, _), (after, _) in pairwise(ordered):
            if place.stop > after.start:
                raise InvalidPageError("two columns have the same bytes")

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._data.tell()

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go to a position."""
        return self._data.seek(offset, whence)

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the bytes at the position, if the pages that begin in them are as they should be.

        Raises:
            DecodeError: a page claims more than the footer says, or than is allowed.
            InvalidPageError: no page is where one has to be.
        """
        start = self._data.tell()
        found = self._data.read(-1 if size is None else size)
        stop = start + len(found)
        first = max(0, bisect_right(self._starts, start) - 1)
        for column in self._columns[first : bisect_right(self._starts, stop)]:
            while start <= column.next < min(stop, column.place.stop) or (
                column.next < start < column.place.stop  # never, as a column is read in order
            ):
                self._add(column, start, found)
        return found

    def _add(self, column: _Column, start: int, found: bytes) -> None:
        """Take the next page of a column, whose header may be in the bytes found at `start`."""
        chunk, at = column.chunk, column.next - start
        if column.values >= chunk.num_values:
            column.next = column.place.stop  # nobody reads on
            return
        page = _page(found[at : at + _FIRST_LOOK]) if at >= 0 else None
        page = page or page_at(self._data, range(column.next, column.place.stop))
        what = self._fault(column, page)
        if what:
            hint = "it is damaged, or made to exhaust memory; get it again, or write it anew"
            raise DecodeError(f"{what} ({hint})", file=self._file)
        if page.unpacked > self._limits.document_bytes:
            message = f"a page of the column '{chunk.path_in_schema}' unpacks to"
            message = self._limits.message("document_bytes", message, "bytes")
            raise DecodeError(message, file=self._file)
        column.next += page.size + page.packed
        column.pages += 1

    def _fault(self, column: _Column, page: Page) -> str:
        """Count a page; return what is wrong with what it claims."""
        chunk = column.chunk
        named = f"the column '{chunk.path_in_schema}'"
        column.values += page.values
        if column.values > chunk.num_values:
            return (
                f"the pages of {named} claim {column.values:,} values, {FOOTER_SAYS}"
                f" {chunk.num_values:,}"
            )
        said = chunk.total_uncompressed_size
        before = max(said, column.unpacked)
        column.unpacked += page.unpacked
        self._excess += max(0, column.unpacked - before)
        # Values that others repeat may be as large as all that is said, so that has to be true.
        is_delta = page.encoding == DELTA_BYTE_ARRAY
        is_repeated = is_delta or page.is_dictionary
        if self._excess > _HARMLESS_EXCESS or (is_repeated and column.unpacked > said):
            return (
                f"the pages of {named} claim to unpack to {column.unpacked:,} bytes, {FOOTER_SAYS}"
                f" {said:,}"
            )
        if page.is_dictionary and column.pages:
            return f"{named} has a dictionary after its values, where no reader expects it"
        if is_delta and "DELTA_BYTE_ARRAY" not in chunk.encodings:
            return f"a page of {named} is encoded as DELTA_BYTE_ARRAY, {FOOTER_SAYS} otherwise"
        return ""
