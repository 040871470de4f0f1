"""Rows have equal digests exactly if their values are equal."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.samples.frames.row_digests import Digests, row_digests

TEXT = pa.large_string()
MESSAGE = pa.struct([("role", TEXT), ("rest", TEXT)])
TYPES = (TEXT, pa.large_list(TEXT), pa.large_list(MESSAGE))
texts = st.none() | st.sampled_from(["", "a", "b", "ab", "é"])
messages = st.fixed_dictionaries({"role": texts, "rest": texts})
rows = st.tuples(
    texts,
    st.none() | st.lists(texts, max_size=3),
    st.none() | st.lists(messages, max_size=2),
)


def digests_of(columns: list[pa.Array]) -> list[bytes]:
    data = row_digests(columns)
    return [data[start : start + 16] for start in range(0, len(data), 16)]


def columns_of(values: list[tuple[object, ...]]) -> list[pa.Array]:
    return [pa.array([row[place] for row in values], kind) for place, kind in enumerate(TYPES)]


@settings(deadline=None)
@given(st.lists(rows, min_size=2, max_size=8))
def test_digests_are_equal_for_equal_rows_only(values: list[tuple[object, ...]]) -> None:
    found = digests_of(columns_of(values))
    for (one, left), (other, right) in combinations(zip(values, found, strict=True), 2):
        assert (one == other) == (left == right)


@settings(deadline=None)
@given(st.lists(rows, min_size=1, max_size=6), st.data())
def test_digests_do_not_depend_on_the_batch(
    values: list[tuple[object, ...]], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(values) - 1))
    columns = columns_of(values)
    found = digests_of(columns)
    assert digests_of([column.slice(start) for column in columns]) == found[start:]
    assert digests_of(columns_of(values[start:])) == found[start:]


def test_bytes_below_a_null_do_not_count() -> None:
    offsets, data = pa.py_buffer(np.array([0, 1, 2], np.int64)), pa.py_buffer(b"xy")
    nulls = pa.Array.from_buffers(TEXT, 2, [pa.py_buffer(b"\x00"), offsets, data])
    inside = pa.LargeListArray.from_arrays(pa.array([0, 1, 2], pa.int64()), nulls)
    left, right = digests_of([inside])
    assert left == right
    assert left == digests_of([pa.array([[None]], pa.large_list(TEXT))])[0]


def test_different_digests_are_counted() -> None:
    found = Digests()
    assert found.distinct() == 0
    found.add(row_digests([pa.array(["a", "b", "a", None], TEXT)]))
    found.add(row_digests([pa.array(["b", "c"], TEXT)]))
    assert found.distinct() == 4
