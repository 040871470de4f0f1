"""Columns of lines that have few shapes: their bytes are compared, and values copied from them.

This takes a fraction of the time of a parser, as it works on all lines at once. It is exact because
one line of each shape is parsed, and every other line consists of the same bytes, but for strings
and scalars that are checked to be such.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from registry.base.arrow.arrays import int64_array, masked_array, to_array, to_numpy_int64
from registry.decode.shapes.literals import Literals, UnsureError, find_literals, strings_between
from registry.decode.shapes.shape import Place, Shape, match, shape_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Span = tuple[NDArray[np.int64], NDArray[np.int64]]

__all__ = ["ShapeReader", "ShapedLines", "shaped_lines"]

_LEAST_BYTES = 96 << 10
"""Below this size a parser takes less time, as each shape and each array has a fixed cost."""
_MOST_COMPARED = 4
"""How often a line may be compared with a shape, on average, before that takes too long."""
_MOST_SHAPES = 64
_MOST_FAILED = 2
_MOST_BYTES = 24
"""Bytes of a scalar; a longer number is left to a parser."""
_WORD = 8
_NOT_IN_SCALARS = frozenset(b"[]{}")
_decode_list = msgspec.json.Decoder(list).decode
_SCALARS: dict[pa.DataType, set[type]] = {
    pa.null(): set(),
    pa.string(): set(),
    pa.list_(pa.string()): set(),
    pa.int64(): {int},
    pa.float64(): {float},
    pa.bool_(): {bool},
}
"""Type of a column → what its scalars may be, besides null."""


@dataclass(frozen=True)
class _Group:
    """The lines of a shape."""

    shape: Shape
    lines: NDArray[np.int64]
    scalars: list[tuple[list[Any], NDArray[np.int64]]]
    """Different values, and the one of each line."""


_Present = tuple[_Group, Place]
"""Lines that have a key, and where its value is."""


class ShapedLines(NamedTuple):
    """Lines that have few shapes."""

    batch: pa.RecordBatch
    """Their columns."""
    complete: frozenset[str]
    """Keys and paths that each line has, so that their nulls are values."""


class ShapeReader:
    """Reads the blocks of a file, until two of them have other lines."""

    def __init__(self, schema: pa.Schema) -> None:
        """Take the columns to read."""
        self._schema = schema
        self._failed = 0
        self.is_used = False
        """Whether it has read a block, and few others failed."""

    def read(self, block: bytearray) -> ShapedLines | None:
        """Return what `shaped_lines` returns, or None without trying."""
        if self._failed >= _MOST_FAILED or len(block) < _LEAST_BYTES:
            return None
        lines = shaped_lines(block, self._schema)
        self._failed += lines is None
        self.is_used = self._failed < _MOST_FAILED and (self.is_used or lines is not None)
        return lines


def shaped_lines(block: bytearray, schema: pa.Schema) -> ShapedLines | None:
    """Return the columns of lines of JSON; None if a parser has to read them.

    Strings are `large_string`.

    Args:
        block: The lines; valid UTF-8.
        schema: The columns to return.
    """
    if len(block) < _WORD or not all(map(_is_readable, schema.types)):
        return None
    try:
        literals = find_literals(block)
        groups = _groups(literals)
        literals.check_escapes()
        records = [(group, group.shape.record) for group in groups]
        columns = _children(schema, literals, records)
    except UnsureError:
        return None
    batch = pa.RecordBatch.from_arrays(columns, schema.names)
    return ShapedLines(batch, frozenset(_complete(schema, [place for _, place in records])))


def _complete(fields: Iterable[pa.Field], objects: Sequence[Place]) -> Iterator[str]:
    """Yield the keys and paths of objects that all of them have."""
    for one in fields:
        inner = [place.children[one.name] for place in objects if one.name in place.children]
        if len(inner) == len(objects):
            yield one.name
            if pa.types.is_struct(one.type):
                yield from (f"{one.name}.{path}" for path in _complete(one.type, inner))


def _is_readable(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return all(_is_readable(child.type) for child in kind)
    return kind in _SCALARS


def _groups(literals: Literals) -> list[_Group]:
    """Return the lines by shape."""
    groups: list[_Group] = []
    rest = np.arange(len(literals.line_ends))
    compared, most = 0, _MOST_COMPARED * len(rest)
    while len(rest):
        shape = shape_of(literals, int(rest[0]))
        is_same = literals.counts[rest] == literals.counts[rest[0]]
        lines = rest if is_same.all() else rest[is_same]
        compared += len(lines)
        if compared > most or len(groups) == _MOST_SHAPES:
            raise UnsureError
        found, spans = match(shape, literals, lines)
        if found.all():
            rest = rest[~is_same]
        else:
            lines, is_same[is_same] = lines[found], found
            spans = [(starts[found], ends[found]) for starts, ends in spans]
            rest = rest[~is_same]
        groups.append(_Group(shape, lines, [_scalars(literals, one) for one in spans]))
    return groups


def _scalars(literals: Literals, span: Span) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the different values of a scalar, and the one of each line."""
    starts, ends = span
    lengths = ends - starts
    longest = int(lengths.max())
    if longest > _MOST_BYTES:
        raise UnsureError
    if longest <= _WORD <= ends[0]:
        words = literals.words[ends - _WORD] >> (8 * (_WORD - lengths)).astype(np.uint64)
        found = masked_array(words).dictionary_encode()
        texts = [one.to_bytes(_WORD, "little").rstrip(b"\0") for one in found.dictionary.tolist()]
    else:
        offsets = np.column_stack([starts, ends]).ravel()
        between = strings_between(offsets, literals.block)
        found = between.take(int64_array(np.arange(0, len(between), 2))).dictionary_encode()
        texts = [one.encode() for one in found.dictionary.to_pylist()]
    return _decode_scalars(texts), to_numpy_int64(found.indices)


