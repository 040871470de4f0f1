"""What each operation costs a record: alone, and in a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.clock import seconds
from registry.base.gc import gc_paused
from registry.decode.frame import AnyFrame, Frame, ValueFrame
from registry.manifest.expressions import parse_expression
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.evaluation.evaluate import Evaluator, compile_expression
from registry.mapping.operations import OPERATIONS
from registry.mapping.row import Row

__all__ = ["examples", "measured"]

_ROUNDS = 5
_TEXT = "What is heavier, a feather or a ledger?"
_RECORD = {"text": _TEXT, "number": 3, "list": ["red", "blue", "green"], "object": {"key": "x"}}
_FORMS: dict[str, Any] = {
    "column": "text",
    "path": "object.key",
    "list": ["text", "object.key"],
    "template": {"template": "Question: {text}\nNumber {number}{none|}"},
    "hash": {"hash": ["text", "number"], "length": 12},
    "object": {"object": {"a": "text", "b": "number"}},
    "if": {"if": {"value": "number", "less": 5}, "then": "text", "else": "object.key"},
    "messages": {"messages": [{"role": "user", "content": "text"}]},
    "row_number": {"row_number": 0, "width": 4},
}
"""Expressions that are no operation."""


def examples() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield a name, an expression as a manifest writes it, and a record for it."""
    for name, raw in _FORMS.items():
        yield name, raw, _RECORD
    for name, operation in OPERATIONS.items():
        example = operation.example
        record = {"value": example.value, **(example.record or {})}
        yield f"`{name}`", {"from": "value", "do": [example.step]}, record


def measured(*, rows: int) -> dict[str, dict[str, float | None]]:
    """Return the seconds per record of each example: of a record alone, and of one in a batch."""
    return {name: _measured(raw, [record] * rows) for name, raw, record in examples()}


def _measured(raw: Any, records: list[dict[str, Any]]) -> dict[str, float | None]:
    expression = parse_expression(raw)
    alone, evaluate = compile_expression(expression), Evaluator().of(expression)
    rows = [Row(record, number) for number, record in enumerate(records, 1)]
    # A new view each time: one remembers the values that were read.
    views = iter([_view(records) for _ in range(_ROUNDS)])
    return {
        "alone": _best(lambda: list(map(alone, rows)), len(rows)),
        "batch": _best(lambda: evaluate(next(views)), len(rows)),
    }


def _view(records: list[dict[str, Any]]) -> RecordBatchView:
    numbers = np.arange(1, len(records) + 1)
    return RecordBatchView(_frame(records), {}, numbers)


def _frame(records: list[dict[str, Any]]) -> AnyFrame:
    """Return the records as columns of Arrow's, or as values where Arrow has no type for them."""
    try:
        return Frame(pa.RecordBatch.from_pylist(records))
    except pa.ArrowException:
        names = records[0]
        return ValueFrame(len(records), {name: [one[name] for one in records] for name in names})


def _best(action: Callable[[], object], count: int) -> float:
    with gc_paused():
        return min(seconds(action) for _ in range(_ROUNDS)) / count
