"""Each kernel returns the same as the evaluation by record, and creates no rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from registry.decode.frame import MISSING, Frame, ValueFrame
from registry.errors import MappingError
from registry.manifest.expressions import parse_condition, parse_expression
from registry.mapping.columnar.expressions import (
    NoKernelError,
    by_kernel,
    evaluate,
    indices_where,
)
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.conditions import compile_condition
from registry.mapping.evaluate import compile_expression
from tests.mapping.columnar.views import COLUMNS, records_of, view_of

EVALUATED: list[Any] = [
    *[{"row_number": start, "width": width} for start in (0, 1, 95) for width in (0, 2, 5)],
    *[["nulls"], {"from": "nulls"}, {"hash": ["text", "nulls", "float32", "flag"]}],
    *[{"const": value} for value in (1, -(2**63), None, True, 0.5, ["x", "é"], [])],
    *[[], {"template": "x"}, {"template": "{text|}{?nulls}x{/}"}, {"template": "{float}"}],
    *[{"from": "text", "do": step} for step in ("strip", "len", {"strip": "x"}, {"split": "X"})],
    {"if": {"value": "text", "empty": True}, "then": "text"},
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
    *[{"from": "ascii", "do": step} for step in ("lower", "upper", "capitalize", "strip")],
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
def test_kernel_returns_the_values_of_the_records(raw: Any) -> None:
    view, expression = view_of(), parse_expression(raw)
    one_by_one = compile_expression(expression)
    wanted = [one_by_one(row) for row in records_of(view)]
    found = evaluate(expression, view).to_pylist()
    assert found == [None if value is MISSING else value for value in wanted]
    assert list(map(type, found)) == [
        type(None) if value is MISSING else type(value) for value in wanted
    ]


def test_branch_is_only_evaluated_where_it_is_chosen() -> None:
    view = view_of(t=pa.array(["x", None, "yy"]), n=pa.array([7, 8, 9]))
    length = {"from": "t", "do": "len"}
    raw = {"if": {"value": "t", "empty": True}, "then": "n", "else": length}
    assert evaluate(parse_expression(raw), view).to_pylist() == [1, 8, 2]
    with pytest.raises(MappingError):
        evaluate(parse_expression(raw | {"if": {"value": "n", "equals": 7}}), view)


def test_letter_base_may_be_one() -> None:
    view = view_of(n=pa.array([1, 26], pa.uint8()))
    expression = parse_expression({"from": "n", "do": {"letter": {"base": 1}}})
    assert evaluate(expression, view).to_pylist() == ["A", "Z"]


@pytest.mark.parametrize("raw", [["a"], {"hash": ["a"]}, {"from": "a"}], ids=str)
def test_null_that_may_be_a_missing_column_has_no_kernel(raw: Any) -> None:
    batch = pa.record_batch([pa.array(["x", None])], ["a"])
    for frame in (Frame(batch, null_is_value=False), ValueFrame(2, {"a": ["x", MISSING]})):
        view = RecordBatchView(frame, {}, np.arange(2))
        with pytest.raises(NoKernelError):
            by_kernel(parse_expression(raw), view)
    view = RecordBatchView(ValueFrame(2, {"a": ["x", None]}), {}, np.arange(2))
    assert len(by_kernel(parse_expression(raw), view)) == 2


def test_hash_of_all_columns_takes_the_strings_by_name() -> None:
    view = view_of(b=pa.array(["x", "é"]), a=pa.array(["y", ""]), n=pa.array([1, 2]))
    expression = parse_expression({"hash": "*", "prefix": "p"})
    view = RecordBatchView(view.frame, {}, view.numbers)
    wanted = list(map(compile_expression(expression), records_of(view)))
    assert by_kernel(expression, view).to_pylist() == wanted
    gaps = view_of(b=pa.array(["x", None]))
    for other in (gaps, RecordBatchView(gaps.frame, {"k": "x"}, gaps.numbers)):
        with pytest.raises(NoKernelError):
            by_kernel(expression, other)


WITHOUT_KERNEL: list[Any] = [
    *[
        "constant",
        "constant.x",
        "text.x",
        "deep.x.none",
        {"const": {"x": 1}},
        {"const": [1]},
        {"const": 2**63},
    ],
    *[
        ["int"],
        ["texts"],
        ["missing"],
        {"hash": "*"},
        {"hash": ["missing"]},
        {"hash": ["text"], "prefix": {"from": "none"}},
        {"object": {"x": "text"}},
    ],
    *[
        {"template": "{nulls}"},
        {"template": "{missing}"},
    ],
    *[
        {"template": "{flag}"},
        {"template": "{view}"},
    ],
    *[{"from": "missing", "do": "lower"}, {"from": "text", "do": "lower"}],
    *[
        {"from": "text", "do": "upper"},
        {"from": "text", "do": "capitalize"},
    ],
    *[
        {"from": "int", "do": "letter"},
        {"from": "uint64", "do": "letter"},
        {"from": "ascii", "do": "letter"},
    ],
    *[
        {"from": "int", "do": "lower"},
        {"from": "int", "do": {"replace": {"1": "2"}}},
    ],
    *[
        {"row_number": -1, "width": 2},
        {"row_number": 2**62},
        {"messages": [{"role": "user", "content": "text"}]},
    ],
    {"if": {"value": "text", "less": 1}, "then": "text"},
    {"if": {"value": "text", "equals": "x"}, "then": "text", "else": "int"},
    {"from": "filled", "do": {"index": 0}},
    {"from": "text", "do": {"map": {"x": "y"}}},
]


@pytest.mark.parametrize("raw", WITHOUT_KERNEL, ids=str)
def test_expressions_that_need_records_have_no_kernel(raw: Any) -> None:
    with pytest.raises(NoKernelError):
        by_kernel(parse_expression(raw), view_of())


@pytest.mark.parametrize("value", ["text", "large", "nulls", "missing", "sliced", "deep.x.y"])
@pytest.mark.parametrize("operand", ["x", "", "é", "no"])
def test_equality_with_a_string_selects_the_same_records(value: str, operand: str) -> None:
    view, condition = view_of(), parse_condition({"value": value, "equals": operand})
    holds = compile_condition(condition, compile_expression)
    wanted = [at for at, row in enumerate(records_of(view)) if holds(row)]
    assert indices_where(condition, view).to_pylist() == wanted


@pytest.mark.parametrize(
    "raw",
    [
        {"value": "int", "equals": "x"},
        {"value": "text", "equals": 1},
        {"value": "text", "not_equals": "x"},
        {"value": "text", "equals": "x", "in": ["x"]},
        {"not": {"value": "text", "equals": "x"}},
        [{"value": "text", "equals": "x"}],
        {"any": [{"value": "text", "equals": "x"}, {"value": "flag", "equals": True}]},
    ],
)
def test_conditions_select_the_same_records(raw: Any) -> None:
    view, condition = view_of(), parse_condition(raw)
    holds = compile_condition(condition, compile_expression)
    wanted = [at for at, row in enumerate(records_of(view)) if holds(row)]
    assert indices_where(condition, view).to_pylist() == wanted


@pytest.mark.parametrize(
    "raw",
    [
        {"value": "text", "less": 1},
        {"value": "dictionary", "equals": "x"},
        {"value": "text", "regex": "(?i)é"},
    ],
)
def test_other_conditions_have_no_kernel(raw: Any) -> None:
    with pytest.raises(NoKernelError):
        indices_where(parse_condition(raw), view_of())


@pytest.mark.parametrize(
    "raw",
    [
        {"from": "a", "do": [{"map": {"x": "y" * 200_000}}]},
        {"from": "a", "do": [{"map": {"*": ["y" * 100_000] * 2}}]},
        {"template": "{e|" + "y" * 200_000 + "}"},
        {"template": "{a}" + "é" * 100_000},
    ],
    ids=lambda raw: str(raw)[:30],
)
def test_columns_that_would_be_very_large_have_no_kernel(raw: Any) -> None:
    few, many = (
        view_of(a=pa.array(["x"] * n), e=pa.array(["", "z"] * (n // 2))) for n in (2, 4000)
    )
    assert len(by_kernel(parse_expression(raw), few)) == 2
    with pytest.raises(NoKernelError):
        by_kernel(parse_expression(raw), many)
