"""The columns of stored samples, by the types of their metadata."""

from __future__ import annotations

import enum
from typing import Any

import pyarrow as pa
import pytest

from registry.samples.frames.layout import MetadataType
from registry.store.columns import batch_of
from registry.store.schema import (
    METADATA_VALUES,
    full_schema,
    json_keys,
    metadata_type_of,
    schema_of,
    with_all_columns,
)

TYPES: dict[str, MetadataType] = {"n": "int", "any": "json"}


class Level(enum.IntEnum):
    HIGH = 3


@pytest.mark.parametrize(
    ("values", "metadata_type"),
    [
        (["x", None], "str"),
        ([1, 2], "int"),
        ([True, None], "bool"),
        ([1.5], "float"),
        ([["a", None], [], None], "str_list"),
        ([["a", 1]], "json"),
        ([1, 1.5], "json"),
        ([True, 1], "json"),
        ([{"a": 1}], "json"),
        ([Level.HIGH], "json"),
        ([b"x"], "json"),
        ([None, None], "json"),
        ([], "json"),
    ],
)
def test_the_common_type_of_metadata(values: list[Any], metadata_type: str) -> None:
    assert metadata_type_of(values) == metadata_type


def test_columns_of_a_file() -> None:
    assert METADATA_VALUES not in schema_of({}).names
    schema = schema_of(TYPES)
    assert schema.names == [*schema_of({}).names, METADATA_VALUES]
    assert json_keys(schema) == ["any"]
    assert json_keys(schema_of({})) == []


def test_columns_that_a_file_omits_are_null() -> None:
    schema = schema_of(TYPES)
    few = pa.schema([field for field in schema if field.name in ("input", METADATA_VALUES)])
    assert full_schema(few) == schema
    batch = batch_of({"input": ["x"], "metadata": [{"n": 1, "any": [2]}]}, [1], TYPES)
    restored = with_all_columns(batch.select(["input", METADATA_VALUES]), schema)
    assert restored.schema == schema
    assert restored.drop_columns(["record"]) == batch.drop_columns(["record"])
