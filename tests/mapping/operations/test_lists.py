"""Operations on lists and dicts: results and errors."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Any

import pytest

from registry.mapping import conditions
from registry.mapping.conditions import equal
from tests.mapping.operations.one_step import error_of, forbids, needed, refuses, returns, run

test_an_operation_returns = returns(
    ({"index": 0}, "abc", "a"),
    ({"index": -3}, [1, 2, 3], 1),
    ({"slice": [None, None]}, [1, 2], [1, 2]),
    ({"slice": [5, 9]}, "abc", ""),
    ({"slice": [-2, None]}, "abc", "bc"),
    ({"join": ""}, [], ""),
    ({"join": "-"}, ["a", 1, 2.5], "a-1-2.5"),
    ("drop_null", [None, "", math.nan, 0, False], ["", 0, False]),
    ("drop_null", {"a": None, "b": 1}, {"b": 1}),
    ({"drop_null": {"blank": True}}, [" \t", "a"], ["a"]),
    ({"pluck": "a"}, [], []),
    ("items", {"a": [1], "b": None}, [[1], None]),
    ("len", "", 0),
    ("len", {"a": 1}, 1),
    ({"slice": [-9, 2]}, [1, 2, 3], [1, 2]),
    ("unique", [1, True, 1.0, {"a": 1}, {"a": 1}], [1, True, {"a": 1}]),
    ("keys", {}, []),
    ({"items": ": "}, {"a": 1}, ["a: 1"]),
    ({"drop_null": {"blank": True}}, {"a": " ", "b": 0}, {"b": 0}),
    ({"index": {"const": "b"}}, {"a": 1, "b": None}, None),
    ({"shuffle": {"const": 3}}, [], []),
)  # fmt: skip


test_a_value_of_the_wrong_type_is_refused = refuses(
    ({"index": 1}, ["a"], "index(1)", "no item 1 among 1"),
    ({"index": -2}, "a", "index(-2)", "no item -2 among 1"),
    ({"index": 0}, {"0": 1}, "index(0)", "needs a list or a string"),
    ({"slice": [0, 1]}, 5, "slice([0, 1])", "needs a list or a string"),
    ({"join": ""}, "ab", "join()", "needs a list of strings"),
    ("drop_null", "a", "drop_null", "needs a list or a dict"),
    ({"pluck": "a"}, {"a": 1}, "pluck(a)", "needs a list of dicts"),
    ("keys", [], "keys", "needs a dict"),
    ("len", 5, "len", "needs a list, a dict or a string"),
    ("unique", "aa", "unique", "needs a list"),
    ("items", [], "items", "needs a dict"),
)  # fmt: skip


EXPRESSION = (
    "an expression must have one of the keys const, template, hash, row_number, object, if, "
    "messages, from"
)


test_an_invalid_argument_is_refused_before_any_record = forbids(
    ({"index": True}, "takes integers, or expressions that return them"),
    ({"index": 1.0}, "takes integers, or expressions that return them"),
    ({"index": ["a"]}, "takes integers, or expressions that return them"),
    ({"index": {"constant": 1}}, f"{EXPRESSION} (did you mean 'const'?)"),
    ({"slice": [1]}, "takes [start, end], each an integer, null or an expression"),
    ({"slice": "a"}, "takes [start, end], each an integer, null or an expression"),
    ({"slice": [True, 2]}, "takes integers, or expressions that return them"),
    ({"slice": [0, {"do": []}]}, EXPRESSION),
    ({"shuffle": 1}, "1 is not an expression (write a constant as {const: 1})"),
    ({"join": None}, "takes the separator, a string"),
    ({"pluck": 1}, "takes the key, a string"),
    ({"items": 1}, "takes the separator of key and value, a string"),
    ({"drop_null": True}, "takes a mapping of blank, got True"),
    ({"len": 0}, "takes no argument, got 0"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("step", "value", "shown"),
    [
        ({"join": ""}, ["a", None], None),
        ({"pluck": "a"}, [{"a": 1}, {"b": 2}], {"b": 2}),
        ({"pluck": "a"}, [{"a": 1}, 2], 2),
        ({"items": ")"}, {"a": None}, None),
    ],
)
def test_an_invalid_item_is_the_value_of_the_error(step: Any, value: Any, shown: Any) -> None:
    assert error_of(step, value).value == shown


@pytest.mark.parametrize(
    ("step", "value", "result"),
    [
        ({"index": "at"}, "abcd", "c"),
        ({"index": {"from": "key", "do": ["upper"]}}, {"A": "red"}, "red"),
        ({"slice": [None, "at"]}, "abcd", "ab"),
        ({"slice": ["at", {"const": 3}]}, [1, 2, 3, 4], [3]),
        ({"slice": [{"from": "key", "do": ["len"]}, None]}, "abcd", "bcd"),
    ],
)
def test_positions_may_be_expressions(step: Any, value: Any, result: Any) -> None:
    assert run(step, value, {"at": 2, "key": "a"}) == result


@pytest.mark.parametrize(
    ("step", "value", "message", "shown"),
    [
        ({"index": "nothing"}, "ab", "needs an integer as position, or the key of an entry", None),
        ({"index": "half"}, "ab", "needs an integer as position, or the key of an entry", 0.5),
        ({"index": "flag"}, "ab", "needs an integer as position, or the key of an entry", True),
        ({"index": "key"}, ["a"], "needs a dict, for the key of an entry", ["a"]),
        ({"index": "key"}, {"b": 1}, "no key 'a' among ['b']", None),
        ({"index": "at"}, {"2": 1}, "needs a list or a string", {"2": 1}),
        ({"index": "at"}, "ab", "no item 2 among 2", "ab"),
        ({"slice": ["nothing", None]}, "ab", "needs an integer as bound", None),
        ({"slice": [0, "key"]}, "ab", "needs an integer as bound", "a"),
        ({"slice": [0, "att"]}, "ab", "no column 'att' (did you mean 'at'?)", None),
        ({"shuffle": "half"}, [1], "needs a string or an integer as seed", 0.5),
        ({"shuffle": "key"}, "ab", "needs a list", "ab"),
        (
            {"shuffle": {"const": "\ud800"}},
            [1],
            "a seed can't have half of a surrogate pair",
            "\ud800",
        ),
    ],
)
def test_a_position_of_the_wrong_type_is_refused(
    step: Any, value: Any, message: str, shown: Any
) -> None:
    record = {"at": 2, "key": "a", "nothing": None, "half": 0.5, "flag": True}
    error = error_of(step, value, record)
    assert (error.message, error.value) == (needed(message, shown), shown)


@pytest.mark.parametrize("seed", ["an activity", "", 0, -(2**70)])
def test_shuffle_is_that_of_random_with_the_seed(seed: str | int) -> None:
    items = list(range(9))
    wanted = list(items)
    random.Random(seed).shuffle(wanted)
    assert run({"shuffle": "seed"}, items, {"seed": seed}) == wanted
    assert items == list(range(9))


def test_unique_items_are_those_that_equal_no_earlier_one() -> None:
    nan, half = Decimal("NaN"), {"a": [1, (2,)]}
    items = [1, True, 1.0, Decimal(1), "1", b"1", None, nan, nan, [1], [True], (1,), {"a": 1}]
    items += [half, {"a": [1, (2,)]}, {"a": [1, [2]]}, {"a": [True, (2,)]}, [], (), {}]
    items += ["", 0, False, Decimal("sNaN")]
    items += [math.nan, *items]
    wanted: list[Any] = []
    for item in items:
        if not any(equal(item, earlier) for earlier in wanted):
            wanted.append(item)
    assert list(map(repr, run("unique", items))) == list(map(repr, wanted))


def test_unique_compares_no_item_with_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def counted(left: Any, right: Any) -> bool:
        compared.append(left)
        return equal(left, right)

    monkeypatch.setattr(conditions, "equal", counted)
    items = [number / 2 for number in range(1000)]
    assert run("unique", items) == items
    assert len(compared) <= len(items)
