"""The columns of records: found by name, ignoring case and columns without values."""

from __future__ import annotations

import pytest

from registry.errors import RegistryError
from registry.scaffold.inference.columns import Columns, is_blank


def test_columns_are_those_of_all_records() -> None:
    assert Columns([{"b": 1}, {"a": 2, "b": 3}]).names == ["b", "a"]


def test_column_is_found_by_the_first_name_that_it_has_values_for() -> None:
    columns = Columns([{"Answer": None, "LABEL": 1, "label": 2}])
    assert columns.find(("answer", "label")) == "LABEL"
    columns.use("LABEL")
    assert columns.find(("answer", "label")) == "label"


def test_column_of_the_user_is_used_for_nothing_else() -> None:
    columns = Columns([{"a": 1, "b": 2}], {"target": "a"})
    assert columns.find(("b",), "target") == "a"
    assert columns.free() == ["b"]


def test_unknown_column_is_an_error_with_similar_names() -> None:
    with pytest.raises(RegistryError, match=r"no column 'anser' for target .*'answer'"):
        Columns([{"answer": 1}], {"target": "anser"})
    with pytest.raises(RegistryError, match="columns: answer, b"):
        Columns([{"answer": 1, "b": 2}], {"target": "zzz"})


def test_column_of_the_user_may_be_a_path() -> None:
    columns = Columns([{"data": {"q": "?"}, "a.b": 1}, {"data": "x"}], {"input": "data.q"})
    assert columns.values("data.q") == ["?", None]
    assert columns.values("a.b") == [1, None]  # the exact name first
    assert columns.free() == ["a.b"]
    with pytest.raises(RegistryError, match=r"no column 'data\.z' for input"):
        Columns([{"data": {"q": "?"}}], {"input": "data.z"})


@pytest.mark.parametrize("value", [None, "", " \n", [], {}])
def test_blank_values(value: object) -> None:
    assert is_blank(value)


@pytest.mark.parametrize("value", [0, False, "x", [None], {"a": None}])
def test_values_that_are_not_blank(value: object) -> None:
    assert not is_blank(value)
