"""Columns of values as JSON restore the same values as `to_json` by value."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.base.digest import from_json, to_json
from registry.store.json_texts import are_plain, to_json_texts


class Color(StrEnum):
    RED = "red"


class Number(IntEnum):
    ONE = 1


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
_plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=8,
)
_other = st.sampled_from(
    [
        (1,), {1: 2}, {True: 1}, {None: 1}, {"$x": 1}, {"$tuple": [1]}, {"a": {"$": "$"}}, ["$x"],
        math.inf, -math.inf, b"x", date(2020, 1, 2), Decimal("1.50"), Color.RED, Number.ONE,
        {Color.RED: 1},
    ]
)  # fmt: skip
_any = st.recursive(
    _plain | _other,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3) | st.tuples(inner)
    ),
    max_leaves=4,
)
NUMBERS = [1e16, -0.0, 1e-7, 5e-324, 1e22, 1.7976931348623157e308, 2**64, -(2**63) - 1, 10**4000]


def restored(column: pa.Array) -> list[Any]:
    column.validate(full=True)
    assert column.type == pa.large_string()
    return [None if text is None else from_json(text) for text in column.to_pylist()]


@settings(deadline=None, max_examples=300)
@given(st.lists(_any, max_size=4))
def test_any_values_are_restored_as_by_value(values: list[Any]) -> None:
    expected = [None if value is None else from_json(to_json(value)) for value in values]
    assert repr(restored(to_json_texts(values))) == repr(expected)


@settings(deadline=None, max_examples=300)
@given(st.lists(_plain, max_size=4))
def test_plain_values_are_restored(values: list[Any]) -> None:
    assert are_plain(values)
    assert repr(restored(to_json_texts(values, plain=True))) == repr(values)


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: repr(number)[:20])
def test_numbers_are_restored_exactly(number: float) -> None:
    assert repr(restored(to_json_texts([number, [number]]))) == repr([number, [number]])


@settings(deadline=None)
@given(st.lists(_any, max_size=3))
def test_only_what_json_has_is_plain(values: list[Any]) -> None:
    def has_only_json(one: Any) -> bool:
        if type(one) is float:
            return math.isfinite(one)
        if type(one) is list:
            return all(map(has_only_json, one))
        if type(one) is dict:
            return all(type(key) is str for key in one) and all(map(has_only_json, one.values()))
        return one is None or type(one) in (str, int, bool)

    assert are_plain(values) == has_only_json(values)


def test_a_list_in_itself_is_not_plain() -> None:
    value: list[Any] = []
    value.append(value)
    assert not are_plain([value])


@pytest.mark.parametrize("plain", [False, True])
def test_half_of_a_surrogate_pair_is_an_error(plain: bool) -> None:
    with pytest.raises(UnicodeEncodeError):
        to_json_texts([["\ud800"]], plain=plain)


def test_keys_that_start_like_a_tag_are_restored_from_plain_values() -> None:
    values = [{"$float": "inf"}, {"a": [{"$dict": []}]}, {"a": "$x"}, None]
    assert restored(to_json_texts(values, plain=True)) == values


def test_a_value_without_a_json_form_is_an_error() -> None:
    with pytest.raises(TypeError, match="can't be stored"):
        to_json_texts([[object()]])


@pytest.mark.parametrize("value", [None, {"a": [1.5, "é"]}, {"$x": 1}, (1,), "$"])
def test_a_value_that_records_share_is_restored_for_each(value: Any) -> None:
    for values in ([value] * 5, [value, {"b": 1}, value]):
        assert restored(to_json_texts(values)) == values
