"""Evaluate expressions that have no kernel on the Python values of their columns."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from registry.base.arrow.arrays import is_text, to_numpy_int64
from registry.decode.frame import AnyFrame, Frame, NotColumnarError, ValueFrame
from registry.manifest.expressions import Column, Condition, Expression
from registry.mapping.columnar.kernels.arrays import LARGEST_COLUMN
from registry.mapping.columnar.programs import Program
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.sizes import size_of, sizes_of

__all__ = ["evaluate_values"]

_SECONDS = 10.0
_FIRST_CHUNK, _LARGEST_CHUNK = 1 << 3, 1 << 10
"""Records between two looks at the limits: few at first, as one alone may take long."""
_PROBED_ROWS = 1 << 10
"""Rows that are encoded first, as a cheap test of whether values repeat."""


def evaluate_values(node: Expression | Condition, view: RecordBatchView) -> list[Any]:
    """Return the value of an expression or condition for each record, MISSING without its column.

    Records with the same value in the only column that is read share the result.

    Raises:
        NotColumnarError: the values are so large together, or take so long, that they must be
            mapped one by one, with a look at the limits after each.
        MappingError: an expression can't be evaluated for a record.
    """
    if isinstance(node, Column):
        return view.values(node.name)
    if id(node) not in view.computed:
        view.computed[id(node)] = (node, _evaluate(node, view))
    return view.computed[id(node)][1]


def _evaluate(node: Expression | Condition, view: RecordBatchView) -> list[Any]:
    program = view.programs.of(node)
    if view.count and not program.numbered and _reads_nothing(program, view):
        return _evaluate_once(program, view)
    if program.numbered:
        return _evaluate_all(program, view)
    shared = (_share_few if view.has_few else _share_repeated)(program, view)
    if shared is None:
        return _evaluate_all(program, view)
    if not _are_surely_small(program, view):
        _check_size(shared, 0)
    return shared


def _share_repeated(program: Program, view: RecordBatchView) -> list[Any] | None:
    """Return the values if those of the only column that is read repeat."""
    encoded = _encode_repeated(program, view)
    if encoded is None:
        return None
    names = view.names_of(program.dependencies or ())
    frame = Frame(pa.RecordBatch.from_arrays([encoded.dictionary], names))
    values = _evaluate_distinct(program, frame, view)
    return [values[index] for index in to_numpy_int64(encoded.indices).tolist()]


def _share_few(program: Program, view: RecordBatchView) -> list[Any] | None:
    """Return what `_share_repeated` does, of a column that is a list of str."""
    reads = program.dependencies
    names = [] if reads is None else view.names_of(reads)
    if len(names) != 1:
        return None
    texts = view.frame.values(names[0])
    if set(map(type, texts)) != {str}:
        return None
    distinct = list(dict.fromkeys(texts))
    if 2 * len(distinct) > len(texts):
        return None
    frame = ValueFrame(len(distinct), {names[0]: distinct}, size=view.frame.size)
    values = dict(zip(distinct, _evaluate_distinct(program, frame, view), strict=True))
    return list(map(values.__getitem__, texts))


def _evaluate_distinct(program: Program, frame: AnyFrame, view: RecordBatchView) -> list[Any]:
    numbers = np.arange(1, frame.count + 1)
    distinct = RecordBatchView(frame, view.constants, numbers, view.boundary, view.programs)
    return _evaluate_all(program, distinct)


def _evaluate_all(program: Program, view: RecordBatchView) -> list[Any]:
    found: list[Any] = []
    are_small = _are_surely_small(program, view)
    size, end = 0, time.monotonic() + _SECONDS
    for values in _chunks(program, view):
        if not are_small:
            size = _check_size(values, size)
        found += values
        if time.monotonic() > end:
            raise NotColumnarError("values that are too slow to map many at a time")
    return found


def _are_surely_small(program: Program, view: RecordBatchView) -> bool:
    """Return whether all values together can't be too large, whatever the records have."""
    growth, size = program.growth, view.frame.size
    if growth is None or size is None:
        return False
    # The constants of the source are in every record.
    size += size_of(dict(view.constants)) * view.count
    return growth.bytes(size, view.count) <= LARGEST_COLUMN


def _check_size(values: Sequence[Any], size: int) -> int:
    """Return the bytes of values and of earlier ones, if they are few enough."""
    size += sizes_of(values)
    if size > LARGEST_COLUMN:
        raise NotColumnarError("values that are too large to map many at a time")
    return size


def _chunks(program: Program, view: RecordBatchView) -> Iterator[list[Any]]:
    function, reads = program.function, program.dependencies
    if function is None:
        rows = view.rows(reads)
        for part in _slices(view.count):
            yield list(map(program.evaluate, rows[part]))
        return
    columns, numbers = [view.values(name) for name in function.columns], view.numbers.tolist()
    for part in _slices(view.count):

        def slow(index: int, start: int = part.start) -> Any:
            return program.evaluate(view.row(start + index, reads))

        yield function([column[part] for column in columns], numbers[part], slow)


def _slices(count: int) -> Iterator[slice]:
    start, size = 0, _FIRST_CHUNK
    while start < count:
        yield slice(start, start + size)
        start += size
        size = min(2 * size, _LARGEST_CHUNK)


def _reads_nothing(program: Program, view: RecordBatchView) -> bool:
    """Return whether no record has any of the columns that are read, so that all values equal."""
    function, reads = program.function, program.dependencies
    return function is not None and reads is not None and not any(map(view.may_have, reads))


def _evaluate_once(program: Program, view: RecordBatchView) -> list[Any]:
    """Return the value that each record has, as none of them has a column that is read."""
    numbers = view.numbers[:1]
    frame = ValueFrame(1, {}, size=0)
    first = RecordBatchView(frame, view.constants, numbers, view.boundary, view.programs)
    values = _evaluate_all(program, first)
    _check_size(values, sizes_of(values) * (view.count - 1))
    return values * view.count


def _encode_repeated(program: Program, view: RecordBatchView) -> pa.DictionaryArray | None:
    """Return the only column that is read, encoded, if each value occurs twice on average."""
    reads = program.dependencies
    names = [] if reads is None else view.names_of(reads)
    column = view.frame.array(names[0]) if len(names) == 1 else None
    # A null has no entry in the dictionary, so that its index would be wrong.
    if column is None or not is_text(column.type) or column.null_count:
        return None
    for part in (column.slice(0, _PROBED_ROWS), column):
        encoded = part.dictionary_encode()
        if 2 * len(encoded.dictionary) > len(encoded):
            return None
    return encoded
