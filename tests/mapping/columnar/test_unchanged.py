"""Values that coercion leaves as they are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import MappingError
from registry.manifest.models import FieldsSpec
from registry.mapping.columnar.unchanged import are_unchanged
from registry.mapping.field_mapper import FieldMapper

_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-9, 9),
    st.just(float("nan")),
    st.sampled_from(["", " ", "a", "\u2003", "b c"]),
    st.lists(st.sampled_from(["", " ", "a", None, 1]), max_size=3),
)
_EXPRESSIONS: tuple[Any, ...] = ("column", {"from": ["column", "other"]})


@given(st.sampled_from(["target", "id", "setup", "choices"]), st.lists(_VALUES, max_size=4))
def test_unchanged_values_are_those_that_coercion_returns(field: str, values: list[Any]) -> None:
    if not are_unchanged(field, values):
        return
    for expression in _EXPRESSIONS:
        coerce = FieldMapper(FieldsSpec(input="x", **{field: expression})).coerce[field]
        assert [(type(one), one) for one in map(coerce, values)] == [
            (type(one), one) for one in values
        ]


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("target", ["a", ""]),
        ("target", [["a", "b"], []]),
        ("target", [["a", "b"], "c"]),
        ("choices", [["a", " ", "b"], [], None]),
        ("id", ["a", 1, None]),
        ("setup", ["echo", None]),
    ],
)
def test_values_of_the_type_of_a_field_are_unchanged(field: str, values: list[Any]) -> None:
    assert are_unchanged(field, values)


def test_what_coercion_refuses_or_changes_is_left_to_it() -> None:
    assert not are_unchanged("target", [["a", " "]])
    assert not are_unchanged("target", [None, "b"])
    assert not are_unchanged("choices", [["a", " "]])
    assert not are_unchanged("choices", [["a", 1]])
    assert not are_unchanged("id", [True])
    assert not are_unchanged("choices", ["a,b"])
    coerce = FieldMapper(FieldsSpec(input="x", target=["a", "b"])).coerce["target"]
    assert not are_unchanged("target", [[None]])
    with pytest.raises(MappingError, match="item 0 is null"):
        coerce([None])
