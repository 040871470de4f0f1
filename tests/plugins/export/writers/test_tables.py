"""Row groups: the rows and buffers do not depend on how the samples are stored."""

from __future__ import annotations

import io
import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import get_dataset
from registry.plugins.export.writers import tables
from registry.plugins.export.writers.tables import regrouped, row_groups, schema_of
from tests.plugins.export.conftest import Opener

ROWS = st.fixed_dictionaries(
    {
        "a": st.none() | st.text(max_size=5),
        "b": st.none() | st.lists(st.none() | st.text(max_size=3), max_size=3),
    }
)
SCHEMA = pa.schema({"a": pa.large_string(), "b": pa.large_list(pa.large_string())})


def ipc_bytes(batches: list[pa.RecordBatch]) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, SCHEMA) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()


@settings(deadline=None)  # the first call imports
@given(rows=st.lists(ROWS, max_size=20), cuts=st.lists(st.integers(0, 20), max_size=5))
def test_groups_do_not_depend_on_the_batches(rows: list[dict[str, Any]], cuts: list[int]) -> None:
    table = pa.RecordBatch.from_pylist(rows, SCHEMA)
    ends = [*sorted(cuts), len(rows)]
    parts = [table.slice(start, end - start) for start, end in zip([0, *ends], ends, strict=False)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_UNIT_ROWS", 3)
        patch.setattr(tables, "_GROUP_BYTES", 10)
        whole, cut = list(regrouped([table])), list(regrouped(parts))
    assert ipc_bytes(whole) == ipc_bytes(cut)
    assert [row for batch in cut for row in batch.to_pylist()] == rows


def test_bytes_below_a_null_are_not_written() -> None:
    offsets = pa.py_buffer(pa.array([0, 1, 4], pa.int64()).buffers()[1])
    arrays = [
        pa.LargeStringArray.from_buffers(2, offsets, pa.py_buffer(b"xold"), pa.py_buffer(b"\x01")),
        pa.array(["x", None], pa.large_string()),
    ]
    nulls = pa.nulls(2, SCHEMA.field("b").type)
    dirty, clean = (pa.RecordBatch.from_arrays([one, nulls], schema=SCHEMA) for one in arrays)
    assert dirty.equals(clean)
    assert ipc_bytes(list(regrouped([dirty]))) == ipc_bytes(list(regrouped([clean])))


def test_groups_end_after_so_many_rows_or_so_much_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_UNIT_ROWS", 2)
    monkeypatch.setattr(tables, "_GROUP_UNITS", 3)
    monkeypatch.setattr(tables, "_GROUP_BYTES", 100)
    rows = [{"a": None, "b": ["x" * (80 if number == 9 else 1)]} for number in range(20)]
    groups = list(regrouped([pa.RecordBatch.from_pylist(rows, SCHEMA)]))
    assert [group.num_rows for group in groups] == [6, 6, 6, 2]
    monkeypatch.setattr(tables, "_GROUP_BYTES", 80)
    groups = list(regrouped([pa.RecordBatch.from_pylist(rows, SCHEMA)]))
    assert [group.num_rows for group in groups] == [6, 4, 6, 4]


def test_columns_are_those_of_every_frame_and_have_the_provenance(opened: Opener) -> None:
    for name in ("mixed", "chat", "few", "mcq"):
        exported = opened(name)
        (group,) = row_groups(exported)
        assert group.schema.equals(get_dataset(name).to_arrow().schema)
        assert group.to_pylist() == get_dataset(name).to_arrow().to_pylist()
        assert json.loads(schema_of(exported).metadata[b"registry"]) == exported.provenance
