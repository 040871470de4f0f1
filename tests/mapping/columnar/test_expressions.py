"""Each kernel gives what the evaluator of records gives, and no record is made for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from registry.base.arrow import list_offsets
from registry.decode.frame import Frame
from registry.manifest.expressions import parse_condition, parse_expression
from registry.manifest.models import FieldsSpec
from registry.mapping.columnar.expressions import NoKernelError, evaluate, places_where
from registry.mapping.columnar.fields import (
    FIELD_KERNELS,
    metadata_type_of_column,
    of_metadata_type,
)
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.conditions import compile_condition
from registry.mapping.evaluate import compile_expression
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.row import MISSING, Row
from registry.store.schema import METADATA_TYPES, MetadataType, batch_from, field_columns

TEXTS = pa.large_list(pa.large_string())
ODD = ["x", "", " \x1f\tÄ ", "\u3000", "ß", "aXbX", "\0", "\U0001f600", "10"]
ASCII = ["x", "", " \t\n\x0b\x0c\r\x1c\x1d\x1e\x1f ", " A b ", "aXbX", "\0", "Z", "10", "~"]
COUNT = len(ODD)

COLUMNS: dict[str, pa.Array] = {
    "text": pa.array(ODD),
    "large": pa.array(ODD, pa.large_string()),
    "ascii": pa.array(ASCII),
    "sliced": pa.array(["before", *ODD, "behind"])[1:-1],
    "nulls": pa.array([None, *ODD[1:]]),
    "none": pa.nulls(COUNT, pa.string()),
    "empty": pa.nulls(COUNT),
    "int8": pa.array(range(COUNT), pa.int8()),
    "int": pa.array([-1, 0, 2**63 - 1, -(2**63), *range(COUNT - 4)]),
    "place": pa.array([99, *range(COUNT)], pa.int32())[1:],
    "uint64": pa.array([2**64 - 1, *range(COUNT - 1)], pa.uint64()),
    "float": pa.array([0.5] * COUNT),
    "float32": pa.array([0.1, None] + [1.0] * (COUNT - 2), pa.float32()),
    "flag": pa.array([True, None] + [False] * (COUNT - 2)),
    "dictionary": pa.array(ODD).dictionary_encode(),
    "view": pa.array(ODD, pa.string_view()),
    "texts": pa.array([["a", " "], [], ["", "b", ""], None, ["c"], ["é", "\u3000"], *[["x"]] * 3]),
    "filled": pa.array(
        [["a", " "], [], ["", "b", ""], ["d"], ["c"], ["é", "\u3000"], *[["x"]] * 3]
    ),
    "holes": pa.array([["a", None]] * COUNT),
    "numbers": pa.array([[1, 2]] * COUNT),
    "deep": pa.array([{"x": {"y": text}, "z": None} for text in ODD]),
}


def view_of(**columns: pa.Array) -> RecordBatchView:
    chosen = columns or COLUMNS
    batch = pa.record_batch(list(chosen.values()), list(chosen))
    return RecordBatchView(Frame(batch), {"constant": "k"}, np.arange(7, 7 + batch.num_rows))


def records_of(view: RecordBatchView) -> list[Row]:
    return [
        Row(row, int(at))
        for row, at in zip(view.frame.batch.to_pylist(), view.numbers, strict=True)
    ]


EVALUATED: list[Any] = [
    *[name for name in COLUMNS if name not in ("dictionary", "view")],
    *["dictionary", "view", "missing", "deep.x.y", "deep.z", "deep.x"],
    *[{"const": ""}, {"const": "é"}, {"row_number": 1}, {"row_number": -3}],
    *[["text"], ["text", "large", {"const": "k"}], [{"template": "{int}"}, "ascii"]],
    *[
        {"template": "{text}"},
        {"template": "a{int8} {large}{uint64}{{"},
        {"template": "{v}!", "with": {"v": "sliced"}},
    ],
    *[
        {"from": "text", "do": []},
        {"from": "place", "do": "letter"},
        {"from": "int8", "do": "letter"},
    ],
    *[{"from": "ascii", "do": step} for step in ("lower", "upper", "strip")],
    *[
        {"from": "text", "do": {"replace": {"X": "", "a": "XX", "x": "\0"}}},
        {"from": "sliced", "do": {"replace": {"b": "é"}}},
    ],
    *[
        {"hash": [name]}
        for name in ("text", "sliced", "int", "uint64", "float", "filled", "numbers")
    ],
    *[{"hash": [name]} for name in ("holes", "dictionary", "view", "deep", ["text", "large"])],
    *[
        {"hash": ["text", "filled", {"const": ""}], "length": 8},
        {"hash": ["text"], "algorithm": "sha256", "prefix": {"template": "{ascii}é"}},
        {"hash": ["text"], "length": 64, "prefix": {"from": "numbers"}},
        {"hash": [{"hash": "text"}, {"row_number": 1}], "prefix": {"const": "q"}, "length": 1},
    ],
    *[{"from": "ascii", "do": ["strip", "lower", {"replace": {"x": "y"}}, "upper"]}],
]


@pytest.mark.parametrize("raw", EVALUATED, ids=str)
def test_an_expression_gives_the_values_of_the_records(raw: Any) -> None:
    view, expression = view_of(), parse_expression(raw)
    one_by_one = compile_expression(expression)
    wanted = [one_by_one(row) for row in records_of(view)]
    found = evaluate(expression, view).to_pylist()
    assert found == [None if value is MISSING else value for value in wanted]
    assert list(map(type, found)) == [
        type(None) if value is MISSING else type(value) for value in wanted
    ]


def test_letters_begin_at_one_where_the_manifest_says_so() -> None:
    view = view_of(n=pa.array([1, 26], pa.uint8()))
    expression = parse_expression({"from": "n", "do": {"letter": {"base": 1}}})
    assert evaluate(expression, view).to_pylist() == ["A", "Z"]


WITHOUT_KERNEL: list[Any] = [
    *[
        "constant",
        "constant.x",
        "text.x",
        "deep.x.none",
        {"const": 1},
        {"const": None},
        {"const": ["x"]},
    ],
    *[
        [],
        ["nulls"],
        ["int"],
        ["texts"],
        ["missing"],
        {"hash": "*"},
        {"hash": ["text", "nulls"]},
        {"hash": ["missing"]},
        {"hash": ["text"], "prefix": {"from": "none"}},
        {"object": {"x": "text"}},
    ],
    *[
        {"template": "x"},
        {"template": "{nulls}"},
        {"template": "{missing}"},
        {"template": "{text|}"},
    ],
    *[
        {"template": "{?text}x{/}"},
        {"template": "{float}"},
        {"template": "{flag}"},
        {"template": "{view}"},
    ],
    *[{"from": "nulls"}, {"from": "missing", "do": "lower"}, {"from": "text", "do": "lower"}],
    *[
        {"from": "text", "do": "upper"},
        {"from": "text", "do": "strip"},
        {"from": "ascii", "do": {"strip": "x"}},
    ],
    *[
        {"from": "int", "do": "letter"},
        {"from": "uint64", "do": "letter"},
        {"from": "ascii", "do": "letter"},
    ],
    *[
        {"from": "int", "do": "lower"},
        {"from": "int", "do": {"replace": {"1": "2"}}},
        {"from": "ascii", "do": "len"},
    ],
    *[
        {"row_number": 1, "width": 2},
        {"row_number": 2**62},
        {"messages": [{"role": "user", "content": "text"}]},
    ],
    {"if": {"value": "text", "empty": True}, "then": "text"},
]


@pytest.mark.parametrize("raw", WITHOUT_KERNEL, ids=str)
def test_what_only_records_can_tell_has_no_kernel(raw: Any) -> None:
    with pytest.raises(NoKernelError):
        evaluate(parse_expression(raw), view_of())


@pytest.mark.parametrize("value", ["text", "large", "nulls", "missing", "sliced", "deep.x.y"])
@pytest.mark.parametrize("operand", ["x", "", "é", "no"])
def test_equality_with_a_text_holds_of_the_same_records(value: str, operand: str) -> None:
    view, condition = view_of(), parse_condition({"value": value, "equals": operand})
    holds = compile_condition(condition, compile_expression)
    wanted = [at for at, row in enumerate(records_of(view)) if holds(row)]
    assert places_where(condition, view).to_pylist() == wanted


@pytest.mark.parametrize(
    "raw",
    [
        {"value": "int", "equals": "x"},
        {"value": "text", "equals": 1},
        {"value": "text", "not_equals": "x"},
        {"value": "text", "equals": "x", "in": ["x"]},
        {"not": {"value": "text", "equals": "x"}},
        [{"value": "text", "equals": "x"}],
    ],
)
def test_other_conditions_have_no_kernel(raw: Any) -> None:
    with pytest.raises(NoKernelError):
        places_where(parse_condition(raw), view_of())


FIELDS: dict[str, list[Any]] = {
    "input": [{"template": "x{text}"}, {"template": "{int}"}, {"const": "x"}],
    "target": [
        *["text", "nulls", "none", "empty", "missing", "int", "int8", "uint64", "filled"],
        *[["text", "large"], {"row_number": 1}, {"from": "place", "do": "letter"}],
    ],
    "choices": ["filled", "none", "empty", "missing", ["text", "large", "ascii"]],
    "id": ["text", "large", "nulls", "none", "missing", "int", "int8", {"row_number": 3}],
    "sandbox": ["none", "missing"],
    "files": ["none", "missing"],
    "setup": ["none", "empty", "missing"],
}
CASES = [(name, raw) for name, expressions in FIELDS.items() for raw in expressions]


@pytest.mark.parametrize(("name", "raw"), CASES, ids=str)
def test_a_field_has_the_columns_of_the_values_of_the_records(
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
        *[("target", raw) for raw in ("float", "flag", "texts", "holes", "numbers", "dictionary")],
        # The last of these are lists with blank ends beside a null.
        *[("choices", raw) for raw in ("texts", "text", "holes", "numbers", "int")],
        *[("id", raw) for raw in ("float", "flag", "uint64", "texts")],
        *[(name, "text") for name in ("sandbox", "files", "setup")],
    ],
)
def test_a_field_of_other_values_has_no_kernel(name: str, raw: str) -> None:
    with pytest.raises(NoKernelError):
        FIELD_KERNELS[name](parse_expression(raw), view_of())


def test_a_null_list_takes_no_items_with_it() -> None:
    items, mask = pa.array(list("abcdef")), pa.array([False, True, False])
    masked = pa.ListArray.from_arrays([0, 2, 4, 6], items, mask=mask)
    whole = pa.ListArray.from_arrays([0, 2, 4, 6], items)
    view = view_of(v=masked, a=pa.StructArray.from_arrays([whole], ["v"], mask=mask))
    for raw in ("v", "a.v"):
        choices = FIELD_KERNELS["choices"](parse_expression(raw), view)["choices"]
        assert list_offsets(choices).tolist() == [0, 2, 2, 4]
        assert choices.to_pylist() == [["a", "b"], None, ["e", "f"]]
    assert list_offsets(of_metadata_type(masked, "str_list")).tolist() == [0, 2, 2, 4]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *[(name, "str") for name in ("text", "large", "nulls", "none")],
        *[("texts", "str_list"), ("holes", "str_list"), ("int8", "int"), ("int", "int")],
        *[("float", "float"), ("float32", "float"), ("flag", "bool")],
        *[(name, None) for name in ("empty", "uint64", "dictionary", "view", "numbers", "deep")],
    ],
)
def test_the_kind_of_a_column(name: str, kind: MetadataType | None) -> None:
    column = COLUMNS[name]
    assert metadata_type_of_column(column) == kind
    if kind is not None:
        made = of_metadata_type(column, kind)
        assert made is not None
        assert (made.type, made.to_pylist()) == (METADATA_TYPES[kind], column.to_pylist())


@pytest.mark.parametrize("kind", METADATA_TYPES)
def test_a_column_of_nulls_is_of_any_kind(kind: MetadataType) -> None:
    made = of_metadata_type(pa.nulls(2, pa.int8()), kind)
    assert made is not None
    assert (made.type, made.to_pylist()) == (METADATA_TYPES[kind], [None, None])


def test_a_column_of_another_kind_is_none() -> None:
    assert of_metadata_type(pa.array([1]), "str") is None
    assert of_metadata_type(pa.array(["x"]), "json") is None
