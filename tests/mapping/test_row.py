"""Columns of a record: the exact name first, then a dotted path."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import MappingError
from registry.mapping.row import MISSING, get_column, get_columns, no_column
from tests.mapping.one_record import Record, value_of


@pytest.mark.parametrize(
    ("name", "record", "value"),
    [
        ("a", {"a": 1}, 1),
        ("a.b", {"a": {"b": 1}}, 1),
        ("a.b", {"a.b": "exact", "a": {"b": "nested"}}, "exact"),
        ("a.b", {"a.b": None, "a": {"b": "nested"}}, None),
        ("a.b.c", {"a": {"b": {"c": 1}}}, 1),
        ("a.b.c", {"a.b": {"c": 1}}, 1),
        ("a.b.c", {"a": {"b.c": 1}}, 1),
        ("a.b.c", {"a": {"b": 2}, "a.b": {"c": 1}}, 1),
        ("Correct Answer", {"Correct Answer": 1}, 1),
        ('it\'s "quoted"', {'it\'s "quoted"': 1}, 1),
        ("x y.'z'", {"x y": {"'z'": 1}}, 1),
        ("a.", {"a.": 1}, 1),
        ("é", {"é": 1}, 1),
    ],
)
def test_a_column_is_its_exact_name_then_a_dotted_path(
    name: str, record: Record, value: Any
) -> None:
    assert get_column(record, name) == value
    assert value_of({"from": name}, record) == value


@pytest.mark.parametrize("name", ["b", "a.c", "a.b.c", "l.0", ".", "a.", ".a", "A"])
def test_path_without_a_value_is_missing(name: str) -> None:
    record = {"a": {"b": 1}, "l": [1]}
    assert get_column(record, name) is MISSING
    assert value_of(name, record) is None
    with pytest.raises(MappingError, match="no column"):
        value_of({"from": name}, record)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=3), min_size=1, max_size=4))
def test_every_nested_value_has_a_path(keys: list[str]) -> None:
    record: Any = "found"
    for key in reversed(keys):
        record = {key: record}
    assert get_column(record, ".".join(keys)) == "found"


@pytest.mark.parametrize(
    ("name", "record", "message"),
    [
        ("qestion", {"id": 1, "question": 1}, "no column 'qestion' (did you mean 'question'?)"),
        ("zzz", {"a": 1, "b": 1}, "no column 'zzz' (columns: a, b)"),
        ("zzz", {}, "no column 'zzz' (there are none)"),
        (
            "zzz",
            {f"c{number}": 1 for number in range(42)},
            f"no column 'zzz' (columns: {', '.join(f'c{one}' for one in range(40))} and 2 more)",
        ),
    ],
)
def test_a_missing_column_suggests_the_closest_or_lists_the_first_forty(
    name: str, record: Record, message: str
) -> None:
    assert str(no_column(name, record)) == message


def test_missing_is_not_null_and_has_a_readable_repr() -> None:
    assert MISSING is not None
    assert repr(MISSING) == "MISSING"


KEYS = st.sampled_from(["a", "b", "a.b", "b.a", "a.b.a", "", "a.", "."])
NESTED: st.SearchStrategy[Any] = st.recursive(
    st.integers() | st.just([]),
    lambda inner: st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300)
@given(st.lists(NESTED), KEYS | st.sampled_from(["b.a.b", "a..b", "a.b.a.b"]))
def test_columns_of_many_records_are_those_of_each(records: list[Any], name: str) -> None:
    expected = [get_column(one, name) if isinstance(one, dict) else MISSING for one in records]
    assert get_columns(records, name) == expected
