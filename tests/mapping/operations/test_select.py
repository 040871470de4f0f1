"""Operations on choices between values: results and errors."""

from __future__ import annotations

import pytest

from registry.mapping.field_mapper import map_fields
from tests.mapping.operations.one_step import forbids, refuses, returns

test_an_operation_returns = returns(
    ({"map": {"true": "Yes", "false": "No"}}, True, "Yes"),
    ({"map": {"null": "none", "*": "other"}}, None, "none"),
    ({"map": {"a": 1, "*": "other"}}, "b", "other"),
    ({"map": {"1.5": "x"}}, 1.5, "x"),
    ({"default": 0}, "", 0),
    ({"default": 0}, [], 0),
    ({"default": 1}, 0, 0),
    ({"default": 1}, False, False),
    ({"coalesce": ["nowhere", "value"]}, "", None),
    ("nonempty", 0, True),
    ({"equals": 1}, True, False),
    ({"equals": 1}, 1.0, True),
    ({"test": {"less": 3}}, None, False),
    ({"keep": {"greater": 1}}, [1, 2, 3], [2, 3]),
    ({"map": {"1": "x"}}, "1", "x"),
    ({"map": {"NaN": "x", "*": None}}, [], None),
    ({"coalesce": {"const": "d"}}, 0, 0),
    ({"test": {"regex": "a", "not_equals": "a"}}, "ab", True),
    ({"keep": {"empty": False}}, ["", None, "a"], ["a"]),
)  # fmt: skip


test_a_value_of_the_wrong_type_is_refused = refuses(
    ({"map": {"a": 1}}, "b", "map({'a': 1})", "no entry among a"),
    ({"keep": {"equals": 1}}, 1, "keep({'equals': 1})", "needs a list"),
    ({"test": {"less": 3}}, "2", "test({'less': 3})", "can't be compared with 3"),
    ({"map": {"a": 1}}, None, "map({'a': 1})", "no entry among a"),
    ({"map": {"a": 1}}, [], "map({'a': 1})", "no entry among a"),
)  # fmt: skip


test_an_invalid_argument_is_refused_before_any_record = forbids(
    ({"map": []}, "takes a mapping from value to result"),
    ({"map": {}}, "takes a mapping from value to result"),
    ({"map": {1: "a"}}, "the keys of the mapping are strings, as YAML writes the value"),
    ({"nonempty": True}, "takes no argument, got True"),
    ({"coalesce": [5]}, "5 is not an expression (write a constant as {const: 5})"),
    ({"keep": {"in": "a"}}, "`in` takes a list"),
)  # fmt: skip


@pytest.mark.parametrize("name", ["default", "coalesce", "nonempty", "test"])
def test_some_operations_accept_a_missing_column(name: str) -> None:
    argument = {"default": "d", "coalesce": {"const": "d"}, "test": {"empty": True}}
    step = {name: argument[name]} if name in argument else name
    mapper = map_fields(
        {"input": {"const": "q"}, "metadata": {"made": {"from": "x", "do": [step]}}}
    )
    expected = {"default": "d", "coalesce": "d", "nonempty": False, "test": True}
    assert mapper({}).metadata == {"made": expected[name]}


def test_constants_are_not_shared_between_samples() -> None:
    pipe = {"from": "x", "do": [{"default": {"list": []}}]}
    mapper = map_fields({"input": {"const": "q"}, "metadata": {"made": pipe}})
    first, second = mapper({}), mapper({})
    assert first.metadata is not None
    first.metadata["made"]["list"].append(1)
    assert second.metadata == {"made": {"list": []}}
