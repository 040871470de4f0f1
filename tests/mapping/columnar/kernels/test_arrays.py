"""Columns of one kind of value are joined, masked and repeated without change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from registry.base.arrow.arrays import is_text, list_offsets
from registry.mapping.columnar.kernels import arrays
from registry.mapping.columnar.kernels.arrays import (
    NoKernelError,
    bool_array,
    check_size,
    choose,
    constant,
    empty_mask,
    is_text_list,
    mask_of,
    str_of_values,
    text_of,
    texts,
    to_large_string,
    unify,
)
from registry.mapping.conditions import is_empty
from tests.mapping.columnar.views import COLUMNS


@pytest.mark.parametrize("value", ["", "é", 0, -(2**63), True, 0.5, None, [], ["a", "é"]], ids=str)
@pytest.mark.parametrize("count", [0, 1, 9])
def test_constant_is_repeated(value: Any, count: int) -> None:
    column = constant(value, count)
    column.validate(full=True)
    assert column.to_pylist() == [value] * count


@pytest.mark.parametrize("value", [2**63, {}, {"a": 1}, [1], ["a", None], [[]]], ids=str)
def test_other_constants_have_no_column(value: Any) -> None:
    with pytest.raises(NoKernelError):
        constant(value, 1)


@pytest.mark.parametrize("value", ["xxxx", ["xx", "xx"]])
def test_large_constant_is_left_to_records(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "LARGEST_COLUMN", 8)
    assert len(constant(value, 2)) == 2
    with pytest.raises(NoKernelError):
        constant(value, 3)


def test_mask_becomes_a_column_and_back() -> None:
    mask = np.array([True, False] * 5 + [True])
    assert bool_array(mask).to_pylist() == mask.tolist()
    assert mask_of(bool_array(mask)[1:]).tolist() == mask[1:].tolist()
    assert mask_of(pa.array([True, None, False])).tolist() == [True, False, False]


@pytest.mark.parametrize(
    "name", ["text", "nulls", "none", "empty", "int", "float32", "flag", "texts"]
)
def test_empty_values_are_those_of_conditions(name: str) -> None:
    column = pa.concat_arrays([COLUMNS[name][:1], COLUMNS[name]])[1:]
    assert empty_mask(column).tolist() == list(map(is_empty, column.to_pylist()))


@pytest.mark.parametrize("name", ["dictionary", "view", "numbers", "deep", "uint64"])
def test_other_types_are_left_to_records(name: str) -> None:
    with pytest.raises(NoKernelError):
        empty_mask(COLUMNS[name])


def test_rows_are_chosen_from_two_columns() -> None:
    mask = np.array([True, False, True])
    left, right = pa.array(["a", "b", "c"]), pa.array(["x", None, "z"], pa.large_string())
    assert choose(mask, left, right).to_pylist() == ["a", None, "c"]
    assert choose(~mask, left, right).to_pylist() == ["x", "b", "z"]
    assert choose(mask, pa.nulls(3), pa.array([1, 2, 3])).to_pylist() == [None, 2, None]
    assert choose(mask, pa.nulls(3), pa.nulls(3, pa.int8())).to_pylist() == [None] * 3
    assert choose(mask | True, left, pa.array([1, 2, 3])) is left


def test_columns_of_different_values_are_not_joined() -> None:
    for other in (pa.array([1]), pa.array([True]), pa.array([["a"]]), pa.array([0.5])):
        with pytest.raises(NoKernelError):
            unify([pa.array(["a"]), other])


def test_large_columns_are_left_to_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "LARGEST_COLUMN", 100)
    column = pa.array(["x" * 50])
    check_size([column], 1)
    with pytest.raises(NoKernelError):
        check_size([column, column], 1)


def test_strings_are_those_of_python() -> None:
    for values in (["a", None], [1, None], [True, False, None], [0.1, 1e300, None]):
        wanted = [None if value is None else str(value) for value in values]
        assert str_of_values(pa.array(values)).to_pylist() == wanted
    with pytest.raises(NoKernelError):
        str_of_values(pa.array([["a"]]))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_part_of_a_column_begins_at_its_own_first_byte(kind: pa.DataType) -> None:
    text = text_of(pa.array(["before", "Ab", "", "C"], kind)[1:])
    text.validate(full=True)
    assert list_offsets(text).tolist() == [0, 2, 2, 3]
    assert pc.ascii_lower(text).to_pylist() == ["ab", "", "c"]


def test_texts_have_no_nulls() -> None:
    assert text_of(texts(["a", "é"])).to_pylist() == ["a", "é"]
    for column in (pa.array(["a", None]), pa.array([1])):
        with pytest.raises(NoKernelError):
            text_of(column)


@pytest.mark.parametrize(
    ("name", "text", "texts"),
    [
        *[(name, True, False) for name in ("text", "large", "nulls", "none")],
        *[(name, False, True) for name in ("texts", "holes")],
        *[(name, False, False) for name in ("int8", "dictionary", "view", "numbers", "empty")],
    ],
)
def test_both_string_types_are_text(name: str, text: bool, texts: bool) -> None:
    kind = COLUMNS[name].type
    assert (is_text(kind), is_text_list(kind)) == (text, texts)


def test_strings_and_integers_become_large_strings() -> None:
    assert to_large_string(pa.array([-5, None, 7])).to_pylist() == ["-5", None, "7"]
    for name in ("text", "large", "uint64"):
        assert to_large_string(COLUMNS[name]).type == pa.large_string()
    for name in ("float", "flag", "texts"):
        with pytest.raises(NoKernelError):
            to_large_string(COLUMNS[name])
