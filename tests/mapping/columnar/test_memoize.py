"""An expression of one column of texts is worked out once for each of them, if they repeat."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from registry.decode.frame import Frame
from registry.manifest.expressions import parse_condition, parse_expression
from registry.mapping.columnar.memoize import evaluated
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.columns_used import columns_of_expression, reads_number
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

    reads, numbered = columns_of_expression(expression), reads_number(expression)
    values = evaluated(noted, reads, view, numbered=numbered)
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
def test_it_is_evaluated_only_as_often_as_there_are_texts(raw: Any, least: int) -> None:
    assert found(raw)[1] == least


@pytest.mark.parametrize("looked_at", [1, 4, 100])
def test_few_rows_tell_that_texts_do_not_repeat(
    looked_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.mapping.columnar.memoize._LOOKED_AT", looked_at)
    assert found({"from": "few", "do": "lines"})[1] == (COUNT if looked_at == 1 else 2)


NUMBER = {"row_number": 1}


@pytest.mark.parametrize(
    "raw",
    [
        *[NUMBER, [NUMBER], {"template": "{v}", "with": {"v": NUMBER}}, {"object": {"x": NUMBER}}],
        *[
            {"hash": ["q"], "prefix": NUMBER},
            {"hash": ["q", NUMBER]},
            {"from": NUMBER, "do": "str"},
        ],
        {"from": "q", "do": [{"each": [{"letter_in": [NUMBER]}]}]},
        {"if": {"not": {"any": [{"value": NUMBER, "less": 3}]}}, "then": "q"},
        {"messages": [{"role": "user", "content": {"template": "{n}", "with": {"n": NUMBER}}}]},
    ],
)
def test_the_number_of_a_record_is_seen_wherever_it_is_read(raw: Any) -> None:
    assert reads_number(parse_expression(raw))
    assert reads_number(parse_condition({"all": [{"value": raw, "empty": True}]}))


@pytest.mark.parametrize("raw", ["q", {"const": 1}, {"hash": "*"}, {"from": "q", "do": "str"}])
def test_what_does_not_read_the_number_is_seen(raw: Any) -> None:
    assert not reads_number(parse_expression(raw))
    assert not reads_number(parse_condition({"value": raw, "equals": "x"}))
