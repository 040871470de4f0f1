"""Parquet, and the Arrow files of the Hub, with columns of every type."""

from __future__ import annotations

import io
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from tests.roads.fields import COLUMNS
from tests.roads.outcome import Case
from tests.roads.parts import case_of, rarely, seldom, texts

__all__ = ["arrow_cases"]

_FLOATS = [0.5, 1.0, -0.0, float("nan"), float("inf"), -1e300, 3.0]
_small = st.integers(0, 3)
_dates = st.sampled_from([date(2020, 1, 2), date(1, 1, 1), date(9999, 12, 31)])
_moments = st.sampled_from([datetime(2020, 1, 2, 3, 4, 5), datetime(1970, 1, 1)])  # noqa: DTZ001
_VALUES: tuple[tuple[pa.DataType, st.SearchStrategy[Any]], ...] = (
    (pa.string(), texts),
    (pa.string(), texts),
    (pa.large_string(), texts),
    (pa.string_view(), texts),
    (pa.dictionary(pa.int8(), pa.string()), texts),
    (pa.int8(), st.sampled_from([0, 1, 2, -1, 127])),
    (pa.int16(), _small),
    (pa.int32(), _small),
    (pa.int64(), st.sampled_from([0, 1, 2, 25, 26, -(2**63), 2**63 - 1])),
    (pa.uint8(), _small),
    (pa.uint32(), _small),
    (pa.uint64(), st.sampled_from([0, 1, 2**63, 2**64 - 1])),
    (pa.float16(), st.sampled_from([0.5, 1.0, float("nan")])),
    (pa.float32(), st.sampled_from([0.5, 0.1, 1.0, float("nan"), float("inf")])),
    (pa.float64(), st.sampled_from(_FLOATS)),
    (pa.bool_(), st.booleans()),
    (pa.null(), st.none()),
    (pa.date32(), _dates),
    (pa.timestamp("us"), _moments),
    (pa.timestamp("ns"), st.sampled_from([0, 1000, 1001])),
    (pa.timestamp("ms", tz="UTC"), _moments),
    (pa.time64("us"), _moments.map(datetime.time)),
    (pa.duration("us"), st.just(timedelta(days=1, microseconds=1))),
    (pa.decimal128(10, 2), st.sampled_from([Decimal("1.00"), Decimal("0.50")])),
    (pa.binary(), st.sampled_from([b"", b"x", b"\xff"])),
    (pa.binary(2), st.just(b"xy")),
)


def _with_nulls(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from([*[values] * 5, st.none()]).flatmap(lambda chosen: chosen)


def _typed(draw: st.DrawFn) -> tuple[pa.DataType, st.SearchStrategy[Any]]:
    """Draw a type with its values: scalar, or a list, struct or map of scalars."""
    kind, values = draw(_KINDS)
    form = draw(
        st.sampled_from(
            [*["plain"] * 4, "list", "list", "large_list", "fixed", "struct", "map", "deep"]
        )
    )
    items = _with_nulls(values)
    lists = st.lists(items, max_size=3)
    if form == "list":
        return pa.list_(pa.field("element", kind)), lists
    if form == "large_list":
        return pa.large_list(kind), lists
    if form == "fixed":
        return pa.list_(kind, 2), st.lists(items, min_size=2, max_size=2)
    if form == "map":
        return pa.map_(pa.string(), kind), st.lists(st.tuples(texts, items), max_size=2)
    if form == "struct":
        return pa.struct([("x", kind), ("y", pa.string())]), st.fixed_dictionaries(
            {"x": items}, optional={"y": texts}
        )
    if form == "deep":
        inner = pa.struct([("y", kind), ("y.z", pa.string())])
        parts = st.fixed_dictionaries(
            {
                "x": st.one_of(
                    st.none(), st.fixed_dictionaries({"y": items}, optional={"y.z": texts})
                )
            }
        )
        return pa.struct([("x", inner), ("x.y", pa.string())]), parts
    return kind, values


@st.composite
def arrow_cases(draw: st.DrawFn) -> Case:
    """Draw a Parquet file, or an Arrow file as the Hub source writes it."""
    count = draw(st.integers(0, 12))
    names = draw(
        st.sampled_from(
            [*[list(COLUMNS)] * 6, ["q", "a"], ["q", "m", "m.x"], ["q", "q"], ["q", "", "m.x.y"]]
        )
    )
    arrays = [_array(draw, name, count) for name in names]
    table = pa.Table.from_arrays(arrays, names)
    if draw(st.booleans()):
        return case_of(draw, _parquet(draw, table), "d.parquet", {"type": "parquet"})
    source = {"type": "hf", "path": "o/d", "split": "test"}
    return case_of(draw, _ipc(draw, table), "records.arrow", source)


_KINDS = st.sampled_from([*_VALUES, *[(pa.string(), texts), (pa.int64(), _small)] * 4])


def _array(draw: st.DrawFn, name: str, count: int) -> pa.Array:
    if name == "m" and draw(st.sampled_from([False, False, True])):
        return _masked(draw, count)
    if name == "q":
        one = texts if draw(rarely) else st.sampled_from(["x", "y", "zé", "A b"])
        kind = draw(st.sampled_from([pa.string(), pa.large_string(), pa.string_view()]))
        values = draw(_lists(one, count))
    else:
        kind, one = _typed(draw)
        nullable = draw(st.booleans())
        values = draw(_lists(_with_nulls(one) if nullable else one, count))
    return pa.array(values, kind)


def _lists(values: st.SearchStrategy[Any], count: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, min_size=count, max_size=count)


def _masked(draw: st.DrawFn, count: int) -> pa.ListArray:
    """Draw lists of texts, some of them null with masked items."""
    plain = st.lists(st.sampled_from(["x", "A b", "1"]), min_size=1, max_size=2)
    lists = pa.array(draw(_lists(plain, count)), pa.list_(pa.string()))
    mask = pa.array(draw(_lists(st.booleans(), count)), pa.bool_())
    return pa.ListArray.from_arrays(lists.offsets, lists.values, mask=mask)


def _parquet(draw: st.DrawFn, table: pa.Table) -> bytes:
    rows = draw(st.sampled_from([1, 3, 100]))
    data = _parquet_of(table, rows)
    if data is None:
        data = _parquet_of(table.select([0]), rows) or b""
    return data[: draw(st.integers(0, len(data)))] if draw(seldom) else data


def _parquet_of(table: pa.Table, rows: int) -> bytes | None:
    """Return a table as Parquet, or None if pyarrow can't write it and read it back."""
    sink = io.BytesIO()
    try:
        pq.write_table(table, sink, row_group_size=rows)
        list(pq.ParquetFile(sink).iter_batches(1024))
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return None
    return sink.getvalue()


def _ipc(draw: st.DrawFn, table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=draw(st.sampled_from([1, 3, 100])))
    return bytes(sink.getvalue())
