"""Programs are compiled once, and kept with the expression they belong to."""

from __future__ import annotations

from registry.manifest.expressions import parse_condition, parse_expression
from registry.mapping.columnar.programs import Programs
from registry.mapping.row import Row


def test_expressions_and_conditions_are_compiled_once() -> None:
    programs = Programs()
    expression = parse_expression({"template": "{a}-{b.c}"})
    condition = parse_condition({"value": "a", "equals": "x"})
    assert programs.of(expression) is programs.of(expression)
    assert programs.of(expression).evaluate(Row({"a": "x", "b": {"c": 1}})) == "x-1"
    assert programs.of(expression).dependencies == frozenset({"a", "b.c"})
    assert programs.of(condition).evaluate(Row({"a": "x"})) is True
    assert programs.of(condition).dependencies == frozenset({"a"})
    assert programs.of(parse_expression({"row_number": 0})).numbered
