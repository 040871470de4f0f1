"""Decode JSON Lines to columns, in blocks that are parsed in parallel.

pyarrow's reader is given an explicit type for every column, so that it infers nothing. Objects of
which only values at paths are wanted are structs. Other objects, columns of mixed types, and what
pyarrow would read differently than the `json` module, are decoded to Python values by msgspec.
Whatever has no exact meaning is left to the record reader, which reports it. In unwanted columns
only the syntax is checked, without a limit on nesting.
"""

from __future__ import annotations

import codecs
import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from registry.base.arrow.strings import SCAN_BYTES
from registry.base.locations import packed_suffix
from registry.decode.chunks import line_blocks, parse_blocks, read_start
from registry.decode.exact_json import MAX_DEPTH, has_unique_keys, most_keys, parse_exact
from registry.decode.frame import (
    FEW_RECORDS,
    AnyFrame,
    Frame,
    NotColumnarError,
    ValueFrame,
    Wanted,
    has_null,
)
from registry.decode.json_values import (
    ValueDecoder,
    decode_few,
    dotted_keys,
    line_ends,
)
from registry.decode.repeated_keys import keys_surely_differ
from registry.decode.shapes.columns import ShapeReader
from registry.decode.stream import is_utf8, open_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source
    from registry.manifest.source_models import JsonSource

__all__ = ["read_json_tables"]

_PROBE_LINES = 64
# A float may have 308 before its point, Python's `int` by default 640 at least.
_MOST_DIGITS = 300
Block = TypeVar("Block", bytes, bytearray)
_VALUE_BYTES = 1 << 20
_SCANNED_BYTES = 1 << 16
"""Bytes that are looked at together, few enough for the processor's cache."""
_BEFORE_NUMBERS = b" \t\r\n:,[-"
_decode = msgspec.json.Decoder().decode
_SCALARS: dict[type, pa.DataType] = {
    str: pa.string(),
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
}


def read_json_tables(file: SourceBytes, source: Source, wanted: Wanted) -> Iterator[AnyFrame]:
    """Yield the lines of a file as columns."""
    options = cast("JsonSource", source)
    if not options.is_lines(file.location) or not is_utf8(options.encoding):
        raise NotColumnarError("not JSON Lines in UTF-8")
    with open_bytes(file) as data:
        most = file.limits.line_bytes
        start, is_all = read_start(data)
        if is_all and len(start) <= most and start.count(b"\n") <= FEW_RECORDS:
            yield decode_few(_as_text(start.removeprefix(codecs.BOM_UTF8)), wanted)
            return
        blocks = line_blocks(data, most=most, start=start, known=_size(file))
        del start  # memory that is free is used again, and other memory takes time
        first = next(blocks, bytearray())
        if first.startswith(codecs.BOM_UTF8):
            del first[: len(codecs.BOM_UTF8)]
        columns = _columns(first, wanted)
        blocks = chain([first], blocks)
        parse = partial(_parse, columns=columns)
        if columns.others is not None:
            # Without a thread: msgspec holds the interpreter's lock, so that another thread would
            # wait for it, and each time it is passed on takes longer than a short call.
            yield from map(parse, _smaller(blocks))
            return
        # Shapes take many short steps of numpy: between two threads, passing on the interpreter's
        # lock would take as long as the steps.
        yield from parse_blocks(blocks, parse, is_one_enough=lambda: columns.is_by_shapes)


def _size(file: SourceBytes) -> int | None:
    """Return the number of bytes of a file, if it is known without reading it."""
    if file.local_path is not None and not packed_suffix(file.location):
        with contextlib.suppress(OSError):  # it is open, whatever its path leads to now
            return os.stat(file.local_path).st_size
    return None


def _smaller(blocks: Iterable[bytearray]) -> Iterator[bytearray]:
    """Yield the lines of blocks in smaller ones: values take ten times the bytes of their JSON."""
    for block in blocks:
        start = 0
        while start < len(block):
            end = block.find(b"\n", start + _VALUE_BYTES) + 1 or len(block)
            yield block[start:end]
            start = end


