"""Operations that choose between values: tables, fallbacks, tests."""

from __future__ import annotations

import copy
import json
from typing import Any

from registry.errors import MappingError
from registry.mapping.conditions import is_empty
from registry.mapping.operations.base import (
    Apply,
    Compiler,
    Example,
    Operation,
    as_list,
    no_argument,
)

__all__ = ["OPERATIONS"]


def _map(argument: Any, _: Any) -> Apply:
    """Look a value up by its text; numbers, flags and null by how YAML writes them."""
    if not isinstance(argument, dict) or not argument:
        raise ValueError("takes a map from value to result")
    if not all(isinstance(key, str) for key in argument):
        raise ValueError("the keys of the map are texts, as YAML writes the value")

    def apply(value: Any, row: Any) -> Any:
        key = value if isinstance(value, str) else _as_yaml(value)
        if key in argument:
            return copy.deepcopy(argument[key])
        if "*" in argument:
            return copy.deepcopy(argument["*"])
        raise MappingError(f"no entry among {', '.join(argument)}", value=value)

    return apply


def _as_yaml(value: Any) -> str | None:
    plain = value is None or isinstance(value, bool | int | float)
    return json.dumps(value) if plain else None


def _default(argument: Any, _: Any) -> Apply:
    return lambda value, row: copy.deepcopy(argument) if is_empty(value) else value


def _coalesce(argument: Any, compiler: Compiler) -> Apply:
    others = [compiler.expression(item) for item in as_list(argument)]

    def apply(value: Any, row: Any) -> Any:
        if not is_empty(value):
            return value
        values = (other(row) for other in others)
        return next((found for found in values if not is_empty(found)), None)

    return apply


def _nonempty(argument: Any, _: Any) -> Apply:
    no_argument(argument)
    return lambda value, row: not is_empty(value)


def _equals(argument: Any, compiler: Compiler) -> Apply:
    return compiler.condition({"equals": argument})


def _test(argument: Any, compiler: Compiler) -> Apply:
    return compiler.condition(argument)


def _keep(argument: Any, compiler: Compiler) -> Apply:
    holds = compiler.condition(argument)

    def apply(value: Any, row: Any) -> list[Any]:
        if not isinstance(value, list):
            raise MappingError("needs a list", value=value)
        return [item for item in value if holds(item, row)]

    return apply


OPERATIONS = (
    Operation(
        "map",
        "Look the value up in a table; the key `*` stands for all others.",
        _map,
        Example({"map": {"0": "No", "1": "Yes"}}, 1, "Yes"),
    ),
    Operation(
        "default",
        "A constant in place of a value that is missing, null or empty.",
        _default,
        Example({"default": "none"}, None, "none"),
        takes_missing=True,
    ),
    Operation(
        "coalesce",
        "The first of other expressions that is not empty, where the value is.",
        _coalesce,
        Example({"coalesce": ["b", "c"]}, None, 2, {"b": "", "c": 2}),
        takes_missing=True,
        expressions=as_list,
    ),
    Operation(
        "nonempty",
        "Whether the value is there and not empty.",
        _nonempty,
        Example("nonempty", [], False),
        takes_missing=True,
    ),
    Operation(
        "equals",
        "Whether the value equals another.",
        _equals,
        Example({"equals": "yes"}, "yes", True),
    ),
    Operation(
        "test",
        "Whether the value meets comparisons.",
        _test,
        Example({"test": {"regex": "^A", "not_in": ["Ann"]}}, "Anton", True),
        takes_missing=True,
    ),
    Operation(
        "keep",
        "The items of a list that meet comparisons.",
        _keep,
        Example({"keep": {"not_equals": "x"}}, ["a", "x"], ["a"]),
    ),
)
