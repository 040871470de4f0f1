"""Whole columns become the same fields as the values of their records, or have no kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from registry.base.arrow.arrays import list_offsets
from registry.decode.frame import Frame
from registry.manifest.expressions import parse_expression
from registry.manifest.models import FieldsSpec
from registry.mapping.columnar.expressions import NoKernelError
from registry.mapping.columnar.fields import (
    FIELD_KERNELS,
    cast_to_metadata_type,
    metadata_type_of_column,
)
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.row import Row
from registry.store.columns import field_columns
from registry.store.schema import (
    METADATA_TYPES,
    MetadataType,
    batch_from,
)
from tests.mapping.columnar.views import COLUMNS, records_of, view_of

FIELDS: dict[str, list[Any]] = {
    "input": [{"template": "x{text}"}, {"template": "{int}"}, {"const": "x"}],
    "target": [
        *["text", "nulls", "none", "empty", "missing", "int", "int8", "uint64", "filled"],
        *["float", "float32", "flag"],
        *[["text", "large"], {"row_number": 1}, {"from": "place", "do": "letter"}],
    ],
    "choices": ["filled", "none", "empty", "missing", ["text", "large", "ascii"]],
    "id": ["text", "large", "nulls", "none", "missing", "int", "int8", {"row_number": 3}],
    "sandbox": ["none", "missing"],
    "files": ["none", "missing"],
    "setup": ["none", "empty", "missing", "text", "nulls", "int", "flag", "float32"],
    "checkpoint": ["none", "empty", "missing"],
    "description": ["none", "empty", "missing", "text", "nulls", "large", {"template": "x{text}"}],
}
CASES = [(name, raw) for name, expressions in FIELDS.items() for raw in expressions]


@pytest.mark.parametrize(("name", "raw"), CASES, ids=str)
def test_field_kernel_returns_the_same_columns_as_records(
    name: str, raw: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = view_of()
    part = FieldMapper(FieldsSpec(**{name: raw})).parts[name]
    wanted = field_columns(name, [part(row) for row in records_of(view)], view.numbers)
    monkeypatch.setattr(RecordBatchView, "rows", lambda *_: pytest.fail("records were made"))
    found = FIELD_KERNELS[name](parse_expression(raw), view)
    whole = [batch_from(columns, view.count, {}) for columns in (found, wanted)]
    assert whole[0].schema == whole[1].schema
    assert whole[0].to_pylist() == whole[1].to_pylist()
    whole[0].validate(full=True)


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        *[("input", raw) for raw in ("text", "nulls", "none", "empty", "missing", "int", "texts")],
        *[("target", raw) for raw in ("texts", "holes", "numbers", "dictionary")],
        # `texts` has lists that end in whitespace, beside a null.
        *[("choices", raw) for raw in ("texts", "nulls", "text", "holes", "numbers", "int")],
        *[("id", raw) for raw in ("float", "flag", "uint64", "texts")],
        *[(name, "text") for name in ("sandbox", "files", "checkpoint")],
        *[("setup", raw) for raw in ("texts", "dictionary")],
        *[("description", raw) for raw in ("int", "texts")],
    ],
)
def test_a_field_of_other_types_has_no_kernel(name: str, raw: str) -> None:
    with pytest.raises(NoKernelError):
        FIELD_KERNELS[name](parse_expression(raw), view_of())


CHOICES = ["a,b", " a , ,b", ",", "x", "", "a  b", " é,\x85\u3000c ", "\x1f,", "0"]


@pytest.mark.parametrize("name", ["choices", "target", "setup"])
def test_fields_of_single_columns_are_those_of_records(name: str) -> None:
    for values in (CHOICES, CHOICES[:3], [0.5, float("nan"), None]):
        view = view_of(v=pa.array(values))
        part = FieldMapper(FieldsSpec(**{name: "v"})).parts[name]
        if name == "choices" and values[-1] is None:
            continue
        wanted = field_columns(name, [part(row) for row in records_of(view)], view.numbers)
        found = FIELD_KERNELS[name](parse_expression("v"), view)
        assert batch_from(found, view.count, {}).equals(batch_from(wanted, view.count, {}))


@pytest.mark.parametrize("space", ["\n", "\t", "\x1c", "\x85", "\u2028", "\xa0"])
def test_choices_between_other_whitespace_are_left_to_records(space: str) -> None:
    assert len(f"a{space}b".split()) == 2
    with pytest.raises(NoKernelError):
        FIELD_KERNELS["choices"](parse_expression("v"), view_of(v=pa.array(["a,b", f"a{space}b"])))


def test_items_under_a_null_list_are_ignored() -> None:
    items, mask = pa.array(list("abcdef")), pa.array([False, True, False])
    masked = pa.ListArray.from_arrays([0, 2, 4, 6], items, mask=mask)
    whole = pa.ListArray.from_arrays([0, 2, 4, 6], items)
    view = view_of(v=masked, a=pa.StructArray.from_arrays([whole], ["v"], mask=mask))
    for raw in ("v", "a.v"):
        choices = FIELD_KERNELS["choices"](parse_expression(raw), view)["choices"]
        assert list_offsets(choices).tolist() == [0, 2, 2, 4]
        assert choices.to_pylist() == [["a", "b"], None, ["e", "f"]]
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


@pytest.mark.parametrize("steps", [[], ["strip"]], ids=["columns", "with operations"])
def test_blank_targets_of_several_columns_are_dropped(steps: list[str]) -> None:
    columns = {"a": ["x", "", "p", "  "], "b": [" ", "\u3000", "q", "y"], "c": ["z", "", "r", ""]}
    batch = pa.RecordBatch.from_pydict(columns)
    raw: Any = list(columns)
    raw = {"from": raw, "do": [{"each": steps}]} if steps else raw
    part = FieldMapper(FieldsSpec(target=raw)).parts["target"]
    expected = [["x", "z"], [], ["p", "q", "r"], ["y"]]
    assert [part(Row(record)) for record in batch.to_pylist()] == expected
    if not steps:  # `each` has no kernel
        for offset in (0, 1):
            part_of = RecordBatchView(Frame(batch.slice(offset)), {}, np.arange(1, 5 - offset))
            found = FIELD_KERNELS["target"](parse_expression(raw), part_of)["targets"]
            found.validate(full=True)
            assert found.to_pylist() == expected[offset:]


@pytest.mark.parametrize("raw", ["lists", {"from": "lists", "do": [{"slice": [0, 9]}]}])
def test_blank_targets_in_one_column_are_the_data_s_own(raw: Any) -> None:
    part = FieldMapper(FieldsSpec(target=raw)).parts["target"]
    assert part(Row({"lists": ["x", "", " "]})) == ["x", "", " "]