class _Columns(NamedTuple):
    """How to read the wanted columns."""

    schema: pa.Schema | None
    """Types of the columns that pyarrow reads; None if it reads none."""
    others: ValueDecoder | None
    """Decodes the remaining columns; None if there are none."""
    wanted: Wanted
    """All columns."""
    dotted: tuple[bytes, ...] = ()
    """Keys, in quotes, that an object may have in place of a path that pyarrow reads."""
    shapes: ShapeReader | None = None
    """Reads the columns of pyarrow where lines have few shapes."""

    @property
    def is_by_shapes(self) -> bool:
        """Whether all columns of the blocks so far are read by shapes."""
        return self.others is None and self.shapes is not None and self.shapes.is_used


def _columns(first: bytearray, wanted: Wanted) -> _Columns:
    """Return how to read the wanted columns, by types inferred from the first lines."""
    by_value = _Columns(None, ValueDecoder(wanted), wanted)
    if wanted is None:
        return by_value
    try:
        records = [_decode(line) for line in islice(_lines(first), _PROBE_LINES) if line.strip()]
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise NotColumnarError("invalid JSON") from error
    if not records or not all(isinstance(record, dict) for record in records):
        raise NotColumnarError("not JSON objects")
    types = _types_of(records, wanted)
    fields = [(name, kind) for name, kind in types.items() if kind is not None]
    # A null type alone reads a column that no line has: as with it, a block is decoded to values.
    if all(pa.types.is_null(kind) for _, kind in fields):
        return by_value
    others = frozenset(name for name in wanted if types[name.partition(".")[0]] is None)
    dotted = sorted({key for name in wanted - others for key in dotted_keys(name)})
    # A character beyond ASCII may be written as an escape, which is not looked for.
    if not all(key.isascii() and key.isprintable() and "/" not in key for key in dotted):
        return by_value
    decoder = ValueDecoder(others) if others else None
    keys = tuple(f'"{key}"'.encode() for key in dotted)
    schema = pa.schema(fields)
    return _Columns(schema, decoder, wanted, keys, ShapeReader(schema))


def _types_of(records: Sequence[Any], wanted: Iterable[str]) -> dict[str, pa.DataType | None]:
    """Return a type for each key of records that is wanted or that a wanted path starts with.

    It is None for objects that are wanted as a whole, and for mixed types.
    """
    paths: dict[str, set[str]] = {}
    for name in sorted(wanted):
        head, _, rest = name.partition(".")
        paths.setdefault(head, set()).add(rest)
    types = {}
    for head, rests in paths.items():
        values = [record[head] for record in records if head in record]
        # A key that the first lines lack gets the null type, so that pyarrow refuses any value in
        # a later line; that block is then decoded to values.
        kind = _type_of(values, pa.string() if values else pa.null())
        found = [value for value in values if value is not None]
        if kind is None and "" not in rests and {type(value) for value in found} == {dict}:
            children = _types_of(found, rests)
            kind = None if None in children.values() else pa.struct(list(children.items()))
        types[head] = kind
    return types


def _lines(block: bytearray) -> Iterator[bytearray]:
    start = 0
    while start < len(block):
        end = block.find(b"\n", start) + 1 or len(block)
        yield block[start:end]
        start = end


def _type_of(values: Sequence[Any], unknown: pa.DataType) -> pa.DataType | None:
    """Return the common type of values, `unknown` if all are null; None for objects and others."""
    types = {type(value) for value in values if value is not None}
    if not types:
        return unknown
    if types == {list}:
        inner = _type_of([item for value in values for item in value or ()], pa.string())
        return None if inner is None else pa.list_(inner)
    return _SCALARS.get(types.pop()) if len(types) == 1 else None


def _parse(block: bytearray, columns: _Columns) -> AnyFrame:
    """Return a block of lines as columns, if the `json` module reads exactly the same."""
    block = _as_text(block)
    _refuse_invalid_text(block)
    is_readable = not _may_have_dotted_keys(block, columns.dotted)
    # Few shapes take half the time of pyarrow and of what shows that it is exact.
    shaped = columns.shapes.read(block) if is_readable and columns.shapes else None
    batch = (
        _read_exactly(block, columns.schema if is_readable else None)
        if shaped is None
        else shaped.batch
    )
    if batch is None:
        return _decode_values(block, _count_lines(block), ValueDecoder(columns.wanted))
    others = None
    if columns.others is not None:
        others = _decode_values(block, batch.num_rows, columns.others)
    complete = frozenset() if shaped is None else shaped.complete
    exact = cache(lambda: _decode_nulls(block, batch, columns.wanted or (), complete))
    return Frame(batch, null_is_value=False, exact=exact, others=others, complete=complete)


