"""JSON Lines → columns, in blocks that are parsed beside each other.

pyarrow's reader is told every type, so that nothing is guessed; what it would take otherwise than
the `json` module is looked for, and left to the records. Values of columns that nobody asks for
are only checked for their grammar, without the bound on nesting.
"""

from __future__ import annotations

import codecs
import io
import json
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from registry.base.arrow import byte_positions, contains_literal
from registry.base.locations import unpacked_suffix
from registry.decode.chunks import line_blocks, parse_blocks
from registry.decode.frame import Frame, NotColumnarError, Wanted
from registry.decode.json_records import LINE_SUFFIXES
from registry.decode.stream import is_utf8, open_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from registry.decode.stream import SourceBytes
    from registry.manifest.source import Source
    from registry.manifest.source_models import JsonSource

__all__ = ["read_json_tables"]

_PROBE_LINES = 64
_SCALARS: dict[type, pa.DataType] = {
    str: pa.string(),
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
}


def read_json_tables(file: SourceBytes, source: Source, wanted: Wanted) -> Iterator[Frame]:
    """Yield the lines of a file as columns."""
    encoding = cast("JsonSource", source).encoding
    if unpacked_suffix(file.location) not in LINE_SUFFIXES or not is_utf8(encoding):
        raise NotColumnarError("not JSON Lines in UTF-8")
    if wanted is None or any("." in name for name in wanted):
        raise NotColumnarError("which keys there are is not known")
    with open_bytes(file) as data:
        yield from _frames(line_blocks(data), wanted)


def _schema(first: bytearray, wanted: frozenset[str]) -> pa.Schema:
    """Return a type for each column, from what the first lines hold."""
    try:
        lines = list(islice(io.BytesIO(first), _PROBE_LINES))
        records = [json.loads(line) for line in lines if line.strip()]
    except (ValueError, RecursionError) as error:
        raise NotColumnarError("not JSON") from error
    if not records or not all(isinstance(record, dict) for record in records):
        raise NotColumnarError("no objects")
    # A key that the first lines lack must stay away: of a null column anything else is an error.
    return pa.schema(
        (name, _type_of([record[name] for record in records if name in record], unknown))
        for name in sorted(wanted)
        for unknown in [pa.string() if any(name in one for one in records) else pa.null()]
    )


def _type_of(values: Sequence[Any], unknown: pa.DataType) -> pa.DataType:
    """Return the one type of values; `unknown` where there are none but nulls."""
    types = {type(value) for value in values if value is not None}
    if not types:
        return unknown
    if types == {list}:
        return pa.list_(_type_of([item for value in values for item in value or ()], pa.string()))
    if len(types) > 1 or not types <= _SCALARS.keys():
        raise NotColumnarError("values of several types, or objects")
    return _SCALARS[types.pop()]


def _frames(blocks: Iterator[bytearray], wanted: frozenset[str]) -> Iterator[Frame]:
    first = next(blocks, bytearray())
    if first.startswith(codecs.BOM_UTF8):
        del first[: len(codecs.BOM_UTF8)]
    schema = _schema(first, wanted)
    return parse_blocks(chain([first], blocks), partial(_parse, schema=schema))


def _parse(block: bytearray, schema: pa.Schema) -> Frame:
    if b"\r" in block:  # line ends are those of text mode
        block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if block.endswith(b"\n\n"):
        block = block.rstrip(b"\n")
    lines = _count_lines(block)
    _refuse_odd_text(block)
    try:
        table = pa.json.read_json(
            pa.py_buffer(block),
            read_options=pa.json.ReadOptions(use_threads=False, block_size=len(block) + 1),
            parse_options=pa.json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="ignore"
            ),
        )
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise NotColumnarError("not the types of the first lines") from error
    if table.num_rows != lines:
        raise NotColumnarError("not one object a line")
    batch = table.combine_chunks().to_batches()[0]
    for column in batch.columns:
        _refuse_whole_numbers(column)
    return Frame(batch, null_is_value=False)


def _count_lines(block: bytearray) -> int:
    """Return how many lines there are, each of which begins and ends like an object.

    With as many rows as such lines each line is one object: `} {` can't stand within one.
    """
    data = np.frombuffer(block, np.uint8)
    ends = byte_positions("\n", block)
    if len(ends) == 0 or ends[-1] != len(data) - 1:
        ends = np.append(ends, len(data))
    starts = np.concatenate([[0], ends[:-1] + 1])
    if (ends == starts).any() or (data[starts] != ord("{")).any():
        raise NotColumnarError("a line that does not begin like an object")
    if (data[ends - 1] != ord("}")).any():
        raise NotColumnarError("a line that does not end like an object")
    return len(ends)


def _refuse_odd_text(block: bytearray) -> None:
    """Refuse what only pyarrow accepts: other bytes than UTF-8, and `Inf` and `-NaN` as numbers."""
    ends = pa.py_buffer(np.array([0, len(block)], np.int64))
    whole = pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(block)])
    try:
        whole.cast(pa.large_string())
    except pa.ArrowInvalid as error:
        raise NotColumnarError("not UTF-8") from error
    if contains_literal(block, "-NaN") or (
        contains_literal(block, "Inf") and _has_short_infinity(block)
    ):
        raise NotColumnarError("a number that is none of JSON's")
    if _has_long_number(block):
        raise NotColumnarError("a number of more digits than Python reads")


def _has_short_infinity(block: bytearray) -> bool:
    place = block.find(b"Inf")
    while place >= 0:
        before, after = block[place - 1 : place], block[place + 3 : place + 4]
        if not before.isalpha() and not after.isalpha():
            return True
        place = block.find(b"Inf", place + 3)
    return False


def _has_long_number(block: bytearray) -> bool:
    """Return whether so many digits follow each other that `int` may refuse them."""
    # More digits than are allowed cover two neighbours among bytes that are half as far apart,
    # and all between them.
    step = sys.int_info.str_digits_check_threshold // 2
    data = np.frombuffer(block, np.uint8)
    looked_at = _are_digits(data[::step])
    places = np.flatnonzero(looked_at[1:] & looked_at[:-1]) * step
    return any(_are_digits(data[place : place + step]).all() for place in places.tolist())


def _are_digits(data: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return (data >= ord("0")) & (data <= ord("9"))


def _refuse_whole_numbers(column: pa.Array) -> None:
    """Refuse floats that may have been written as whole numbers, or beyond what floats hold."""
    while pa.types.is_list(column.type):
        column = column.flatten()
    if not pa.types.is_floating(column.type):
        return
    whole = pc.or_(pc.equal(column, pc.floor(column)), pc.invert(pc.is_finite(column)))
    if pc.any(whole).as_py():
        raise NotColumnarError("floats that may be whole numbers")
