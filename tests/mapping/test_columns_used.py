"""Which columns expressions, conditions and metadata read, and whether they read the row number."""

from __future__ import annotations

from typing import Any

import pytest

from registry.manifest.expressions import parse_condition, parse_expression
from registry.manifest.models import FieldsSpec
from registry.mapping.columns_used import (
    join_dependencies,
    mapping_dependencies,
    node_dependencies,
    uses_row_number,
)


def of_a(*steps: Any) -> dict[str, Any]:
    """Return the expression that applies operations to the column `a`."""
    return {"from": "a", "do": list(steps)}


INNER = {"from": "x", "do": [{"each": {"to": ["x", "item", "b"]}}]}


@pytest.mark.parametrize(
    ("raw", "columns"),
    [
        ("a.b", "a.b"),
        ({"const": "a"}, ""),
        ({"row_number": 1}, ""),
        (["a", {"const": "x"}, ["b"]], "a b"),
        ({"object": {"x": "a", "y": "b"}}, "a b"),
        ({"template": "{a} {?b}{c|none}{/}"}, "a b c"),
        ({"template": "{a} {v}", "with": {"v": "w", "unused": "u"}}, "a w u"),
        ({"hash": ["a", "b"]}, "a b"),
        ({"hash": ["a"], "prefix": "text"}, "a"),
        ({"hash": ["a"], "prefix": {"template": "{p}"}}, "a p"),
        ({"if": {"value": "a", "empty": True}, "then": "b", "else": "c"}, "a b c"),
        ({"messages": [{"role": "user", "content": [{"text": "a"}, {"image": "b"}]}]}, "a b"),
        (of_a("strip", {"split": "b"}), "a"),
        (of_a({"coalesce": ["b", {"template": "{c}"}]}), "a b c"),
        (of_a({"each": [{"letter_in": "b"}]}), "a b"),
        (of_a({"index": "b"}, {"index": 1}, {"shuffle": "c"}), "a b c"),
        (of_a({"slice": ["b", None]}, {"slice": [0, {"from": "c"}]}), "a b c"),
        (of_a({"each": {"to": {"template": "{item.x} {index} {b}"}}}), "a b"),
        (of_a({"each": {"where": {"value": "b", "equals": 1}}}), "a b"),
        (of_a({"each": {"to": ["item", "index", "x.y"], "item": "x"}}), "a item"),
        ({"from": "item", "do": [{"dict": {"key": "b", "value": ["item", "s"]}}]}, "item b s"),
        (of_a({"each": {"to": INNER, "item": "x"}}), "a b"),
        (of_a({"each": [{"each": {"to": "b"}}]}), "a b"),
    ],
)
def test_an_expression_depends_on_every_column_in_it(raw: Any, columns: str) -> None:
    assert node_dependencies(parse_expression(raw)) == frozenset(columns.split())


@pytest.mark.parametrize(
    "raw",
    [
        {"hash": "*"},
        ["a", {"hash": "*"}],
        {"from": "a", "do": [{"coalesce": {"hash": "*"}}]},
        {"from": "a", "do": [{"each": {"to": {"hash": "*"}}}]},
        {"if": {"value": {"hash": "*"}, "equals": "x"}, "then": "a"},
    ],
)
def test_hash_without_fields_depends_on_the_whole_record(raw: Any) -> None:
    assert node_dependencies(parse_expression(raw)) is None


@pytest.mark.parametrize(
    ("raw", "columns"),
    [
        ({"value": "a", "equals": "b"}, "a"),
        ([{"value": "a", "equals": 1}, {"value": "b.c", "less": 2}], "a b.c"),
        ({"any": [{"value": "a", "equals": 1}, {"not": {"value": "b", "empty": True}}]}, "a b"),
    ],
)
def test_condition_depends_on_the_columns_it_compares(raw: Any, columns: str) -> None:
    assert node_dependencies(parse_condition(raw)) == frozenset(columns.split())


@pytest.mark.parametrize(
    ("raw", "columns"),
    [
        (None, frozenset()),
        ("m", frozenset("m")),
        (["a", "b"], frozenset("ab")),
        ({"x": "a", "y": {"template": "{b}"}}, frozenset("ab")),
        ({"*": "m", "x": "a"}, frozenset("ma")),
        ({"x": "*"}, frozenset("*")),
        ("*", None),
        ({"*": "*", "x": "a"}, None),
        ({"x": {"hash": "*"}}, None),
    ],
)
def test_metadata_depends_on_its_columns_or_the_record(
    raw: Any, columns: frozenset[str] | None
) -> None:
    fields = FieldsSpec(input=None, target=None, choices=None, id=None, metadata=raw)
    assert mapping_dependencies(fields, None) == columns


def test_the_whole_record_joined_with_columns_is_the_whole_record() -> None:
    assert join_dependencies([frozenset("a"), frozenset("b")]) == frozenset("ab")
    assert join_dependencies([frozenset("a"), None]) is None
    assert join_dependencies([]) == frozenset()


NUMBER = {"row_number": 1}


@pytest.mark.parametrize(
    "raw",
    [
        *[NUMBER, [NUMBER], {"template": "{v}", "with": {"v": NUMBER}}, {"object": {"x": NUMBER}}],
        *[{"hash": ["q"], "prefix": NUMBER}, {"hash": ["q", NUMBER]}],
        *[{"from": NUMBER, "do": "str"}],
        {"from": "q", "do": [{"each": [{"letter_in": [NUMBER]}]}]},
        {"from": "q", "do": [{"each": {"where": {"value": NUMBER, "equals": 1}}}]},
        {"if": {"not": {"any": [{"value": NUMBER, "less": 3}]}}, "then": "q"},
        {"messages": [{"role": "user", "content": {"template": "{n}", "with": {"n": NUMBER}}}]},
    ],
)
def test_nested_use_of_the_row_number_is_detected(raw: Any) -> None:
    assert uses_row_number(parse_expression(raw))
    assert uses_row_number(parse_condition({"all": [{"value": raw, "empty": True}]}))


@pytest.mark.parametrize("raw", ["q", {"const": 1}, {"hash": "*"}, {"from": "q", "do": "str"}])
def test_expressions_without_the_row_number_are_detected(raw: Any) -> None:
    assert not uses_row_number(parse_expression(raw))
    assert not uses_row_number(parse_condition({"value": raw, "equals": "x"}))
