"""A file → rows: where columns end; chunks, the position of an error, and what is skipped."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from msgspec.structs import replace

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.decode import csv_tables, json_batches
from registry.decode.frame import Frame, NotColumnarError
from registry.errors import MappingError
from registry.manifest.models import to_spec
from registry.mapping.columns_used import NamedColumns
from registry.mapping.missing_columns import UnseenColumns
from registry.mapping.record_batch import RecordBatchView
from registry.pipeline import file_rows as module
from registry.pipeline.builder import build
from registry.pipeline.file_rows import (
    columnar_pipeline,
    map_file_samples,
    row_pipeline,
    see_columns,
)
from registry.pipeline.fingerprint import pin_all
from registry.pipeline.pipeline import Pipeline, PipelineState, compile_pipeline
from registry.sources.pins import SourceContext
from registry.sources.source_type import reader_of
from registry.store.schema import MetadataTypeMismatchError
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
        {"mapper": "tests.pipeline.test_file_rows:pipeline_of"},
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


def compiled(prepared: Prepared, chunk_rows: int) -> Pipeline:
    """Return a pipeline whose few first samples make a chunk of this many records."""
    return compile_pipeline(prepared.spec, prepared.pins, prepared.context, limit=chunk_rows)


def run(
    prepared: Prepared, state: PipelineState, *, chunk_rows: int = 2, skip: int = 0
) -> tuple[list[pa.RecordBatch], MappingError | None]:
    pipeline, batches = compiled(prepared, chunk_rows), []
    try:
        for file in prepared.files():
            for batch in row_pipeline(file, prepared.spec.source, pipeline, state, skip=skip):
                batches.append(batch)  # noqa: PERF402 (what comes before an error counts)
    except MappingError as error:
        return batches, error
    return batches, None


def inputs(batches: list[pa.RecordBatch]) -> list[list[Any]]:
    return [batch.column("input").to_pylist() for batch in batches]


def all_inputs(batches: list[pa.RecordBatch]) -> list[Any]:
    return [one for batch in inputs(batches) for one in batch]


def test_rows_are_chunked_and_records_numbered_across_files(prepare: Prepare) -> None:
    one, two = [{"input": "a"}, {"input": "b"}, {"input": "c"}], [{"input": "d"}]
    state = PipelineState()
    batches, error = run(prepare(one, two), state)
    assert error is None
    assert inputs(batches) == [["a", "b"], ["c"], ["d"]]
    assert [batch.column("record").to_pylist() for batch in batches] == [[1, 2], [3], [4]]
    assert state.next_record == 5


def test_large_samples_make_small_chunks(prepare: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHUNK_BYTES", 1000)
    batches, error = run(prepare([{"input": "x" * 700}] * 5), PipelineState(), chunk_rows=9)
    assert error is None
    assert [len(batch) for batch in batches] == [2, 2, 1]


def test_each_sample_of_a_chunk_is_measured(prepare: Prepare) -> None:
    state = PipelineState(limits=replace(UNBOUNDED.limits, sample_bytes=1000))
    records = [{"input": "x" * size} for size in (10, 700, 2000, 10)]
    batches, error = run(prepare(records), state, chunk_rows=9)
    assert [len(text) for text in all_inputs(batches)] == [10, 700]
    assert "record 3: the sample has more than 1,000 bytes" in str(error)


@pytest.mark.parametrize("chunk_rows", [1, 2, 3, 9])
def test_an_error_is_raised_after_all_earlier_rows(prepare: Prepare, chunk_rows: int) -> None:
    records: list[dict[str, Any]] = [{"input": "a"}, {"input": "b"}, {"input": 1.5}, {"input": "c"}]
    batches, error = run(prepare(records), PipelineState(), chunk_rows=chunk_rows)
    assert all_inputs(batches) == ["a", "b"]
    assert error is not None
    assert (error.dataset, error.record, error.field) == ("d", 3, "input")


def test_the_first_sample_that_cannot_be_stored_is_named_before_a_later_error(
    prepare: Prepare,
) -> None:
    # A lone surrogate is found when the chunk is stored, the wrong input while it is mapped.
    records: list[dict[str, Any]] = [{"input": "'a'"}, {"input": r"'\ud800'"}, {"input": "'"}]
    fields = {"input": {"from": "input", "do": [{"parse": "literal"}]}}
    batches, error = run(prepare(records, fields=fields), PipelineState(), chunk_rows=9)
    assert all_inputs(batches) == ["a"]
    assert error is not None
    assert error.record == 2


def test_skipped_records_are_neither_mapped_nor_counted_again(prepare: Prepare) -> None:
    records: list[dict[str, Any]] = [{"input": 1.5}, {"input": 1.5}, {"input": "c"}]
    state = PipelineState(next_record=3)
    batches, error = run(prepare(records), state, skip=2)
    assert error is None
    assert inputs(batches) == [["c"]]
    assert batches[0].column("record").to_pylist() == [3]


def test_metadata_types_are_determined_by_the_first_rows(prepare: Prepare) -> None:
    records = [{"input": "a", "n": 1}, {"input": "b", "n": "x"}]
    prepared = prepare(records, fields={"metadata": ["n"]})
    state = PipelineState()
    with pytest.raises(MetadataTypeMismatchError) as caught:
        run(prepared, state, chunk_rows=1)
    assert state.metadata_types == {"n": "int"}
    assert caught.value.key == "n"


def test_samples_of_a_file_have_the_numbers_of_their_records(prepare: Prepare) -> None:
    records = [{"input": "a", "parts": ["x", "y"]}, {"input": "b", "parts": ["z"]}]
    keys = {"explode": {"column": "parts"}, "fields": {"input": "{input}{item}"}}
    prepared = prepare(records, **{**keys, "fields": {"input": {"template": "{input}-{item}"}}})
    pipeline, state = compiled(prepared, 9), PipelineState()
    (file,) = prepared.files()
    samples = map_file_samples(file, prepared.spec.source, pipeline, state)
    assert [(number, sample.input) for number, sample in samples] == [
        (1, "a-x"),
        (1, "a-y"),
        (2, "b-z"),
    ]
