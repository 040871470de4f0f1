"""An expression of one column of strings is evaluated once per distinct string, if they repeat."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from registry.decode.frame import Frame, NotColumnarError
from registry.manifest.expressions import parse_expression
from registry.mapping.columnar import memoize
from registry.mapping.columnar.memoize import evaluate_values
from registry.mapping.columnar.programs import Program, Programs
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.evaluate import compile_expression
from registry.mapping.row import Row

COUNT = 12
COLUMNS: dict[str, pa.Array] = {
    "few": pa.array(["x", "é y", "x"] * (COUNT // 3)),
    "two": pa.array(["a", "b"] * (COUNT // 2), pa.large_string()),
    "many": pa.array([f"x{at}" for at in range(COUNT - 5)] + ["x0"] * 5),
    "later": pa.array(["x"] * (COUNT - 7) + [f"x{at}" for at in range(7)]),
    "holes": pa.array(["x", None] * (COUNT // 2)),
    "n": pa.array([1] * COUNT),
    "m": pa.array([{"x": "y"}] * COUNT),
}


class NotedPrograms(Programs):
    """Programs without generated functions, that note the rows they are evaluated for."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Row] = []

    def of(self, node: Any) -> Program:
        program = super().of(node)

        def noted(row: Row) -> Any:
            self.rows.append(row)
            return program.evaluate(row)

        return replace(program, evaluate=noted, function=None)


def found(raw: Any) -> tuple[list[Any], int]:
    """Return the values of an expression, and for how many rows it was evaluated."""
    batch = pa.record_batch(list(COLUMNS.values()), list(COLUMNS))
    numbers, programs = np.arange(7, 7 + COUNT), NotedPrograms()
    view = RecordBatchView(Frame(batch), {"constant": "k"}, numbers, programs=programs)
    expression = parse_expression(raw)
    one = compile_expression(expression)
    values = evaluate_values(expression, view)
    records = [{**row, "constant": "k"} for row in batch.to_pylist()]
    assert values == [one(Row(row, 7 + at)) for at, row in enumerate(records)]
    return values, len(programs.rows)


@pytest.mark.parametrize(
    ("raw", "least"),
    [
        ({"from": "few", "do": {"regex": r"^(\w+)"}}, 2),
        ({"from": "two", "do": [{"split": "x"}, "len"]}, 2),
        ({"template": "{few|}{constant}{none|-}"}, 2),
        ({"if": {"value": "few", "equals": "x"}, "then": "two"}, COUNT),
        ({"if": {"value": "few", "equals": "x"}, "then": {"row_number": 1}}, COUNT),
        ({"from": "few", "do": {"coalesce": {"row_number": 1}}}, COUNT),
        ({"hash": "*"}, COUNT),
        ({"from": "many", "do": "lines"}, COUNT),
        ({"from": "later", "do": "lines"}, COUNT),
        ({"from": "holes", "do": {"default": "x"}}, COUNT),
        ({"from": "n", "do": "str"}, COUNT),
        ("m.x", 0),
        ({"const": 1}, COUNT),
    ],
    ids=str,
)
def test_expression_is_evaluated_once_per_distinct_string(raw: Any, least: int) -> None:
    assert found(raw)[1] == least


@pytest.mark.parametrize("probed", [1, 4, 100])
def test_the_first_rows_decide_whether_strings_repeat(
    probed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.mapping.columnar.memoize._PROBED_ROWS", probed)
    assert found({"from": "few", "do": "lines"})[1] == (COUNT if probed == 1 else 2)


def evaluated(raw: Any, count: int) -> list[Any]:
    batch = pa.record_batch([pa.array(map(str, range(count)))], ["text"])
    view = RecordBatchView(Frame(batch), {}, np.arange(count))
    return evaluate_values(parse_expression(raw), view)


def test_values_that_are_too_large_or_too_slow_are_mapped_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = {"from": "text", "do": [{"replace": {"7": "x" * (1 << 20)}}]}
    assert len(evaluated(raw, 100)) == 100
    with pytest.raises(NotColumnarError, match="too large"):
        evaluated(raw, 2000)
    with pytest.raises(NotColumnarError, match="too large"):
        evaluated([raw, raw], 1000)
    monkeypatch.setattr(memoize, "_SECONDS", -1.0)
    with pytest.raises(NotColumnarError, match="too slow"):
        evaluated(raw, 1)


@pytest.mark.parametrize(
    ("raw", "is_shared"),
    [
        ({"object": {"a": "absent", "b": {"from": "also.absent", "do": {"default": []}}}}, True),
        ({"object": {"a": "absent", "b": "constant"}}, False),
        ({"object": {"a": "absent", "b": "few"}}, False),
        ({"object": {"a": "absent", "b": "m.y"}}, False),
        ({"object": {"a": "absent", "b": {"row_number": 1}}}, False),
    ],
    ids=str,
)
def test_columns_that_no_record_has_are_evaluated_once(raw: Any, is_shared: bool) -> None:
    batch = pa.record_batch(list(COLUMNS.values()), list(COLUMNS))
    view = RecordBatchView(Frame(batch), {"constant": ["k"]}, np.arange(7, 7 + COUNT))
    expression = parse_expression(raw)
    one = compile_expression(expression)
    values = evaluate_values(expression, view)
    records = [{**row, "constant": ["k"]} for row in batch.to_pylist()]
    assert values == [one(Row(row, 7 + at)) for at, row in enumerate(records)]
    assert all(value is values[0] for value in values) == is_shared


def test_a_value_of_all_records_counts_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memoize, "LARGEST_COLUMN", 100)
    raw = {"object": {"a": {"if": {"value": "absent", "empty": True}, "then": {"const": "x" * 30}}}}
    assert len(evaluated(raw, 2)) == 2
    with pytest.raises(NotColumnarError, match="too large"):
        evaluated(raw, 3)
