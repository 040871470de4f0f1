"""Records of a frame, by column and as rows, give the same values."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.decode.frame import Frame, NotColumnarError, python_values
from registry.manifest.source_models import JsonSource
from registry.mapping.record_batch import RecordBatchView
from registry.mapping.row import MISSING, get_column
from tests.decode.frames import frames_of

RECORDS: list[dict[str, Any]] = [
    {"q": "x", "n": None, "s": {"y": 1, "d.e": "p"}, "s.t": "own", "c": "record"},
    {"q": "y", "n": None, "s": {"y": None, "d.e": None}, "s.t": None, "c": "record"},
]


def view_of() -> RecordBatchView:
    frame = Frame(pa.RecordBatch.from_pylist(RECORDS))
    return RecordBatchView(frame, {"c": "constant", "k": [1]}, np.array([4, 7]))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("q", ["x", "y"]),
        ("n", [None, None]),
        ("s.y", [1, None]),
        ("s.d.e", ["p", None]),
        ("nowhere", [None, None]),
        ("nowhere.x", [None, None]),
    ],
)
def test_a_column_has_the_values_of_the_records(name: str, values: list[Any]) -> None:
    column = view_of().arrow_column(name)
    assert column is not None
    assert column.to_pylist() == values
    in_records = [get_column(record, name) for record in RECORDS]
    assert [None if value is MISSING else value for value in in_records] == values


@pytest.mark.parametrize("name", ["c", "k", "c.x", "q.x", "s.z", "s.t", "s.t.x", "s.y.z"])
def test_columns_that_need_records_are_none(name: str) -> None:
    assert view_of().arrow_column(name) is None


def test_duplicate_key_of_a_struct_needs_records() -> None:
    struct = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["y", "y"])
    frame = Frame(pa.RecordBatch.from_arrays([struct], ["s"]))
    assert RecordBatchView(frame, {}, np.array([1])).arrow_column("s.y") is None


@pytest.mark.parametrize(
    ("name", "null"), [("n", True), ("nowhere", True), ("q", False), ("s.y", False), ("k", False)]
)
def test_a_column_is_null_if_every_record_lacks_it(name: str, null: bool) -> None:
    assert view_of().is_null(name) is null


def test_records_have_all_columns_in_the_order_of_the_file() -> None:
    records = view_of().records()
    assert records == [{**one, "c": "constant", "k": [1]} for one in RECORDS]
    assert list(records[0]) == ["q", "n", "s", "s.t", "c", "k"]


def test_filtered_records_keep_their_numbers_and_constants() -> None:
    kept = view_of().filtered(np.array([1]))
    assert (kept.count, kept.row_numbers) == (1, [7])
    assert (kept.values("q"), kept.values("c")) == (["y"], ["constant"])


@pytest.mark.parametrize(
    "column",
    [pa.array([2**62], pa.timestamp("s")), pa.array([b"\xff"]).view(pa.string())],
    ids=["date", "utf-8"],
)
def test_values_that_python_can_not_represent_are_not_columnar(column: pa.Array) -> None:
    with pytest.raises(NotColumnarError, match=r"^a value that Python can't represent$"):
        python_values(column)


_PLAIN_OBJECT = {"q": "x", "n": 1, "a": {"b": ["y"], "c": {"d": 1, "e": "z"}}, "o": {"k": [{}]}}
_ODD_OBJECTS = st.one_of(
    st.none(),
    st.just({}),
    st.sampled_from(["s", 1, 0.5, [], [None], ["y", None], {"b": {}}, {"c": None}, {"c": {}}]),
    st.fixed_dictionaries(
        {},
        optional={
            "b": st.sampled_from([None, [], ["y"], ["\u00e9", None], "y", 1]),
            "c": st.sampled_from([None, {}, {"d": 2}, {"d": 2.0}, {"d": None, "e": "w"}, "c"]),
            "b.c": st.sampled_from([None, 1]),
            "c.d": st.sampled_from([None, 3]),
        },
    ),
)
_ODD_RECORDS = st.fixed_dictionaries(
    {},
    optional={
        "q": st.sampled_from([None, "x", 1]),
        "a": _ODD_OBJECTS,
        "a.b": st.sampled_from([None, "dotted"]),
        "a.c.d": st.sampled_from([None, 5]),
        "o": st.sampled_from([None, {}, {"k": []}, {"k": None}, "o"]),
    },
)
_PATHS = ("q", "n", "a.b", "a.c.d", "a.c.e", "o", "o.k", "absent", "absent.x", "q.x")


@settings(max_examples=150)
@given(
    wanted=st.sets(st.sampled_from([*_PATHS, "a"]), min_size=1),
    first=st.one_of(st.just(_PLAIN_OBJECT), _ODD_RECORDS),
    others=st.lists(_ODD_RECORDS, max_size=3),
    ascii_only=st.booleans(),
)
def test_values_and_columns_of_json_lines_are_those_of_the_records(
    tmp_path_factory: pytest.TempPathFactory,
    wanted: set[str],
    first: dict[str, Any],
    others: list[dict[str, Any]],
    ascii_only: bool,
) -> None:
    records = [first] * 3 + others
    lines = "".join(f"{json.dumps(record, ensure_ascii=ascii_only)}\n" for record in records)
    path = tmp_path_factory.mktemp("lines") / "d.jsonl"
    path.write_text(lines.replace("\\u00e9", "\\u00E9"), "utf-8")
    frames, why = frames_of(path, JsonSource(path=(str(path),)), frozenset(wanted))
    assert why == ""
    (frame,) = frames
    view = RecordBatchView(frame, {}, np.arange(1, len(records) + 1))
    for name in sorted(wanted):
        expected = [get_column(record, name) for record in records]
        assert list(map(repr, view.values(name))) == list(map(repr, expected))
