"""The operations of the field language: one table, one module a family.

An operation is a function `(value, argument, record) -> value` with a row in a module's table.
It raises MappingError for a value that it can't work on, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from registry.errors import did_you_mean
from registry.mapping.operations import letters, lists, texts

if TYPE_CHECKING:
    from registry.fields import Expression, OperationCall
    from registry.mapping.operations.operation import Apply, Operation

__all__ = ["OPERATIONS", "compile_operation"]

OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for family in (texts, lists, letters)
    for operation in family.OPERATIONS
}
"""All operations by name."""


def compile_operation(
    call: OperationCall, compile_expression: Callable[[Expression], Callable[[Any], Any]]
) -> Apply:
    """Return the function `(value, record) -> value` of one step of a pipe.

    Raises:
        ValueError: no such operation, or an argument that does not fit.
    """
    operation = OPERATIONS.get(call.name)
    if operation is None:
        raise ValueError(
            f"no operation '{call.name}' {did_you_mean(call.name, OPERATIONS)}".strip()
        )
    try:
        return operation.build(call.arguments, compile_expression)
    except (TypeError, ValueError) as error:
        raise ValueError(f"operation {call.name}: {error}") from error
