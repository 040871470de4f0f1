"""Whole columns become the same fields as the values of their records."""

from __future__ import annotations

import pyarrow as pa
import pytest

from registry.base.arrow import list_offsets
from registry.manifest.models import FieldsSpec
from registry.mapping.columnar.fields import (
    FIELD_COLUMNS,
    cast_to_metadata_type,
    metadata_type_of_column,
)
from registry.mapping.field_mapper import FieldMapper
from registry.store.columns import field_columns
from registry.store.schema import (
    METADATA_TYPES,
    MetadataType,
    batch_from,
)
from tests.mapping.columnar.views import COLUMNS, view_of

FIELDS: dict[str, list[str]] = {
    "input": [],
    "target": ["text", "large", "nulls", "none", "empty", "filled"],
    "choices": ["none", "empty"],
    "id": ["text", "large", "nulls", "none", "int", "int8"],
    "sandbox": ["none"],
    "files": ["none"],
    "setup": ["none", "empty", "text", "nulls"],
    "checkpoint": ["none", "empty"],
    "description": ["none", "empty"],
}
CASES = [(name, column) for name, columns in FIELDS.items() for column in columns]


@pytest.mark.parametrize(("name", "column"), CASES, ids=str)
def test_a_column_gives_the_same_field_as_its_values(name: str, column: str) -> None:
    view = view_of()
    values = FieldMapper(FieldsSpec(**{name: column})).field(name, view)
    wanted = field_columns(name, values, view.numbers)
    found = FIELD_COLUMNS[name](COLUMNS[column])
    assert found is not None
    whole = [batch_from(columns, view.count, {}) for columns in (found, wanted)]
    assert whole[0].schema == whole[1].schema
    assert whole[0].to_pylist() == whole[1].to_pylist()
    whole[0].validate(full=True)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        *[("input", one) for one in ("text", "nulls", "none", "empty", "int", "texts")],
        *[("target", one) for one in ("texts", "holes", "numbers", "dictionary", "int", "float")],
        # `texts` has lists that end in whitespace, beside a null.
        *[("choices", one) for one in ("texts", "nulls", "text", "holes", "numbers", "int")],
        *[("id", one) for one in ("float", "flag", "uint64", "texts")],
        *[(name, "text") for name in ("sandbox", "files", "checkpoint", "description")],
        *[("setup", one) for one in ("texts", "dictionary")],
    ],
)
def test_the_values_decide_where_the_type_does_not(name: str, column: str) -> None:
    assert FIELD_COLUMNS[name](COLUMNS[column]) is None


def test_items_under_a_null_list_are_ignored() -> None:
    items, mask = pa.array(list("abcdef")), pa.array([False, True, False])
    masked = pa.ListArray.from_arrays([0, 2, 4, 6], items, mask=mask)
    assert list_offsets(cast_to_metadata_type(masked, "str_list")).tolist() == [0, 2, 2, 4]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *[(name, "str") for name in ("text", "large", "nulls", "none")],
        *[("texts", "str_list"), ("holes", "str_list"), ("int8", "int"), ("int", "int")],
        *[("float", "float"), ("float32", "float"), ("flag", "bool")],
        *[(name, None) for name in ("empty", "uint64", "dictionary", "view", "numbers", "deep")],
    ],
)
def test_a_column_has_a_metadata_type(name: str, kind: MetadataType | None) -> None:
    column = COLUMNS[name]
    assert metadata_type_of_column(column) == kind
    if kind is not None:
        made = cast_to_metadata_type(column, kind)
        assert made is not None
        assert (made.type, made.to_pylist()) == (METADATA_TYPES[kind], column.to_pylist())


@pytest.mark.parametrize("kind", METADATA_TYPES)
def test_a_column_of_nulls_has_any_metadata_type(kind: MetadataType) -> None:
    made = cast_to_metadata_type(pa.nulls(2, pa.int8()), kind)
    assert made is not None
    assert (made.type, made.to_pylist()) == (METADATA_TYPES[kind], [None, None])


def test_a_column_is_not_cast_to_a_different_metadata_type() -> None:
    assert cast_to_metadata_type(pa.array([1]), "str") is None
    assert cast_to_metadata_type(pa.array(["x"]), "json") is None
