"""Read single rows of an Arrow IPC file without pyarrow, which takes long to import.

It reads what `schema` writes: strings, integers, floats, booleans, lists of strings, and one struct
of these. Types and places are in two tables of FlatBuffers, the footer of the file and the header
of each batch; see `File.fbs`, `Schema.fbs` and `Message.fbs` of Arrow.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, Literal

from msgspec import Struct

__all__ = ["NOT_A_SAMPLES_FILE", "BatchValues", "Footer"]

NOT_A_SAMPLES_FILE = (struct.error, IndexError, ValueError)
"""Errors of reading what is something else, although it has the checksums of a samples file."""

_Reader = Callable[[int], Any]
"""Returns the value of a row; None for a null."""

_Pairs = list[tuple[int, int]]
"""Two numbers for each array (rows, nulls) or buffer (place, size)."""

# Numbers of the union `Type` in `Schema.fbs`.
_INT, _FLOAT, _BOOL, _STRUCT, _STRING, _LIST = 2, 3, 6, 13, 20, 21
_NUMBERS: dict[int, Literal["q", "d"]] = {_INT: "q", _FLOAT: "d"}
_TAIL = 10
"""Bytes after the footer: its size and `ARROW1`."""


class _Table:
    """A table of FlatBuffers: fields are found by the numbers of their declarations."""

    def __init__(self, data: memoryview, reference: int) -> None:
        """Create the table to which the 32 bits at `reference` point."""
        self._data = data
        self._start = reference + struct.unpack_from("<I", data, reference)[0]
        self._slots = self._start - struct.unpack_from("<i", data, self._start)[0]

    def _place(self, field: int) -> int:
        """Return the place of a field; 0 if it has its default."""
        slot = 4 + 2 * field
        if slot >= struct.unpack_from("<H", self._data, self._slots)[0]:
            return 0
        offset: int = struct.unpack_from("<H", self._data, self._slots + slot)[0]
        return offset and self._start + offset

    def has(self, field: int) -> bool:
        """Return whether a field has another value than its default."""
        return self._place(field) > 0

    def byte(self, field: int) -> int:
        """Return a field of 8 bits."""
        return self._data[self._place(field)]

    def table(self, field: int) -> _Table:
        """Return a field that is a table."""
        return _Table(self._data, self._place(field))

    def items(self, field: int) -> tuple[int, int]:
        """Return the place of the first item of a vector, and how many it has."""
        place = self._place(field)
        if not place:
            return 0, 0
        place += struct.unpack_from("<I", self._data, place)[0]
        return place + 4, struct.unpack_from("<I", self._data, place)[0]

    def text(self, field: int) -> str:
        """Return a field that is a string."""
        place, size = self.items(field)
        return str(self._data[place : place + size], "utf-8")

    def tables(self, field: int) -> list[_Table]:
        """Return the items of a vector of tables."""
        place, count = self.items(field)
        return [_Table(self._data, place + 4 * number) for number in range(count)]

    def pairs(self, field: int) -> _Pairs:
        """Return the items of a vector of two 64-bit integers each."""
        place, count = self.items(field)
        return list(struct.iter_unpack("<2q", self._data[place : place + 16 * count]))


class Column(Struct, frozen=True):
    """A column of the file, or a part of one."""

    name: str
    kind: int
    parts: tuple[Column, ...]
    """Items of a list, members of a struct."""
    is_json: bool
    """Whether its strings are JSON, see `schema`."""

    @classmethod
    def of(cls, field: _Table, kinds: tuple[int, ...]) -> Column:
        """Return the column that a `Field` of the schema describes.

        Raises:
            ValueError: its type is not one of `kinds`.
        """
        kind = field.byte(2)
        if kind not in kinds:
            raise ValueError(f"a column has the type {kind}")
        # What may be inside: so that a damaged schema can't lead around in circles.
        inner = {_LIST: (_STRING,), _STRUCT: kinds[1:]}.get(kind, ())
        parts = tuple(cls.of(part, inner) for part in field.tables(5)) if inner else ()
        is_json = [(pair.text(0), pair.text(1)) for pair in field.tables(6)] == [("form", "json")]
        return cls(field.text(0), kind, parts, is_json)


class Footer:
    """The end of a file: its columns, and the places of its batches."""

    def __init__(self, end: memoryview) -> None:
        """Read the footer at the end of a file; errors of another file are `NOT_A_SAMPLES_FILE`."""
        self._end = end
        (size,) = struct.unpack_from("<i", end, len(end) - _TAIL)
        footer = _Table(end, len(end) - _TAIL - size)
        self._batches, _ = footer.items(3)
        kinds = (_STRUCT, _STRING, _LIST, _INT, _FLOAT, _BOOL)
        self.columns = [Column.of(field, kinds) for field in footer.table(1).tables(1)]

    @property
    def json_keys(self) -> list[str]:
        """Keys of the metadata whose values are stored as JSON, see `schema.json_keys`."""
        structs = (column.parts for column in self.columns if column.kind == _STRUCT)
        return [part.name for parts in structs for part in parts if part.is_json]

    def place(self, number: int) -> int:
        """Return the place of a batch in the file."""
        (place,) = struct.unpack_from("<q", self._end, self._batches + 24 * number)
        return int(place)

    def batch(self, number: int, data: memoryview, start: int = 0) -> BatchValues:
        """Return the values of a batch, given the bytes of the file from `start` on."""
        (header_size,) = struct.unpack_from("<i", self._end, self._batches + 24 * number + 8)
        place = self.place(number) - start
        # After a mark and the size of the header, 4 bytes each.
        message = _Table(data, place + 8).table(2)
        if message.has(3):
            raise ValueError("a batch is compressed")
        body = data[place + header_size :]
        buffers = [body[first : first + size] for first, size in message.pairs(2)]
        return BatchValues(self.columns, message.pairs(1)[::-1], buffers[::-1])


class BatchValues:
    """The values of a batch, found in its buffers when they are read."""

    def __init__(
        self, columns: Sequence[Column], arrays: _Pairs, buffers: list[memoryview]
    ) -> None:
        # Both are listed depth first, the last first so that `pop` returns the next.
        self._arrays, self._buffers = arrays, buffers
        self.starts: dict[str, memoryview] = {}
        """Column of lists → start of each row among all items, then their number."""
        self.readers = [(column.name, self._reader(column)) for column in columns]
        """Names of the columns, with functions that return the value of a row."""

    def _reader(self, column: Column) -> _Reader:
        (_, nulls), validity = self._arrays.pop(), self._buffers.pop()
        read = self._reader_of_valid(column)
        if not nulls:
            return read
        return lambda row: read(row) if validity[row >> 3] >> (row & 7) & 1 else None

    def _reader_of_valid(self, column: Column) -> _Reader:
        if column.kind == _STRUCT:
            # Not in `self.starts`: a member may have the name of a column.
            members = BatchValues(column.parts, self._arrays, self._buffers).readers
            return lambda row: {name: read(row) for name, read in members}
        values = self._buffers.pop()
        if column.kind == _BOOL:
            return lambda row: bool(values[row >> 3] >> (row & 7) & 1)
        if column.kind in _NUMBERS:
            numbers = _numbers(values, _NUMBERS[column.kind])
            return lambda row: numbers[row]
        starts = _numbers(values, "q")
        if column.kind == _LIST:
            self.starts[column.name] = starts
            item = self._reader(column.parts[0])
            return lambda row: [item(number) for number in range(starts[row], starts[row + 1])]
        texts = self._buffers.pop()
        return lambda row: str(texts[starts[row] : starts[row + 1]], "utf-8")


def _numbers(values: memoryview, code: Literal["q", "d"]) -> Any:
    # A size that is no multiple of 8 is damage: then a row has no number, which is an IndexError.
    return values[: len(values) // 8 * 8].cast(code)
