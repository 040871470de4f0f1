"""Expressions whose values are surely those that JSON has."""

from __future__ import annotations

import datetime as dt
import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from registry.decode.frame import MISSING, AnyFrame, Frame, ValueFrame
from registry.manifest.expressions import parse_expression
from registry.mapping.columnar.memoize import evaluate_values
from registry.mapping.columnar.plain import is_plain, is_plain_spread
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.store.json_texts import are_plain

RECORD: dict[str, Any] = {
    "q": "x", "n": 1, "f": 0.5, "l": ["a", None], "o": {"k": [1, {}]}, "u": [{"k": "v"}], "z": None
}  # fmt: skip
TODAY = dt.date(2026, 1, 2)


def view(*, arrow: bool = False, **constants: Any) -> RecordBatchView:
    frame: AnyFrame = ValueFrame(1, {}, [RECORD])
    if arrow:
        frame = Frame(pa.RecordBatch.from_pylist([{**RECORD, "f": math.nan, "o": {"k": 1}}]))
    return RecordBatchView(frame, constants, np.arange(1, 2))


PLAIN = [
    "q", "n", "l", "z", "absent", {"const": [1, None]}, {"object": {"a": "q", "b": ["n", "l"]}},
    {"template": "{q}"}, {"if": {"value": "q", "equals": "y"}, "then": "q", "else": "n"}, {"hash": ["q"]}, {"row_number": 0}, {"from": "z", "do": [{"default": "y"}]},
    {"from": "q", "do": ["strip", {"split": ","}, {"each": ["strip"]}, {"index": 0}]},
]  # fmt: skip
OBJECTS = ["o", "o.k", {"from": "u", "do": [{"pluck": "k"}]}, {"from": "o", "do": ["keys"]}, "f"]


@pytest.mark.parametrize("raw", [*PLAIN, *OBJECTS], ids=json.dumps)
def test_values_of_plain_expressions_are_plain(raw: Any) -> None:
    expression = parse_expression(raw)
    assert is_plain(expression, view())
    values = [None if one is MISSING else one for one in evaluate_values(expression, view())]
    assert are_plain(values)


@pytest.mark.parametrize("raw", PLAIN, ids=json.dumps)
def test_columns_of_plain_types_are_plain(raw: Any) -> None:
    assert is_plain(parse_expression(raw), view(arrow=True))


@pytest.mark.parametrize("raw", ["f", "o", {"object": {"a": "q", "b": "f"}}], ids=json.dumps)
def test_floats_and_objects_of_arrow_are_looked_at(raw: Any) -> None:
    assert not is_plain(parse_expression(raw), view(arrow=True))


@pytest.mark.parametrize(
    "raw",
    [
        {"const": TODAY},
        {"from": "q", "do": [{"default": TODAY}]},
        {"from": "q", "do": ["float"]},
        {"from": "l", "do": [{"each": [{"parse": "literal"}]}]},
        {"from": "l", "do": [{"each": {"to": "item"}}]},
        {"if": {"value": "q", "equals": "x"}, "then": "q", "else": {"const": TODAY}},
    ],
    ids=str,
)
def test_other_values_are_looked_at(raw: Any) -> None:
    assert not is_plain(parse_expression(raw), view())


def test_constant_columns_are_looked_at() -> None:
    assert is_plain(parse_expression("q"), view(k=TODAY))
    assert not is_plain(parse_expression("k"), view(k=TODAY))
    assert not is_plain(parse_expression("k.x"), view(k=TODAY))
    assert not is_plain(parse_expression("q"), view(q=TODAY))


def test_dicts_of_a_column_or_record_are_plain_if_none_is_parsed() -> None:
    frame = ValueFrame(2, {"d": [{"k": 1}, None], "s": [{"k": 1}, '{"k": NaN}']})
    few = RecordBatchView(frame, {}, np.arange(1, 3))
    with_constant = RecordBatchView(frame, {"d": TODAY, "k": TODAY}, np.arange(1, 3))
    assert is_plain_spread("d", few)
    assert is_plain_spread("*", few)
    assert not is_plain_spread("s", few)
    assert not is_plain_spread("d", with_constant)
    assert not is_plain_spread("*", with_constant)
    assert not is_plain_spread("*", view(arrow=True))
