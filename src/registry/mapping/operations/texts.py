"""Operations on text."""

from __future__ import annotations

from typing import Any

from registry.mapping.operations.operation import Apply, Example, Operation, need

__all__ = ["OPERATIONS"]


def _split(argument: Any, _: Any) -> Apply:
    if not isinstance(argument, str) or not argument:
        raise ValueError("takes the separator, a text that is not empty")
    return lambda value, record: need(value, str, "text").split(argument)


def _strip(argument: Any, _: Any) -> Apply:
    if argument is not None and not isinstance(argument, str):
        raise ValueError("takes the characters to strip as text")
    return lambda value, record: need(value, str, "text").strip(argument)


OPERATIONS = (
    Operation(
        "split",
        "Split text at a separator into a list.",
        _split,
        Example({"split": "####"}, "steps #### 18", ["steps ", " 18"]),
    ),
    Operation(
        "strip",
        "Take blanks, or the characters given, off both ends of a text.",
        _strip,
        Example("strip", " 18\n", "18"),
    ),
)
