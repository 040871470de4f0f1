"""Record batches → rows: where columns end, the state has the remaining records."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.decode import csv_tables, json_batches
from registry.decode.frame import Frame, NotColumnarError
from registry.manifest.models import to_spec
from registry.mapping.columns_used import NamedColumns
from registry.mapping.missing_columns import UnseenColumns
from registry.mapping.record_batch import RecordBatchView
from registry.pipeline.builder import build
from registry.pipeline.columnar_pipeline import columnar_pipeline, see_columns
from registry.pipeline.fingerprint import pin_all
from registry.pipeline.pipeline import Pipeline, PipelineState, compile_pipeline
from registry.sources.pins import SourceContext
from registry.sources.source_type import reader_of
from registry.store.writer import SampleWriter
from tests.pipeline.conftest import Prepare, Prepared

COLUMNS = pa.RecordBatch.from_pylist(
    [{"a": "x", "n": None, "s": {"k": 1, "n": None}}], schema=pa.schema(
        [("a", pa.string()), ("n", pa.string()), ("s", pa.struct([("k", pa.int64()), ("n", pa.string())]))]
    ),
)  # fmt: skip


def pipeline_of(prepared: Prepared, **keys: Any) -> Pipeline:
    return compile_pipeline(prepared.spec, prepared.pins, prepared.context, **keys)


def rows_of(prepared: Prepared, state: PipelineState) -> list[pa.RecordBatch]:
    (file,) = prepared.files()
    return list(columnar_pipeline(file, prepared.spec.source, pipeline_of(prepared), state))


def test_a_plain_file_is_mapped_to_its_end(prepare: Prepare) -> None:
    state = PipelineState(next_record=11)
    batches = rows_of(prepare([{"input": "a"}, {"input": "b"}]), state)
    assert [one for batch in batches for one in batch.column("record").to_pylist()] == [11, 12]
    assert state.next_record == 13


def test_records_of_a_different_shape_are_left_to_the_row_pipeline(
    prepare: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_batches, "_BATCH_BYTES", 16)
    prepared = prepare([{"input": "a"}, {"input": "b"}, {"input": 1.5}])
    state = PipelineState()
    batches: list[pa.RecordBatch] = []
    (file,) = prepared.files()
    made = columnar_pipeline(file, prepared.spec.source, pipeline_of(prepared), state)
    with pytest.raises(NotColumnarError):
        batches.extend(made)
    assert state.next_record - 1 == sum(batch.num_rows for batch in batches) < 3


def test_a_thread_that_reads_ahead_ends_with_the_pipeline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever keeps the error: else the garbage collector ends it, and maybe in that thread."""
    monkeypatch.setattr(csv_tables, "_BLOCK_BYTES", 256)
    texts = [f"question {number}" for number in range(200)]
    (tmp_path / "d.csv").write_text("\n".join(["input,n", *(f"{text},1" for text in texts), "q,x"]))
    fields = {"input": "input", "target": {"from": "n", "do": [{"map": {"1": "yes"}}]}}
    source = {"type": "csv", "path": [str(tmp_path / "d.csv")]}
    spec = to_spec({"name": "d", "folder": tmp_path, "source": source, "fields": fields})
    context = SourceContext(boundary=UNBOUNDED, cache=Cache(tmp_path / "cache"))
    pins = pin_all(spec, context)
    pipeline = compile_pipeline(spec, pins, context)
    (file,) = reader_of(spec.source).fetch(pins.sources[0], context)
    made = columnar_pipeline(file, spec.source, pipeline, PipelineState())
    next(made)
    assert reading_ahead()
    with pytest.raises(NotColumnarError) as raised:
        list(made)
    assert reading_ahead() == []
    assert raised.tb is not None
    folder = tmp_path / "built"
    folder.mkdir()
    monkeypatch.setattr(SampleWriter, "write", full_disk)
    with pytest.raises(OSError, match="full") as caught:
        build(spec, pins, context, folder)
    assert reading_ahead() == []
    assert caught.tb is not None


def full_disk(self: SampleWriter, batch: pa.RecordBatch) -> None:
    raise OSError("the disk is full")


def reading_ahead() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith("decode")]


@pytest.mark.parametrize(
    "keys",
    [
        {"explode": {"column": "parts"}},
        {"mapper": "tests.pipeline.test_columnar_pipeline:pipeline_of"},
    ],
)
def test_mappings_of_single_records_have_no_columnar_mapper(
    prepare: Prepare, keys: dict[str, Any]
) -> None:
    prepared = prepare([{"input": "a", "parts": ["x"]}], **keys)
    pipeline = pipeline_of(prepared)
    assert pipeline.columnar is None
    (file,) = prepared.files()
    with pytest.raises(NotColumnarError):
        next(columnar_pipeline(file, prepared.spec.source, pipeline, PipelineState()))


def test_a_few_first_samples_take_the_row_pipeline(prepare: Prepare) -> None:
    prepared = prepare([{"input": "a"}])
    assert pipeline_of(prepared, limit=3).columnar is None
    assert pipeline_of(prepared, limit=3).chunk_rows == 3
    assert pipeline_of(prepared, limit=1 << 20).columnar is not None


def test_a_batch_without_samples_determines_no_types(prepare: Prepare, tmp_path: Path) -> None:
    prepared = prepare(
        [{"input": "a", "n": 1}], where={"value": "n", "greater": 5}, fields={"metadata": ["n"]}
    )
    state = PipelineState()
    assert rows_of(prepared, state) == []
    assert (state.next_record, state.metadata_types) == (2, None)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("a",), True),
        (("n",), True),
        (("k",), True),  # a constant
        (("none",), False),
        (("none", "a"), True),
        (("s.k",), True),
        (("s.n",), False),  # decided by records
        (("s.none",), False),
        (("a.k",), False),
    ],
    ids=str,
)
def test_columns_with_values_are_found(names: Any, found: bool) -> None:
    unseen = UnseenColumns([NamedColumns((), names)])
    see_columns(unseen, RecordBatchView(Frame(COLUMNS), {"k": 1}, np.arange(1, 2)))
    assert (not unseen.uses) is found
