"""Expressions and conditions are parsed into their abstract syntax, or rejected with a reason."""

from __future__ import annotations

from typing import Any

import pytest

from registry.manifest.expressions import (
    AllOf,
    AnyOf,
    Column,
    Comparisons,
    Const,
    Expression,
    Hash,
    If,
    ListOf,
    Messages,
    Not,
    ObjectOf,
    OperationCall,
    Pipe,
    RowNumber,
    Template,
    parse_comparisons,
    parse_condition,
    parse_expression,
    parse_operations,
)
from registry.manifest.templates import Placeholder

A, B = Column("a"), Column("b")
A_IS_1 = Comparisons((("equals", 1),), A)


@pytest.mark.parametrize(
    ("raw", "expression"),
    [
        ("a", A),
        (["a", {"const": 1}], ListOf((A, Const(1)))),
        (("a",), ListOf((A,))),
        ({"const": None}, Const(None)),
        ({"const": {"from": "a"}}, Const({"from": "a"})),
        ({"template": "x{a}"}, Template(("x", Placeholder("a")))),
        ({"template": "{n}", "with": {"n": "a"}}, Template((Placeholder("n"),), {"n": A})),
        ({"hash": "*"}, Hash(fields=())),
        ({"hash": "a", "prefix": "p"}, Hash(fields=(A,), prefix=Const("p"))),
        ({"hash": ["a", "b"], "prefix": {"from": "b"}, "length": 8, "algorithm": "sha256"}, Hash(fields=(A, B), prefix=Pipe(B, ()), length=8, algorithm="sha256")),
        ({"row_number": 0}, RowNumber(0, None)),
        ({"row_number": 1, "width": 5}, RowNumber(1, 5)),
        ({"object": {"x": "a", "y": ["b"]}}, ObjectOf((("x", A), ("y", ListOf((B,)))))),
        ({"if": {"value": "a", "equals": 1}, "then": "b"}, If(A_IS_1, B, Const(None))),
        ({"if": {"value": "a", "equals": 1}, "then": None, "else": "b"}, If(A_IS_1, Const(None), B)),
        ({"messages": [{"role": "user", "content": "a"}]}, Messages((("user", (("", A),)),))),
        ({"messages": [{"role": "user", "content": [{"text": "a"}, {"image": "b"}]}]}, Messages((("user", (("text", A), ("image", B))),))),
        ({"from": "a"}, Pipe(A, ())),
        ({"from": "a", "do": ["strip", {"split": ","}]}, Pipe(A, (OperationCall("strip"), OperationCall("split", ",")))),
    ],
    ids=repr,
)  # fmt: skip
def test_each_form_of_an_expression_is_parsed(raw: Any, expression: Expression) -> None:
    assert parse_expression(raw) == expression


FORMS = "an expression must have one of the keys const, template, hash, row_number, object, if, messages, from"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (5, "5 is not an expression (write a constant as {const: 5})"),
        (None, "None is not an expression (write a constant as {const: None})"),
        ({}, FORMS),
        ({"frm": "a"}, f"{FORMS} (did you mean 'from'?)"),
        ({1: "a"}, FORMS),
        ({"const": 1, "do": []}, "unknown key 'do' next to 'const'"),
        ({"from": "a", "od": []}, "unknown key 'od' next to 'from' (did you mean 'do'?)"),
        ({"template": 5}, "`template` takes a string"),
        ({"hash": "a", "lenght": 8}, "unknown key 'lenght' next to 'hash' (did you mean 'length'?)"),
        ({"row_number": True}, "`row_number` (the first number) and `width` take integers"),
        ({"row_number": 1, "width": "5"}, "`row_number` (the first number) and `width` take integers"),
        ({"object": ["a"]}, "`object` takes a mapping from key to expression"),
        ({"if": {"value": "a", "equals": 1}}, "`if` needs `then`"),
        ({"messages": {}}, "`messages` takes a list of {role, content}"),
        ({"messages": []}, "`messages` takes a list of {role, content}"),
        ({"messages": ["a"]}, "a message must have the keys `role` and `content`, and no others"),
        ({"messages": [{"role": "user"}]}, "a message must have the keys `role` and `content`, and no others"),
        ({"messages": [{"role": "robot", "content": "a"}]}, "'robot' is not one of the roles system, user, assistant"),
        ({"messages": [{"role": "user", "content": [{"txt": "a"}]}]}, "a part of a message must be {kind: expression}, with a kind of text, image, audio, video, document"),
        ({"messages": [{"role": "user", "content": [{}]}]}, "a part of a message must be {kind: expression}, with a kind of text, image, audio, video, document"),
        ({"from": "a", "do": [5]}, "5 is not an operation (write a name, or {name: argument})"),
        ({"from": "a", "do": [{"a": 1, "b": 2}]}, "{'a': 1, 'b': 2} is not an operation (write a name, or {name: argument})"),
    ],
    ids=repr,
)  # fmt: skip
def test_invalid_expression_is_rejected_with_a_reason(raw: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (full text is compared)
        parse_expression(raw)
    assert str(caught.value) == message


def test_first_matching_form_determines_the_kind_of_expression() -> None:
    with pytest.raises(ValueError, match=r"^unknown key 'from' next to 'const'$"):
        parse_expression({"from": "a", "const": 1})


def test_single_operation_does_not_need_a_list() -> None:
    assert parse_operations("strip") == (OperationCall("strip"),)
    assert parse_operations({"index": 0}) == (OperationCall("index", 0),)


@pytest.mark.parametrize(
    ("raw", "condition"),
    [
        ({"value": "a", "equals": 1}, A_IS_1),
        ({"value": ["a"], "less": 2, "at_least": 0}, Comparisons((("less", 2), ("at_least", 0)), ListOf((A,)))),
        ([{"value": "a", "equals": 1}], AllOf((A_IS_1,))),
        ({"all": [{"value": "a", "equals": 1}]}, AllOf((A_IS_1,))),
        ({"any": [{"not": {"value": "a", "equals": 1}}]}, AnyOf((Not(A_IS_1),))),
    ],
    ids=repr,
)  # fmt: skip
def test_each_form_of_a_condition_is_parsed(raw: Any, condition: Any) -> None:
    assert parse_condition(raw) == condition


KNOWN = "equals, not_equals, in, not_in, less, at_most, greater, at_least, regex, empty"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("a", "'a' is not a condition (write {value: column, equals: …})"),
        ({"equals": 1}, "a condition must have `value` and comparisons, or one of all, any, not"),
        ({"value": "a"}, f"takes comparisons: {KNOWN}"),
        ({"value": "a", "equal": 1}, "unknown comparison 'equal' (did you mean 'equals'?)"),
        ({"value": "a", "zzz": 1}, f"unknown comparison 'zzz' (known: {KNOWN})"),
        ({"all": [], "any": []}, "unknown key 'any' next to 'all'"),
        ({"not": {"value": "a", "empty": True}, "value": "a"}, "unknown key 'value' next to 'not'"),
    ],
    ids=repr,
)
def test_invalid_condition_is_rejected_with_a_reason(raw: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (full text is compared)
        parse_condition(raw)
    assert str(caught.value) == message


@pytest.mark.parametrize("raw", [{}, [], "equals"])
def test_invalid_comparisons_are_rejected(raw: Any) -> None:
    with pytest.raises(ValueError, match=r"^takes comparisons: equals, "):
        parse_comparisons(raw)
