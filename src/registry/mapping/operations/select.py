"""Operations that choose between values: lookup tables, defaults and tests."""

from __future__ import annotations

import copy
import json
from typing import Any

from registry.errors import MappingError
from registry.mapping.conditions import is_empty
from registry.mapping.operations.base import (
    Apply,
    Compiler,
    Operation,
    OperationExample,
    as_list,
    expect_type,
    no_argument,
)

__all__ = ["OPERATIONS"]


def _map(argument: Any, _: Any) -> Apply:
    if not isinstance(argument, dict) or not argument:
        raise ValueError("takes a mapping from value to result")
    if not all(isinstance(key, str) for key in argument):
        raise ValueError("the keys of the mapping are strings, as YAML writes the value")

    def apply(value: Any, row: Any) -> Any:
        key = value if isinstance(value, str) else None
        if value is None or isinstance(value, int | float):
            key = json.dumps(value)  # true, null and 1.5 as YAML writes them
        # Copies, so that a change in one sample does not change the others.
        if key in argument:
            return copy.deepcopy(argument[key])
        if "*" in argument:
            return copy.deepcopy(argument["*"])
        raise MappingError(f"no entry among {', '.join(argument)}", value=value)

    return apply


def _coalesce(argument: Any, compiler: Compiler) -> Apply:
    others = [compiler.expression(item) for item in as_list(argument)]

    def apply(value: Any, row: Any) -> Any:
        if not is_empty(value):
            return value
        values = (other(row) for other in others)
        return next((found for found in values if not is_empty(found)), None)

    return apply


def _keep(argument: Any, compiler: Compiler) -> Apply:
    holds = compiler.condition(argument)
    return lambda value, row: [
        item for item in expect_type(value, list, "a list") if holds(item, row)
    ]


OPERATIONS = (
    Operation(
        "map",
        "Look the value up in a table; the key `*` matches any other value.",
        _map,
        OperationExample({"map": {"0": "No", "1": "Yes"}}, 1, "Yes"),
    ),
    Operation(
        "default",
        "Replace a value that is missing, null or empty with a constant.",
        lambda argument, _: (
            lambda value, row: copy.deepcopy(argument) if is_empty(value) else value
        ),
        OperationExample({"default": "none"}, None, "none"),
        takes_missing=True,
    ),
    Operation(
        "coalesce",
        "Replace a value that is missing, null or empty with the first expression that is not.",
        _coalesce,
        OperationExample({"coalesce": ["b", "c"]}, None, 2, {"b": "", "c": 2}),
        takes_missing=True,
        expressions=as_list,
    ),
    Operation(
        "nonempty",
        "Whether the value is not missing, null or empty.",
        no_argument(lambda value, row: not is_empty(value)),
        OperationExample("nonempty", [], False),
        takes_missing=True,
    ),
    Operation(
        "equals",
        "Whether the value equals a constant.",
        lambda argument, compiler: compiler.condition({"equals": argument}),
        OperationExample({"equals": "yes"}, "yes", True),
    ),
    Operation(
        "test",
        "Whether the value meets comparisons.",
        lambda argument, compiler: compiler.condition(argument),
        OperationExample({"test": {"regex": "^A", "not_in": ["Ann"]}}, "Anton", True),
        takes_missing=True,
    ),
    Operation(
        "keep",
        "The items of a list that meet comparisons.",
        _keep,
        OperationExample({"keep": {"not_equals": "x"}}, ["a", "x"], ["a"]),
    ),
)
