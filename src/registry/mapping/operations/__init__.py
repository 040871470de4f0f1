"""The operations of the field language: one table, one module per family.

Each operation is a row in the table of its module. Its `build` returns a `Step`: a function of one
value, whose only error for a value that it can't work on is MappingError. The few that decide which
expressions are evaluated, such as `each`, return a function of a whole batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.errors import did_you_mean
from registry.mapping.operations import chat, items, letters, lists, numbers, select, text

if TYPE_CHECKING:
    from registry.manifest.expressions import OperationCall
    from registry.mapping.operations.base import BatchStep, Compiler, Operation, Step

__all__ = ["OPERATIONS", "OPERATION_FAMILIES", "build_operation", "find_operation"]

OPERATION_FAMILIES = {
    "Text": text,
    "Numbers, dates and JSON": numbers,
    "Lists and dicts": lists,
    "Items of lists": items,
    "Choosing": select,
    "Letters": letters,
    "Chat and media": chat,
}
"""Section of the documentation → module."""

OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for family in OPERATION_FAMILIES.values()
    for operation in family.OPERATIONS
}
"""All operations by name."""


def find_operation(call: OperationCall) -> Operation:
    """Return an operation by its name; a ValueError suggests the closest one."""
    operation = OPERATIONS.get(call.name)
    if operation is None:
        hint = did_you_mean(call.name, OPERATIONS)
        raise ValueError(f"no operation '{call.name}' {hint}".strip())
    return operation


def build_operation(call: OperationCall, compiler: Compiler) -> Step | BatchStep:
    """Return one step of a pipe.

    Raises:
        ValueError: no such operation, or an invalid argument.
    """
    operation = find_operation(call)
    try:
        return operation.build(call.arguments, compiler)
    except ValueError as error:
        raise ValueError(f"operation {call.name}: {error}") from error
