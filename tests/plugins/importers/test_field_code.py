"""Syntax trees become expressions of the field language; what has no equivalent is refused."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from registry.plugins.importers.field_code import (
    Translator,
    UntranslatableError,
    constant_of,
    list_of_constants,
    parse_code,
    pipe,
    template_of,
)

NAMES = Translator(lambda node: node.id if isinstance(node, ast.Name) else None)


@pytest.mark.parametrize(
    ("code", "expression"),
    [
        ("a", "a"),
        ("a.b", "a.b"),
        ("a['b c']", "a.b c"),
        ("a[0]", {"from": "a", "do": [{"index": 0}]}),
        ("a[-1].strip()", {"from": "a", "do": [{"index": -1}, "strip"]}),
        ("a[b]", {"from": "a", "do": [{"index": "b"}]}),
        ("a[1:3]", {"from": "a", "do": [{"slice": [1, 3]}]}),
        ("a[2:]", {"from": "a", "do": [{"slice": [2, None]}]}),
        ("['x', 'y'][a]", {"from": {"const": ["x", "y"]}, "do": [{"index": "a"}]}),
        ("['x', 'y'][a - 1]", {"from": "a", "do": [{"map": {"1": "x", "2": "y"}}]}),
        ("[a, b.c]", ["a", "b.c"]),
        ("[1, 'x']", {"const": [1, "x"]}),
        ("'x' + a", {"template": "x{a}"}),
        (
            "f'{{{a}}} {b.upper()}'",
            {"template": "{{{a}}} {part1}", "with": {"part1": {"from": "b", "do": ["upper"]}}},
        ),
        ("str(a)", {"template": "{a}"}),
        ("a.split('|')[0]", {"from": "a", "do": [{"split": "|"}, {"index": 0}]}),
        ("', '.join(a)", {"from": "a", "do": [{"join": ", "}]}),
        ("a.strip('x')", {"from": "a", "do": [{"strip": "x"}]}),
        ("a[0].b", {"from": "a", "do": [{"index": 0}, {"index": {"const": "b"}}]}),
        ("a + b.lower()", {"template": "{a}{part1}", "with": {"part1": pipe("b", "lower")}}),
        ("a | trim | lower", {"from": "a", "do": ["strip", "lower"]}),
        (
            "'x' if a == 'y' else b",
            {"if": {"value": "a", "equals": "y"}, "then": {"const": "x"}, "else": "b"},
        ),
    ],
)
def test_expressions(code: str, expression: Any) -> None:
    assert NAMES.expression(parse_code(code)) == expression


@pytest.mark.parametrize(
    "code",
    [
        *("a + b", "a - 1"),  # numbers, strings or lists
        "a + b | string",  # Jinja and Python disagree on what the filter takes
        *("a.keys()", "a.items", "a[::2]", "a[1.5]", "a.replace('', 'x')", "a.format(b)"),
        *("__import__('os').system('x')", "(lambda: 1)()", "[x for x in a]", "open(a)"),
        *("f'{a:>3}'", "f'{a!r}'", "a if b else c", "a in b", "a | tojson"),
        *("-'x'", "b if a in 'xy' else c", "b if a is c else d", "a[:1.5]", "'x' + 5"),
    ],
)
def test_what_has_no_equivalent_is_refused(code: str) -> None:
    with pytest.raises(UntranslatableError, match="has no equivalent"):
        NAMES.expression(parse_code(code))


@pytest.mark.parametrize(
    "code",
    [
        "a b",
        "",
        "(" * 5000 + ")" * 5000,
        "a\0",
        "x" * 30_000,
        *("a" + ".b" * n for n in (200, 5000)),
    ],
)
def test_what_is_no_expression_is_refused(code: str) -> None:
    with pytest.raises(UntranslatableError):
        parse_code(code)


def test_constants() -> None:
    assert constant_of(parse_code("[-1, 'a', (2.5,)]")) == [-1, "a", [2.5]]
    assert list_of_constants(parse_code("[a]")) is None
    assert list_of_constants(parse_code("'a'")) is None


def test_pipes_are_joined() -> None:
    assert pipe(pipe("a", "strip"), "lower") == {"from": "a", "do": ["strip", "lower"]}


def test_names_in_a_template_do_not_hide_columns() -> None:
    assert template_of([{"value": "part1"}, {"value": ["a"]}, {"value": ["a"]}]) == {
        "template": "{part1}{part2}{part2}",
        "with": {"part2": ["a"]},
    }
    # A column whose name a template can't spell.
    assert template_of([{"value": "a{b"}]) == {"template": "{part1}", "with": {"part1": "a{b"}}


def test_a_number_that_can_not_be_written_in_decimal_is_refused() -> None:
    with pytest.raises(UntranslatableError, match="is not a simple expression"):
        parse_code("a + 0x" + "f" * 10_000)