def _decode_scalars(texts: Sequence[bytes]) -> list[Any]:
    joined = b",".join(texts)
    # So that each text is one value.
    if joined.count(b",") != len(texts) - 1 or not _NOT_IN_SCALARS.isdisjoint(joined):
        raise UnsureError
    try:
        values: list[Any] = _decode_list(b"[%b]" % joined)
    except (msgspec.DecodeError, ValueError) as error:
        raise UnsureError from error
    if len(values) != len(texts):
        raise UnsureError
    return values


def _column(kind: pa.DataType, literals: Literals, present: Sequence[_Present]) -> pa.Array:
    """Return the column of a key, by the groups whose lines have it."""
    if not present and pa.types.is_null(kind):
        return pa.nulls(len(literals.line_ends))
    values, indices = _scalar_values(literals, present)
    if not set(map(type, values)) - {NoneType} <= _SCALARS.get(kind, set()):
        raise UnsureError
    others = [(group, place) for group, place in present if place.kind != "scalar"]
    if pa.types.is_string(kind):
        return _strings(literals, others)
    if pa.types.is_list(kind):
        return _lists(literals, others)
    if pa.types.is_struct(kind):
        return _structs(kind, literals, others)
    if others:
        raise UnsureError
    try:
        column = to_array(values, kind)
    except (pa.ArrowException, OverflowError) as error:
        raise UnsureError from error
    return column.take(masked_array(indices, indices < 0))


def _scalar_values(
    literals: Literals, present: Sequence[_Present]
) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the different scalars of a key, and the one of each line; -1 without one."""
    values: list[Any] = []
    indices = np.full(len(literals.line_ends), -1)
    for group, place in present:
        if place.kind == "scalar":
            different, which = group.scalars[place.numbers[0]]
            indices[group.lines] = which + len(values)
            values += different
    return values, indices


def _strings(literals: Literals, present: Sequence[_Present]) -> pa.Array:
    numbers = np.full(len(literals.line_ends), -1)
    for group, place in present:
        if place.kind != "string":
            raise UnsureError
        numbers[group.lines] = literals.firsts[group.lines] + place.numbers[0]
    return literals.values(numbers)


def _lists(literals: Literals, present: Sequence[_Present]) -> pa.Array:
    count = len(literals.line_ends)
    lengths, is_null = np.zeros(count, np.int64), np.ones(count, bool)
    for group, place in present:
        if place.kind != "strings":
            raise UnsureError
        lengths[group.lines], is_null[group.lines] = len(place.numbers), False
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    numbers = np.empty(offsets[-1], np.int64)
    for group, place in present:
        items = offsets[group.lines][:, None] + np.arange(len(place.numbers))
        firsts = literals.firsts[group.lines][:, None]
        numbers[items] = firsts + np.array(place.numbers, np.int64)
    starts = int64_array(offsets)
    if is_null.any():
        starts = masked_array(offsets, np.append(is_null, False))
    return pa.LargeListArray.from_arrays(starts, literals.values(numbers))


def _structs(kind: pa.DataType, literals: Literals, present: Sequence[_Present]) -> pa.Array:
    is_null = np.ones(len(literals.line_ends), bool)
    for group, place in present:
        if place.kind != "object":
            raise UnsureError
        is_null[group.lines] = False
    columns = _children(kind, literals, present)
    names = [child.name for child in kind]
    return pa.StructArray.from_arrays(columns, names, mask=masked_array(is_null))


def _children(
    fields: Iterable[pa.Field], literals: Literals, present: Sequence[_Present]
) -> list[pa.Array]:
    """Return the columns of keys of objects."""
    columns = []
    for one in fields:
        having = [(group, place) for group, place in present if one.name in place.children]
        children = [(group, place.children[one.name]) for group, place in having]
        columns.append(_column(one.type, literals, children))
    return columns
