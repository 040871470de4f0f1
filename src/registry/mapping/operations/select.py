"""Operations that choose between values: lookup tables, defaults and tests."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from registry.errors import list_names
from registry.manifest.expressions import parse_comparisons
from registry.mapping.batch import size_of
from registry.mapping.conditions import compile_comparisons, is_empty, takes_long
from registry.mapping.operations.base import (
    BatchStep,
    Compiler,
    Operation,
    OperationExample,
    StarredTable,
    Step,
    as_list,
    no_argument,
    on_list,
)

if TYPE_CHECKING:
    from registry.mapping.batch import Batch

__all__ = ["OPERATIONS"]

_LARGE = 128
"""Bytes of a constant from which it counts how often it is repeated."""


def _map(argument: Any, compiler: Compiler) -> Step:
    if not isinstance(argument, dict) or not argument:
        raise ValueError("takes a mapping from value to result")
    if not all(isinstance(key, str) for key in argument):
        raise ValueError("the keys of the mapping are strings, as YAML writes the value")
    result_of, to_key = argument.__getitem__, _to_key
    if "*" in argument:
        table = StarredTable(argument, _to_key)
        compiler.tables.append(table)
        result_of, to_key = table.result_of, table.key_of
    are_shared = all(isinstance(item, str | int | float | None) for item in argument.values())
    return Step(
        # Copies, so that a change in one sample does not change the others.
        result_of if are_shared else lambda key: copy.deepcopy(result_of(key)),
        str,
        to_key,
        lambda _: f"no entry among {list_names([*argument])}",
        is_heavy=size_of(argument) > _LARGE,
    )


def _to_key(value: Any) -> str | None:
    """Return a value as the key of a mapping has it; None for what can't be one."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, int | float):
        return json.dumps(value)  # null and 1.5 as YAML writes them
    return value if isinstance(value, str) else None


def _default(argument: Any, _: Any) -> Step:
    return Step(
        lambda value: copy.deepcopy(argument) if is_empty(value) else value,
        is_heavy=size_of(argument) > _LARGE,
    )


def _coalesce(argument: Any, compiler: Compiler) -> BatchStep:
    others = [compiler.expression(item) for item in as_list(argument)]

    def coalesced(batch: Batch, values: list[Any]) -> list[Any]:
        found = list(values)
        for other in others:
            empty = [place for place, value in enumerate(found) if is_empty(value)]
            # Only where it is needed: elsewhere it may be an error.
            for place, value in zip(empty, other(batch.take(empty)), strict=True):
                found[place] = value
        return [None if is_empty(value) else value for value in found]

    return coalesced


def _test(argument: Any, _: Any) -> Step:
    comparisons = parse_comparisons(argument)
    return Step(compile_comparisons(comparisons), is_heavy=takes_long(comparisons))


def _keep(argument: Any, _: Any) -> Step:
    comparisons = parse_comparisons(argument)
    holds = compile_comparisons(comparisons)
    return on_list(lambda items: list(filter(holds, items)), is_heavy=takes_long(comparisons))


OPERATIONS = (
    Operation(
        "map",
        "Look the value up in a table; the key `*` matches any other value.",
        _map,
        OperationExample({"map": {"0": "No", "1": "Yes"}}, 1, "Yes"),
        texts=lambda argument: list(argument.values()),
    ),
    Operation(
        "default",
        "Replace a value that is missing, null or empty with a constant.",
        _default,
        OperationExample({"default": "none"}, None, "none"),
        takes_missing=True,
        texts=lambda argument: argument,
    ),
    Operation(
        "coalesce",
        "Replace a value that is missing, null or empty with the first expression that is not.",
        _coalesce,
        OperationExample({"coalesce": ["b", "c"]}, None, 2, {"b": "", "c": 2}),
        takes_missing=True,
        expressions=as_list,
        optional=True,
    ),
    Operation(
        "nonempty",
        "Whether the value is not missing, null or empty.",
        no_argument(Step(lambda value: not is_empty(value))),
        OperationExample("nonempty", [], False),
        takes_missing=True,
    ),
    Operation(
        "equals",
        "Whether the value equals a constant.",
        lambda argument, compiler: _test({"equals": argument}, compiler),
        OperationExample({"equals": "yes"}, "yes", True),
    ),
    Operation(
        "test",
        "Whether the value meets comparisons.",
        _test,
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