def _as_text(block: Block) -> Block:
    """Return lines with the line ends of text mode, without blank ones at the end."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return block.rstrip(b"\n") if block.endswith(b"\n\n") else block


def _decode_nulls(
    block: bytearray, batch: pa.RecordBatch, wanted: Iterable[str], complete: frozenset[str]
) -> ValueFrame:
    """Return the values of the columns with nulls that may be missing keys."""
    names = {name for name in batch.schema.names if has_null(batch.column(name))}
    # Of an object, records may be asked for as a whole.
    found = (one for one in wanted if one not in complete or "." in one)
    kept = frozenset(one for one in found if one.partition(".")[0] in names)
    return _decode_values(block, batch.num_rows, ValueDecoder(kept))


def _count_lines(block: bytearray) -> int:
    return block.count(b"\n") + (not block.endswith(b"\n"))


def _read_exactly(block: bytearray, schema: pa.Schema | None) -> pa.RecordBatch | None:
    """Return what pyarrow reads; None if that differs, or its types from those of the schema."""
    ends = line_ends(block)
    if _has_digits(np.frombuffer(block, np.uint8), _MOST_DIGITS):
        raise NotColumnarError("an integer with more digits than Python parses, or a large float")
    batch = None if schema is None else _read_with_pyarrow(block, schema, len(ends))
    _refuse_inexact(block, ends, batch)
    return batch


def _may_have_dotted_keys(block: bytearray, keys: Sequence[bytes]) -> bool:
    """Return whether an object may have a key with a dot that a path may mean as well."""
    # An ASCII character may be written as an escape, which starts with two zeros.
    return any(key in block for key in (*keys, b"\\u00")) if keys else False


def _decode_values(block: bytearray, count: int, decoder: ValueDecoder) -> ValueFrame:
    if _may_have_large_float(block):  # msgspec would not see it in a value that is not wanted
        lines = bytes(block).rstrip(b"\n").split(b"\n")
        try:
            for line in lines:
                _decode(line)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise NotColumnarError("a value without an exact meaning") from error
    return decoder.decode(block, count)


def _may_have_large_float(block: bytearray) -> bool:
    """Return whether a number may be beyond the range of a float: with two digits after its `e`."""
    codes = np.frombuffer(block, np.uint8)
    for start in range(0, len(codes), _SCANNED_BYTES):
        part = codes[start : start + _SCANNED_BYTES + 3]
        is_digit, is_e = _are_digits(part), (part | 0x20) == ord("e")
        is_power = is_digit[2:-1] | (part[2:-1] == ord("+"))
        if (is_digit[:-3] & is_e[1:-2] & is_power & is_digit[3:]).any():
            return True
    return False


def _read_with_pyarrow(block: bytearray, schema: pa.Schema, count: int) -> pa.RecordBatch | None:
    """Return the columns of a block; None if their types differ from those of the first lines."""
    try:
        # For a small block `read_json` takes twice as long, as it starts a thread.
        reader = pa.json.open_json(
            pa.py_buffer(block),
            read_options=pa.json.ReadOptions(use_threads=False, block_size=len(block) + 1),
            parse_options=pa.json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="ignore"
            ),
        )
        table = reader.read_all()
    except (pa.ArrowException, UnicodeDecodeError):
        return None
    if table.num_rows != count:
        raise NotColumnarError("not one object per line")
    batch = table.combine_chunks().to_batches()[0]
    # A float without a fraction may have been written as `1`, which Python reads as an int, and an
    # infinite one as an integer beyond the range of floats.
    for values in _flat(batch.columns):
        if pa.types.is_floating(values.type):
            integral = pc.equal(values, pc.floor(values))
            if pc.any(pc.or_(integral, pc.invert(pc.is_finite(values)))).as_py():
                return None
    return batch


def _flat(columns: Iterable[pa.Array]) -> Iterator[pa.Array]:
    """Yield columns, and the items of lists and the columns of structs in place of those."""
    for column in columns:
        if pa.types.is_list(column.type):
            yield from _flat([column.flatten()])
        elif pa.types.is_struct(column.type):
            yield from _flat(column.flatten())
        else:
            yield column


def _refuse_inexact(
    block: bytearray, line_ends: NDArray[np.int64], batch: pa.RecordBatch | None
) -> None:
    """Refuse what `parse_exact` refuses and pyarrow does not: `NaN`, repeated keys, deep values."""
    try:
        for line in _lines_with_words(block):
            _decode(line)
        keys_differ = _has_no_other_keys(block, batch) or keys_surely_differ(block, line_ends)
        if keys_differ and not _may_be_deep(block, line_ends):
            return
        lines = bytes(block).rstrip(b"\n").split(b"\n")
        if not has_unique_keys(block, [_decode(line) for line in lines]):
            for line in lines:
                parse_exact(line.decode())
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise NotColumnarError("a value without an exact meaning") from error


def _has_no_other_keys(block: bytearray, batch: pa.RecordBatch | None) -> bool:
    """Return whether the lines have only the keys of the columns; a False may be wrong."""
    if batch is None:
        return False
    # A key whose column has the null type, if any line has it, is one key more than expected.
    columns = [column for column in batch.columns if not pa.types.is_null(column.type)]
    # Without nulls, each line has the key of each column. If there are no more keys than that, no
    # line has one that is repeated or not wanted.
    if any(map(has_null, columns)):
        return False
    expected = batch.num_rows * sum(_count_keys(column.type) for column in columns)
    return most_keys(block) == int(expected)


def _count_keys(kind: pa.DataType) -> int:
    """Return how many keys a line has for a column of a type."""
    if not pa.types.is_struct(kind):
        return 1
    return 1 + sum(_count_keys(child.type) for child in kind if not pa.types.is_null(child.type))


def _lines_with_words(block: bytearray) -> Iterator[bytes]:
    """Yield the lines that may have a word which pyarrow reads as a number."""
    for word in (b"NaN", b"Inf"):
        line_end = -1
        for place in _word_positions(word, block):
            if place > line_end and block[place - 1] in _BEFORE_NUMBERS:
                line_end = block.find(b"\n", place)
                line_end = len(block) if line_end < 0 else line_end
                yield bytes(block[block.rfind(b"\n", 0, place) + 1 : line_end])


def _word_positions(word: bytes, block: bytearray) -> list[int]:
    """Return the places of a word; much faster than `find` for a word that is rare."""
    codes, found = np.frombuffer(block, np.uint8), []
    for start in range(0, len(block), SCAN_BYTES):
        part = codes[start : start + SCAN_BYTES + len(word) - 1]
        size = len(part) - len(word) + 1
        hits = part[:size] == word[0] if size > 0 else part[:0] != 0
        for place, code in enumerate(word[1:], 1):
            hits &= part[place : place + size] == code
        if hits.any():
            found += (np.flatnonzero(hits) + start).tolist()
    return found


def _may_be_deep(block: bytearray, line_ends: NDArray[np.int64]) -> bool:
    """Return whether a line has so many brackets that it may be nested too deeply."""
    codes = np.frombuffer(block, np.uint8)
    parts = [
        # `[` and `{` differ in this bit.
        np.flatnonzero((codes[start : start + SCAN_BYTES] | 0x20) == ord("{")) + start
        for start in range(0, len(codes), SCAN_BYTES)
    ]
    brackets = np.concatenate(parts)
    if len(brackets) - len(line_ends) < MAX_DEPTH:
        return False
    # Nearly always, so many brackets take more bytes than the longest line.
    if (brackets[MAX_DEPTH:] - brackets[:-MAX_DEPTH]).min() > np.diff(line_ends, prepend=0).max():
        return False
    counts = np.diff(np.searchsorted(brackets, line_ends), prepend=0)
    return bool((counts > MAX_DEPTH).any())


def _refuse_invalid_text(block: bytearray) -> None:
    """Refuse bytes that are not UTF-8, which pyarrow accepts."""
    if block.isascii():
        return
    ends = pa.py_buffer(np.array([0, len(block)], np.int64))
    array = pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(block)])
    try:
        array.cast(pa.large_string())
    except pa.ArrowInvalid as error:
        raise NotColumnarError("invalid UTF-8") from error


def _has_digits(codes: NDArray[np.uint8], count: int) -> bool:
    """Return whether there may be so many digits in a row, and are at least half as many."""
    # A run of 2 * step digits covers two neighboring samples and all bytes between them.
    step = count // 2
    sampled = _are_digits(codes[::step])
    starts = np.flatnonzero(sampled[1:] & sampled[:-1]) * step
    return any(_are_digits(codes[start : start + step]).all() for start in starts.tolist())


def _are_digits(data: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return (data - ord("0")) < 10  # bytes before "0" become large
