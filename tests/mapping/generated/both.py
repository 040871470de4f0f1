"""Evaluate an expression or condition by its generated function, and record by record."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from registry.errors import MappingError
from registry.manifest.expressions import (
    AllOf,
    AnyOf,
    Comparisons,
    Condition,
    Expression,
    Not,
    parse_expression,
)
from registry.mapping.conditions import compile_condition
from registry.mapping.evaluate import compile_expression
from registry.mapping.generated.batch import (
    BatchFunction,
    compile_batch,
    compile_batch_condition,
)
from registry.mapping.row import Row, get_column

Record = dict[str, Any]


class Slow:
    """Says which records the generated function left to the other way."""

    def __init__(self) -> None:
        self.indices: list[int] = []

    def __call__(self, index: int) -> Any:
        """Remember an index."""
        self.indices.append(index)
        return self


def compiled(node: Expression | Condition) -> BatchFunction:
    """Return the function of an expression or condition that has one."""
    if isinstance(node, AllOf | AnyOf | Comparisons | Not):
        function = compile_batch_condition(node)
    else:
        function = compile_batch(node)
    assert function is not None
    assert_only_names(function.source)
    return function


def assert_only_names(source: str) -> None:
    """Assert that a text has no strings but those that every generated function may have."""
    constants = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    texts = {node.value for node in constants if isinstance(node.value, str | bytes)}
    # The width of a number: "04d".
    assert {text for text in texts if not re.fullmatch(r"(0-?\d+d)?", str(text))} == set()


def assert_same(
    node: Expression | Condition | Any, records: Sequence[Record], *, fast: bool | None = None
) -> list[Any]:
    """Assert that the function gives what the evaluator gives, where it does not step aside.

    Args:
        node: An expression or condition, or an expression as a manifest writes it.
        records: The records.
        fast: Whether every record is decided by the function, or none; None for either.

    Returns:
        What the function gives; the `Slow` itself for a record that it leaves.
    """
    node = parse_expression(node) if isinstance(node, str | list | dict) else node
    function, slow = compiled(node), Slow()
    evaluate = (
        compile_condition(node, compile_expression)
        if isinstance(node, AllOf | AnyOf | Comparisons | Not)
        else compile_expression(node)
    )
    columns = [[get_column(record, name) for record in records] for name in function.columns]
    numbers = list(range(3, 3 + len(records)))
    found = function(columns, numbers, slow)
    for record, number, value in zip(records, numbers, found, strict=True):
        try:
            expected = evaluate(Row(record, number))
        except (MappingError, ArithmeticError, UnicodeEncodeError):
            expected = slow
        assert value is slow or exactly(value) == exactly(expected), record
    if fast is not None:
        assert len(slow.indices) == (0 if fast else len(records)), function.source
    return found


def exactly(value: Any) -> Any:
    """Return a value that is equal only for equal values of the same types, in the same order."""
    if isinstance(value, dict):
        return dict, [(exactly(key), exactly(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [exactly(item) for item in value]
    return type(value), repr(value)
