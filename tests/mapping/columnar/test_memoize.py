"""An expression of one column of strings is evaluated once per distinct string, if they repeat."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from registry.decode.frame import Frame, NotColumnarError
from registry.manifest.expressions import parse_expression
from registry.mapping.columnar import memoize
from registry.mapping.columnar.memoize import evaluate_memoized
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.columns_used import expression_dependencies, uses_row_number
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


def found(raw: Any) -> tuple[list[Any], int]:
    """Return the values of an expression, and for how many rows it was evaluated."""
    batch = pa.record_batch(list(COLUMNS.values()), list(COLUMNS))
    view = RecordBatchView(Frame(batch), {"constant": "k"}, np.arange(7, 7 + COUNT))
    expression, rows = parse_expression(raw), list[Row]()
    one = compile_expression(expression)

    def noted(row: Row) -> Any:
        rows.append(row)
        return one(row)

    reads, numbered = expression_dependencies(expression), uses_row_number(expression)
    values = evaluate_memoized(noted, reads, view, numbered=numbered)
    records = [{**row, "constant": "k"} for row in batch.to_pylist()]
    assert values == [one(Row(row, 7 + at)) for at, row in enumerate(records)]
    return values, len(rows)


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
        ("m.x", COUNT),
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


def test_values_that_are_too_large_or_too_slow_are_mapped_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert memoize.bounded(iter(["a", 1, None])) == ["a", 1, None]
    text = "x" * (1 << 20)
    with pytest.raises(NotColumnarError, match="too large"):
        memoize.bounded(text for _ in range(300))
    with pytest.raises(NotColumnarError, match="too large"):
        memoize.bounded([text] * 10 for _ in range(30))
    monkeypatch.setattr(memoize, "_SECONDS", -1.0)
    with pytest.raises(NotColumnarError, match="too slow"):
        memoize.bounded(iter(["a"]))
