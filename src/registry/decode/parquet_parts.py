"""Parts of a Parquet file: its last bytes and the columns that are read, by one digest.

They are a file of their own: a line of JSON that says where in the Parquet file they are, and then
their bytes. So the digest of that file covers positions, lengths and bytes.
"""

from __future__ import annotations

import hashlib
import io
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from registry.base.conversion import decode_json
from registry.base.digest import canonical_json
from registry.base.materials import Parts
from registry.decode.arrow_files import chosen
from registry.decode.frame import NotColumnarError
from registry.decode.parquet_footers import chunks_of, leaves_of, read_footer
from registry.decode.stream import PositionedFile, Ranges, merged

__all__ = ["PartsFile", "bytes_of", "digest_parts", "header_of", "parts_worth_it", "places_of"]

_END = 1 << 16
"""Bytes at the end of a file, which pyarrow reads at once; a longer footer it reads after them."""
_REQUEST = 1 << 18
"""Bytes that arrive in the time that one more request takes."""
_PIECE = 1 << 20


class _Header(Struct, frozen=True):
    """Where parts are."""

    size: int
    """Bytes of the whole file."""
    parts: list[tuple[int, int]]
    """Where each begins and ends."""


def parts_worth_it(path: Path, wanted: frozenset[str]) -> Parts | None:
    """Return the parts of a file for the columns that are wanted, as a pin has them.

    None if its records can't be read by columns, or if the whole takes at most twice as long.
    """
    try:
        with path.open("rb") as data:
            columns = chosen(read_footer(data).schema.to_arrow_schema().names, wanted)
            places, size = places_of(data, columns)
    except (ValueError, NotColumnarError):
        return None
    # Of a name with a dot pyarrow reads all columns.
    is_possible = columns and not any("." in one for one in columns)
    cost = sum(map(len, places)) + len(places) * _REQUEST
    return digest_parts(path, columns) if is_possible and 2 * cost < size else None


def digest_parts(path: Path, columns: Sequence[str]) -> Parts | None:
    """Return the parts of a Parquet file for some of its columns; None if it is no Parquet file."""
    with path.open("rb") as data:
        try:
            places, size = places_of(data, columns)
        except ValueError:
            return None
        digest = hashlib.sha256(header_of(places, size))
        for piece in bytes_of(data, places):
            digest.update(piece)
    size = sum(map(len, places))
    return Parts(columns=tuple(columns), size=size, sha256=digest.hexdigest())


def places_of(data: IO[bytes] | Ranges, columns: Sequence[str]) -> tuple[list[range], int]:
    """Return where the parts of a file are, and its size; an error if it is no Parquet.

    Raises:
        ValueError: it is none.
    """
    metadata = read_footer(data)
    leaves = leaves_of(metadata, columns)
    size = data.seek(0, io.SEEK_END)
    found = [range(size - max(_END, metadata.serialized_size + 8), size)]
    for group in range(metadata.num_row_groups):
        found += [chunk.place for chunk in chunks_of(metadata, group, leaves)]
    return merged(found, size, 0), size


def header_of(places: Sequence[range], size: int) -> bytes:
    """Return how a file of parts begins."""
    where = [[place.start, place.stop] for place in places]
    return canonical_json({"parts": where, "size": size}) + b"\n"


def bytes_of(data: IO[bytes] | Ranges, places: Sequence[range]) -> Iterator[bytes]:
    """Yield the bytes of parts."""
    for place in places:
        data.seek(place.start)
        for start in range(place.start, place.stop, _PIECE):
            yield data.read(min(_PIECE, place.stop - start))


class PartsFile(PositionedFile):
    """A Parquet file of which parts are here; to read more is an error."""

    def __init__(self, path: Path, error: Exception) -> None:
        """Open the parts at a path; the error is raised where there is no such part."""
        super().__init__()
        self._data = path.open("rb")
        self._error = error
        try:
            header = decode_json(self._data.readline(), _Header)
        except msgspec.DecodeError:  # other bytes with this digest, if the lockfile was edited
            self.close()
            raise error from None
        self._size = header.size
        self._parts = [range(*one) for one in header.parts]
        self._places = list(accumulate(map(len, self._parts), initial=self._data.tell()))

    def expect(self, parts: Sequence[range]) -> None:
        """Raise the error if one of the parts is not here."""
        for part in parts:
            self._find(part)

    def close(self) -> None:
        """Close the file."""
        self._data.close()
        super().close()

    def _end(self) -> int:
        return self._size

    def _read_some(self, stop: int) -> bytes:
        at = self._find(range(self._position, stop))
        self._data.seek(self._places[at] + self._position - self._parts[at].start)
        return self._data.read(stop - self._position)

    def _find(self, wanted: range) -> int:
        """Return which of the parts has all of a range."""
        at = bisect_right(self._parts, wanted.start, key=lambda part: part.start) - 1
        if at < 0 or wanted.stop > self._parts[at].stop:
            raise self._error
        return at
