"""Generate the code of the operations of a pipe: each by its emitter, or as a call of its step."""

from __future__ import annotations

from collections.abc import Sequence

from registry.manifest.expressions import Const, OperationCall, Pipe
from registry.mapping.columns_used import expression_dependencies, uses_row_number
from registry.mapping.evaluate import COMPILER
from registry.mapping.generated import (
    chat_operations,
    list_operations,
    text_operations,
    value_operations,
)
from registry.mapping.generated.runtime import make_row
from registry.mapping.generated.source import NotGeneratedError, Source, Value
from registry.mapping.operations import build_operation, find_operation
from registry.mapping.row import Row

__all__ = ["EMITTERS", "emit_steps"]

EMITTERS = {
    **text_operations.EMITTERS,
    **value_operations.EMITTERS,
    **list_operations.EMITTERS,
    **chat_operations.EMITTERS,
}
"""Name of an operation → what adds its lines; other operations are called.

What an emitter adds steps aside for MISSING, unless the operation takes a missing column.
"""


def emit_steps(source: Source, value: Value, calls: Sequence[OperationCall]) -> Value:
    """Add the lines that apply operations to a value, and return the result."""
    for call in calls:
        emit = EMITTERS.get(call.name)
        result = emit(source, value, call.arguments) if emit else None
        value = _call(source, value, call) if result is None else result
    return value


def _call(source: Source, value: Value, call: OperationCall) -> Value:
    """Add the call of the step that evaluates the operation for one record."""
    if not find_operation(call).takes_missing:
        value = source.required(value)
    step = source.bind(build_operation(call, COMPILER))
    return source.assign(f"{step}({value.name}, {_row(source, call)})", "given")


def _row(source: Source, call: OperationCall) -> str:
    """Return the Python expression of a row that has what the argument of an operation reads."""
    pipe = Pipe(Const(None), (call,))
    reads, numbered = expression_dependencies(pipe), uses_row_number(pipe)
    if reads is None:
        raise NotGeneratedError
    if not reads and not numbered:
        return source.bind(Row({}))
    source.reads_number |= numbered
    values: dict[str, Value] = {}
    for path in sorted(reads):
        values |= source.scope_of(path) or {path: source.column(path)}
    names = "".join(f"{value.name}, " for value in values.values())
    number = "number" if numbered else "1"
    return f"{source.bind(make_row)}({source.bind(tuple(values))}, ({names}), {number})"
