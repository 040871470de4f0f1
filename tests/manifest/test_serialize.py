"""Specs and pins as JSON data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.base.digest import digest_of
from registry.manifest.models import DatasetSpec, Expect, View
from registry.manifest.schema import read_schema
from registry.manifest.serialize import data_of, is_not_default, is_set, model_defaults, with_order
from registry.manifest.source_models import CsvSource

SPEC = DatasetSpec(
    name="d", folder=Path("/c"), source=CsvSource(path=("x",)), where={"a": None}, tags=("t",)
)


def test_data_includes_every_key_of_nested_parts() -> None:
    data = data_of(SPEC, without={"folder"})
    assert list(data) == [key for key in DatasetSpec.__struct_fields__ if key != "folder"]
    assert list(data["source"]) == ["type", *CsvSource.__struct_fields__]
    assert [data["source"][key] for key in ("path", "mirrors", "skip_rows")] == [["x"], [], 0]


def test_defaults_can_be_omitted_at_any_depth() -> None:
    # Equal texts need not be the same object, so it is not the identity that counts.
    source = CsvSource(path=("x",), encoding=str(b"utf-8", "ascii"), columns={}, skip_rows=1)
    spec = DatasetSpec(name="d", folder=Path("/c"), source=source, view=View(), expect=Expect())
    assert data_of(spec, without={"folder"}, keep=is_not_default) == {
        "name": "d",
        "source": {"path": ["x"], "skip_rows": 1},
    }


def test_unset_keys_can_be_omitted_but_nulls_inside_values_remain() -> None:
    data = data_of(SPEC, keep=is_set)
    assert "delimiter" not in data["source"]
    assert "join" not in data
    assert data["where"] == {"a": None}


def test_mutable_defaults_are_not_shared() -> None:
    model_defaults(CsvSource)["columns"]["a"] = 1
    try:
        assert CsvSource(path=("x",)).columns == {}
    finally:
        del model_defaults(CsvSource)["columns"]["a"]


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        (("do", "replace"), True),
        (("from", "object"), True),
        (("const",), True),
        (("const", "inner"), True),
        (("default",), True),
        (("map", "value"), True),
        (("map",), False),
        (("metadata",), False),
        (("object", "key"), False),
    ],
    ids=str,
)
def test_order_of_keys_counts_where_that_of_samples_follows_it(
    path: tuple[str, ...], counts: bool
) -> None:
    sides: list[Any] = [{"a": "c", "b": "d"}, {"b": "d", "a": "c"}]
    for key in reversed(path):
        sides = [{key: [side]} if key == "do" else {key: side} for side in sides]
    first, second = map(with_order, sides)
    assert first == sides[0]  # the digest of sorted keys is as ever
    assert (digest_of(first) != digest_of(second)) is counts


def test_operations_with_any_keys_are_known() -> None:
    """Whether the order of their keys counts is said by `with_order`, for a new one too."""
    schemas = read_schema("manifest")["$defs"]["operation"]["properties"]
    open_ones = {
        name
        for name, one in schemas.items()
        if one.get("type") == "object" and one.get("additionalProperties") is not False
    }
    assert open_ones == {"map", "replace"}
