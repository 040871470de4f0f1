"""Evaluate an expression of the field language on one record."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from registry.errors import MappingError, did_you_mean
from registry.fields import Column, Const, Expression, Hash, ListOf, OperationCall, Pipe
from registry.mapping.operations import compile_operation

if TYPE_CHECKING:
    from registry.sample import DatasetRecord

__all__ = ["MISSING", "Evaluator", "compile_expression", "look_up", "no_column"]


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""What an expression gives for a column that the record does not have."""

Evaluator = Callable[["DatasetRecord"], Any]
"""A compiled expression: record → value, or MISSING."""


def look_up(record: DatasetRecord, name: str) -> Any:
    """Return a column by its exact name, else by a dotted path into it; else MISSING."""
    if name in record:
        return record[name]
    head, dot, rest = name.partition(".")
    while dot:
        if head in record:
            inner = record[head]
            found = look_up(inner, rest) if isinstance(inner, dict) else MISSING
            if found is not MISSING:
                return found
        more, dot, rest = rest.partition(".")
        head = f"{head}.{more}"
    return MISSING


def no_column(name: str, record: DatasetRecord) -> MappingError:
    """Return the error for a column that is not there, with what is."""
    hint = did_you_mean(name, record)
    shown = ", ".join(list(map(str, record))[:12]) + (", …" if len(record) > 12 else "")
    return MappingError(f"no column '{name}' ({hint or f'columns: {shown}'})")


def compile_expression(expression: Expression) -> Evaluator:
    """Return the function that evaluates `expression`.

    Raises:
        ValueError: an operation is unknown, or its arguments do not fit.
    """
    match expression:
        case Column(name):
            return lambda record: look_up(record, name)
        case Const(value):
            return lambda record: copy.deepcopy(value)
        case ListOf(items):
            return _compile_list(items)
        case Hash():
            return _compile_hash(expression)
        case Pipe(start, operations):
            return _compile_pipe(start, operations)


def _compile_required(expression: Expression) -> Evaluator:
    """Compile an expression whose column must be there."""
    evaluate = compile_expression(expression)

    def required(record: DatasetRecord) -> Any:
        value = evaluate(record)
        if value is MISSING:
            name = expression.name if isinstance(expression, Column) else str(expression)
            raise no_column(name, record)
        return value

    return required


def _compile_list(items: tuple[Expression, ...]) -> Evaluator:
    evaluators = [_compile_required(item) for item in items]

    def evaluate(record: DatasetRecord) -> list[Any]:
        values: list[Any] = []
        for evaluator in evaluators:
            value = evaluator(record)
            if isinstance(value, list):
                values.extend(value)
            else:
                values.append(value)
        return values

    return evaluate


def _compile_hash(expression: Hash) -> Evaluator:
    evaluators = [_compile_required(field) for field in expression.fields]
    prefix = f"{expression.prefix}_" if expression.prefix else ""
    algorithm, length = expression.algorithm, expression.length

    def evaluate(record: DatasetRecord) -> str:
        text = "\0".join(str(evaluator(record)) for evaluator in evaluators)
        data = text.encode("utf-8", "surrogatepass")
        digest = hashlib.new(algorithm, data, usedforsecurity=False).hexdigest()
        return f"{prefix}{digest[:length]}"

    return evaluate


def _compile_pipe(start: Expression, calls: tuple[OperationCall, ...]) -> Evaluator:
    evaluate_start = _compile_required(start)
    steps = [_compile_step(call) for call in calls]

    def evaluate(record: DatasetRecord) -> Any:
        value = evaluate_start(record)
        for step in steps:
            value = step(value, record)
        return value

    return evaluate


def _compile_step(call: OperationCall) -> Callable[[Any, DatasetRecord], Any]:
    operation = compile_operation(call, compile_expression)
    shown = call.name if call.arguments is None else f"{call.name}({call.arguments})"

    def step(value: Any, record: DatasetRecord) -> Any:
        try:
            return operation(value, record)
        except MappingError as error:
            raise error.at(operation=shown) from error.__cause__

    return step
