"""Find out which expressions only make values that JSON has, without a look at the values."""

from __future__ import annotations

from registry.decode.frame import ValueFrame
from registry.manifest.expressions import (
    Column,
    Const,
    Expression,
    Hash,
    If,
    ListOf,
    ObjectOf,
    OperationCall,
    Pipe,
    RowNumber,
    Template,
    parse_operations,
)
from registry.mapping.columnar.fields import metadata_type_of_column
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.store.json_texts import are_plain

__all__ = ["is_plain", "is_plain_spread"]


def is_plain(expression: Expression, view: RecordBatchView) -> bool:
    """Return whether the values of an expression are surely those that JSON has."""
    match expression:
        case Column(name):
            # Constants may be dates.
            return not view.has_constant(name) and _is_plain_column(name, view)
        case Const(value):
            return are_plain([value])
        case ObjectOf(pairs):
            return all(is_plain(item, view) for _, item in pairs)
        case ListOf(items):
            return all(is_plain(item, view) for item in items)
        case If(_, then, otherwise):
            return is_plain(then, view) and is_plain(otherwise, view)
        case Template() | RowNumber() | Hash():
            return True
        case Pipe(start, calls):
            return is_plain(start, view) and all(map(_keeps_plain, calls))
        case _:
            return False


def is_plain_spread(name: str, view: RecordBatchView) -> bool:
    """Return whether the dicts in a column, `*` for the records, surely are those of JSON."""
    if name == "*":
        return isinstance(view.frame, ValueFrame) and not view.constants
    # A str is parsed, and may have a NaN.
    is_plain = not view.has_constant(name) and view.holds_values(name)
    return is_plain and str not in set(map(type, view.values(name)))


def _is_plain_column(name: str, view: RecordBatchView) -> bool:
    if view.holds_values(name):
        return True
    column = view.column(name)
    # A float may be NaN, unless it comes from JSON.
    return column is not None and (
        column.null_count == len(column)
        or metadata_type_of_column(column) in ("str", "str_list", "int", "bool")
    )


def _keeps_plain(call: OperationCall) -> bool:
    """Return whether an operation surely makes values that JSON has from such values."""
    if call.name == "default":
        return are_plain([call.arguments])
    if call.name == "each":
        inner = call.arguments
        return not isinstance(inner, dict) and all(map(_keeps_plain, parse_operations(inner)))
    return call.name in ("drop_null", "index", "slice", "split", "strip", "join", "keys", "pluck")
