"""Decode JSON Lines to columns, in blocks that are parsed in parallel.

pyarrow's reader is given an explicit type for every column, so that it infers nothing. What it
would read differently than the `json` module, and columns of objects or of mixed types, are decoded
to Python values by msgspec. Whatever has no exact meaning is left to the record reader, which
reports it. In unwanted columns only the syntax is checked, without a limit on nesting.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, cast

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from registry.base.arrow import SCAN_BYTES, byte_positions
from registry.base.locations import unpacked_suffix
from registry.decode.chunks import line_blocks, parse_blocks
from registry.decode.exact_json import MAX_DEPTH, has_unique_keys, most_keys, parse_exact
from registry.decode.frame import AnyFrame, Frame, NotColumnarError, ValueFrame, Wanted
from registry.decode.json_records import LINE_SUFFIXES
from registry.decode.json_values import ValueDecoder
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
    encoding = cast("JsonSource", source).encoding
    if unpacked_suffix(file.location) not in LINE_SUFFIXES or not is_utf8(encoding):
        raise NotColumnarError("not JSON Lines in UTF-8")
    with open_bytes(file) as data:
        blocks = line_blocks(data, most=file.limits.line_bytes)
        first = next(blocks, bytearray())
        if first.startswith(codecs.BOM_UTF8):
            del first[: len(codecs.BOM_UTF8)]
        schema = _schema(first, wanted)
        shapes = None if schema is None else ShapeReader(schema)
        parse = partial(_parse, schema=schema, decoder=ValueDecoder(wanted), shapes=shapes)
        blocks = chain([first], blocks)
        yield from parse_blocks(_smaller(blocks) if schema is None else blocks, parse)


def _smaller(blocks: Iterable[bytearray]) -> Iterator[bytearray]:
    """Yield the lines of blocks in smaller ones: values take ten times the bytes of their JSON."""
    for block in blocks:
        start = 0
        while start < len(block):
            end = block.find(b"\n", start + _VALUE_BYTES) + 1 or len(block)
            yield block[start:end]
            start = end


def _schema(first: bytearray, wanted: Wanted) -> pa.Schema | None:
    """Return a type for each wanted column, inferred from the first lines; None if one has none."""
    # pyarrow would also have to read objects, for the columns and the keys of a path.
    if wanted is None or any("." in name for name in wanted):
        return None
    try:
        records = [_decode(line) for line in islice(_lines(first), _PROBE_LINES) if line.strip()]
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise NotColumnarError("invalid JSON") from error
    if not records or not all(isinstance(record, dict) for record in records):
        raise NotColumnarError("not JSON objects")
    # A key that the first lines lack gets the null type, so that pyarrow refuses any value in a
    # later line; that block is then decoded to values.
    types = {
        name: _type_of([record[name] for record in records if name in record], unknown)
        for name in sorted(wanted)
        for unknown in [pa.string() if any(name in one for one in records) else pa.null()]
    }
    return None if None in types.values() else pa.schema(types.items())


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


def _parse(
    block: bytearray,
    schema: pa.Schema | None,
    decoder: ValueDecoder,
    shapes: ShapeReader | None = None,
) -> AnyFrame:
    """Return a block of lines as columns, if the `json` module reads exactly the same."""
    if b"\r" in block:  # as text mode reads them
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if block.endswith(b"\n\n"):
        block = block.rstrip(b"\n")
    _refuse_invalid_text(block)
    # Few shapes take half the time of pyarrow and of what shows that it is exact.
    if shapes is not None and (shaped := shapes.read(block)) is not None:
        exact = cache(lambda: _decode_values(block, shaped.num_rows, decoder))
        return Frame(shaped, null_is_value=False, exact=exact)
    line_ends = _line_ends(block)
    if _has_digits(np.frombuffer(block, np.uint8), _MOST_DIGITS):
        raise NotColumnarError("an integer with more digits than Python parses, or a large float")
    exact = cache(lambda: _decode_values(block, len(line_ends), decoder))
    batch = None if schema is None else _read_with_pyarrow(block, schema, len(line_ends))
    _refuse_inexact(block, line_ends, batch)
    return exact() if batch is None else Frame(batch, null_is_value=False, exact=exact)


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
    for column in batch.columns:
        values = column
        while pa.types.is_list(values.type):
            values = values.flatten()
        if pa.types.is_floating(values.type):
            integral = pc.equal(values, pc.floor(values))
            if pc.any(pc.or_(integral, pc.invert(pc.is_finite(values)))).as_py():
                return None
    return batch


def _line_ends(block: bytearray) -> NDArray[np.int64]:
    """Return the ends of the lines, if each of them starts and ends like an object.

    If pyarrow then finds as many rows, each line is exactly one object: two objects on a line would
    add a row, and an object on two lines would have `}` and `{` around the line end.
    """
    data = np.frombuffer(block, np.uint8)
    ends = byte_positions("\n", block)
    if len(ends) == 0 or ends[-1] != len(data) - 1:
        ends = np.append(ends, len(data))
    starts = np.concatenate([[0], ends[:-1] + 1])
    if (ends == starts).any() or (data[starts] != ord("{")).any():
        raise NotColumnarError("a line that does not start like an object")
    if (data[ends - 1] != ord("}")).any():
        raise NotColumnarError("a line that does not end like an object")
    return ends


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
    # Without nulls, each line has the key of each column. If there are no more keys than that, no
    # line has one that is repeated or not wanted.
    if batch is None or any(column.null_count for column in batch.columns):
        return False
    return most_keys(block) == int(batch.num_rows * batch.num_columns)


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
