"""Metadata as a struct has every key and every value."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from registry.base.digest import from_json
from registry.samples.frames.metadata import metadata_kinds, metadata_struct
from registry.store.schema import metadata_type_of

VALUES: list[list[Any]] = [
    ["a", None],
    [1, 2],
    [1.5, None],
    [True],
    [["a", None], []],
    [[1]],
    [{"a": 1}],
    [1, 1.5],
    [True, 1],
    [1 << 63],
    [b"x"],
    [None],
]


@pytest.mark.parametrize("values", VALUES, ids=repr)
def test_kinds_are_those_of_the_cache(values: list[Any]) -> None:
    found = metadata_kinds({"k": value} for value in values)["k"]
    # The cache finds out that an int is too large when it writes it.
    assert found == ("json" if values == [1 << 63] else metadata_type_of(values))


@pytest.mark.parametrize("values", VALUES, ids=repr)
def test_values_are_kept(values: list[Any]) -> None:
    items = [{"k": value} for value in values]
    kinds = metadata_kinds(items)
    found = [row["k"] for row in metadata_struct(items, kinds).to_pylist()]
    if kinds["k"] == "json":
        found = [None if text is None else from_json(text) for text in found]
    assert (found, list(map(type, found))) == (values, list(map(type, values)))


def test_keys_of_all_samples_are_members_in_the_order_of_their_first_use() -> None:
    items = [{"b": 1}, None, {"a": "x", "b": 2}, {}]
    kinds = metadata_kinds(items)
    assert list(kinds.items()) == [("b", "int"), ("a", "str")]
    assert metadata_struct(items, kinds).to_pylist() == [
        {"b": 1, "a": None},
        None,
        {"b": 2, "a": "x"},
        {"b": None, "a": None},
    ]


def test_metadata_without_keys_keeps_its_length() -> None:
    made = metadata_struct([None, {}], metadata_kinds([None, {}]))
    assert (made.type, made.to_pylist()) == (pa.struct([]), [None, {}])
