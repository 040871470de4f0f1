"""Generated tests of conditions decide as those that are evaluated record by record."""

from __future__ import annotations

from typing import Any

import pytest

from registry.errors import MappingError
from registry.manifest.expressions import parse_condition
from registry.mapping import regex
from registry.mapping.generated.batch import compile_batch_condition
from registry.mapping.row import MISSING
from tests.mapping.generated.both import assert_same
from tests.mapping.generated.odd_values import ODD

OPERANDS: list[Any] = ["", "a", "7", 0, 1, 1.0, True, False, None, [], ["a"], {"a": 1}, 2**70]
ROWS = [{} if value is MISSING else {"a": value} for value in ODD]
COMPARISONS = [
    *({name: operand} for name in ("equals", "not_equals") for operand in OPERANDS),
    *({name: [*OPERANDS[start:], 3]} for name in ("in", "not_in") for start in (0, 3, 13)),
    {"in": ["a", "7"]},
    {"not_in": ["a", "7"]},
    *({name: 1} for name in ("less", "at_most", "greater", "at_least")),
    *({name: 1.5} for name in ("less", "at_most", "greater", "at_least")),
    *({name: "a"} for name in ("less", "at_most", "greater", "at_least")),
    {"empty": True},
    {"empty": False},
    {"regex": "^[a-x]+$"},
    {"regex": "(a+)+$", "not_equals": "b"},
]


@pytest.mark.parametrize("comparisons", COMPARISONS, ids=str)
def test_comparison_of_odd_values(comparisons: dict[str, Any]) -> None:
    assert_same(parse_condition({"value": "a", **comparisons}), ROWS)
    listed = {"from": ["a"], "do": [{"keep": comparisons}]}
    assert_same(listed, ROWS)


@pytest.mark.parametrize("value", ["", "a", None, MISSING, [], {}, 5, True, 1.5])
def test_usual_values_are_decided_by_the_function(value: Any) -> None:
    record = {} if value is MISSING else {"a": value}
    for comparisons in COMPARISONS:
        if not comparisons.keys() & {"less", "at_most", "greater", "at_least"}:
            assert_same(parse_condition({"value": "a", **comparisons}), [record], fast=True)


def test_all_any_and_not_of_conditions() -> None:
    a, b = {"value": "a", "equals": 1}, {"value": "b", "greater": 1}
    rows = [{"a": x, "b": y} for x in (1, 2) for y in (1, 2, None)]
    raws: list[Any] = [[a, b], {"any": [a, b]}, {"not": {"any": [a, {"not": b}]}}, [], {"any": []},
                {"all": [a, {"any": [b, {"not": a}]}, b]}]  # fmt: skip
    for raw in raws:
        assert_same(parse_condition(raw), rows, fast=True)


def test_a_condition_that_others_decide_is_not_evaluated() -> None:
    raw = [{"value": "a", "equals": 1}, {"value": {"from": "b", "do": ["int"]}, "equals": 2}]
    assert assert_same(parse_condition(raw), [{"a": 2, "b": "x"}], fast=True) == [False]


def test_text_that_a_pattern_may_take_long_with_is_for_the_other_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(regex, "SECONDS", 0.2)
    function = compile_batch_condition(parse_condition({"value": "a", "regex": "(x+x+)+y"}))
    assert function is not None

    def slow(index: int) -> Any:
        raise MappingError("took too long")

    with pytest.raises(MappingError, match="took too long"):
        function([["x" * 3000]], [1], slow)
