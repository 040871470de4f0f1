"""Checks that operations share, for values and for arguments."""

from __future__ import annotations

import re
from typing import Any

import pytest

from registry.errors import MappingError
from registry.mapping.operations.base import (
    Step,
    as_list,
    expect_type,
    no_argument,
    options,
    to_str,
)
from tests.mapping.operations.one_step import needed


@pytest.mark.parametrize(("argument", "items"), [(["a"], ["a"]), ("a", ["a"]), (None, [None])])
def test_single_item_becomes_a_list(argument: Any, items: list[Any]) -> None:
    assert as_list(argument) == items


@pytest.mark.parametrize(("value", "text"), [("a", "a"), ("", ""), (5, "5"), (1.5, "1.5")])
def test_numbers_become_strings(value: Any, text: str) -> None:
    assert to_str(value) == text


@pytest.mark.parametrize("value", [None, True, [], {}, b"a"])
def test_other_values_are_not_strings(value: Any) -> None:
    with pytest.raises(MappingError) as caught:
        to_str(value)
    assert (caught.value.message, caught.value.value) == (needed("needs a string", value), value)


@pytest.mark.parametrize(
    ("value", "kind"), [("a", str), ([], (list, str)), (1, int), (True, (int, bool)), (True, bool)]
)
def test_a_value_of_the_type_is_returned(value: Any, kind: Any) -> None:
    assert expect_type(value, kind, "") is value


@pytest.mark.parametrize(("value", "kind"), [("a", int), (True, int), (None, (list, dict))])
def test_a_value_of_a_different_type_is_refused(value: Any, kind: Any) -> None:
    with pytest.raises(MappingError) as caught:
        expect_type(value, kind, "a thing")
    assert (caught.value.message, caught.value.value) == (needed("needs a thing", value), value)


def test_an_operation_without_an_argument_refuses_one() -> None:
    step = Step(str, str)
    build = no_argument(step)
    compiler: Any = None
    assert build(None, compiler) is step
    refused: tuple[Any, ...] = (0, "", [], {})
    for argument in refused:
        message = f"takes no argument, got {argument!r}"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            build(argument, compiler)


def test_omitted_options_have_their_defaults() -> None:
    assert options(None, a=1, b=2) == {"a": 1, "b": 2}
    assert options({"b": None}, a=1, b=2) == {"a": 1, "b": None}


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("a", "takes a mapping of a, b, got 'a'"),
        ([], "takes a mapping of a, b, got []"),
        ({"c": 1}, "unknown option 'c', known: a, b"),
    ],
)
def test_options_are_a_dict_of_known_keys(argument: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        options(argument, a=1, b=2)
