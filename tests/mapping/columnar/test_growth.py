"""No value of an expression is larger than its growth says, unless the growth is unknown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from registry.manifest.expressions import parse_expression
from registry.mapping.columnar.growth import growth_of
from registry.mapping.evaluate import compile_expression
from registry.mapping.row import Row
from registry.mapping.sizes import size_of

RECORD = {
    "t": "İstanbul (a) " * 50,
    "l": ["x", "", "ab"] * 40,
    "d": {"k": "v" * 90, "": ""},
    "j": json.dumps([1] * 300),
    "n": 7,
    "e": "",
    "o": [{"a": "y" * 9}] * 9,
}
SIZE = len(json.dumps(RECORD, ensure_ascii=False).encode())


@pytest.mark.parametrize(
    "raw",
    [
        "t",
        {"const": ["x" * 1000]},
        ["t", "l", "t"],
        {"object": {"x": "t", "y": "d"}},
        {"template": "{t}{t} {?e}none{/}{e|nothing}{n}{?t}{t}{/}{x}", "with": {"x": "t"}},
        {"hash": ["t"], "prefix": "t"},
        {"row_number": 3, "width": 9},
        {"if": {"value": "n", "equals": 7}, "then": "t", "else": ["t", "t"]},
        {"messages": [{"role": "system", "content": "t"}, {"role": "user", "content": "t"}]},
        {"from": "t", "do": ["lower", "upper", {"split": "("}, {"slice": [0, -1]}]},
        {"from": "t", "do": [{"replace": {"a": "bcdef", "b": "xx"}}]},
        {"from": "t", "do": [{"regex": r"(.*)"}]},
        {"from": "j", "do": [{"parse": "json"}]},
        {"from": "e", "do": [{"default": ["x" * 99] * 9}]},
        {"from": "n", "do": [{"map": {"7": "y" * 999}}]},
        {"from": "l", "do": [{"join": ", and then "}]},
        {"from": "l", "do": [{"each": [{"default": "none at all"}]}]},
        {"from": ["l", "l", "l"], "do": [{"each": [{"default": "none" * 60}]}]},
        {"from": "o", "do": [{"pluck": "a"}, "unique", "sort"]},
        {"from": "d", "do": [{"items": ": "}]},
    ],
    ids=str,
)
def test_values_are_never_larger(raw: Any) -> None:
    expression = parse_expression(raw)
    growth = growth_of(expression)
    assert growth is not None
    value = compile_expression(expression)(Row(RECORD))
    # `size_of` adds some bytes for each list, and for each number.
    assert size_of(value) <= growth.bytes(SIZE, 1) + 8 * 400


@pytest.mark.parametrize(
    "raw",
    [
        {"from": "t", "do": [{"sub": {"pattern": "x", "to": "yyyy"}}]},
        {"from": "l", "do": [{"each": {"to": {"template": "{t}{item}"}}}]},
        {"if": {"value": "n", "equals": 7}, "then": {"from": "l", "do": "dump"}},
        {"from": "n", "do": [{"coalesce": "t"}]},
    ],
    ids=str,
)
def test_the_growth_of_some_operations_is_unknown(raw: Any) -> None:
    assert growth_of(parse_expression(raw)) is None
