"""Records of pinned sources → a finished samples file.

    fetch → columnar pipeline, then row pipeline → write → duplicate ids → subsample → examples

Every write also counts what is questionable in the samples.

Both pipelines must produce the same rows; tests/roads compares them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import pickle  # nosec B403
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from registry.base.executor import WorkerLostError
from registry.base.process_state import gc_paused, system_memory
from registry.errors import DecodeError, MappingError, SourceError
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.missing_columns import UnseenColumns
from registry.pipeline.diagnosis import check_columns, check_lookup, check_maps
from registry.pipeline.fewshot.examples import Companion, with_examples
from registry.pipeline.kept_samples import DuplicateIdDetector, resolve_duplicates, select
from registry.pipeline.map_source import SourceMapping, map_source
from registry.pipeline.parts import parts_of
from registry.pipeline.pipeline import (
    JsonKeys,
    Pipeline,
    PipelineState,
    compile_pipeline,
    keep_pipeline,
)
from registry.progress import Progress, Report
from registry.sources.source_type import reader_of
from registry.store.quality import QualityCounter, unused_columns
from registry.store.reader import SampleFile
from registry.store.schema import MetadataTypeMismatchError
from registry.store.schema import schema_of as samples_schema
from registry.store.writer import SampleWriter

if TYPE_CHECKING:
    import pyarrow as pa

    from registry.base.worker_program import Tell
    from registry.corrections.step import CorrectionStep
    from registry.manifest.models import DatasetSpec
    from registry.sources.pins import Pins, SourceContext

__all__ = ["BuildResult", "answer", "build", "build_by_worker"]


_LEAST_BYTES = 1 << 23
"""Size of the files of a build that a worker does: less takes as long as sending it there."""


@dataclass(frozen=True)
class BuildResult:
    """A finished samples file."""

    path: Path
    sha256: str
    """Digest of the file, 64 hex digits."""
    rows: int
    """Number of samples."""
    batches: str
    """Those of the file, packed by `SampleWriter`, for `SampleFile`."""
    columns: list[str]
    """Columns with at least one value."""
    repeated: frozenset[str | int]
    """Ids of more than one row; none if ids may repeat."""
    quality: dict[str, dict[str, Any]]
    """Kind of questionable sample → how many there are, and the first ones."""
    corrected: dict[str, int] = field(default_factory=dict)
    """How many samples corrections changed and left out; empty without corrections."""

    def open(self) -> SampleFile:
        """Open the file."""
        return SampleFile(self.path, self.batches)


def build(
    spec: DatasetSpec,
    pins: Pins,
    context: SourceContext,
    folder: Path,
    *,
    limit: int | None = None,
    companion: Companion | None = None,
) -> BuildResult:
    """Write the samples of a dataset to `samples.arrow` in a folder.

    Args:
        spec: The dataset.
        pins: Versions of its sources.
        context: How they may be read.
        folder: An empty folder.
        limit: Maximum number of samples, None for all. No more of the sources is read than needed.
        companion: The samples that few-shot examples are chosen from, for a dataset that has them.

    Raises:
        SourceError: a source can't be read, or differs from its pin.
        DecodeError: a file is invalid for its type.
        ManifestError: it names columns that no record has.
        MappingError: a record can't be mapped to a sample, or an id is repeated.
    """
    json_keys: JsonKeys = frozenset()
    while True:
        try:
            with system_memory():
                return _build_once(spec, pins, context, folder, limit, json_keys, companion)
        except MetadataTypeMismatchError as error:
            # A later batch has metadata of a different type. Its key is stored as JSON in the next
            # attempt; a second mismatch means mixed data, and all metadata becomes JSON at once
            # instead of one attempt per key.
            json_keys = None if json_keys or error.key is None else frozenset({error.key})
            for path in folder.iterdir():
                path.unlink()


def _build_once(
    spec: DatasetSpec,
    pins: Pins,
    context: SourceContext,
    folder: Path,
    limit: int | None,
    json_keys: JsonKeys,
    companion: Companion | None,
) -> BuildResult:
    pipeline = compile_pipeline(spec, pins, context, json_keys=json_keys, limit=limit)
    state = PipelineState.of(spec, context.boundary.limits)
    check = partial(check_columns, spec, pins, context, rows=limit)
    with _checked_columns(spec, state.unseen, check, limit):
        batches = _mapped_batches(spec, pins, context, pipeline, state, limit)
        if not any(source.columns_vary for source in spec.sources):
            batches = _checked_at_once(batches, state.unseen, check)
        if limit is not None:
            batches = _first_rows(batches, limit)
        detector = None if spec.duplicate_rule == "keep" else DuplicateIdDetector()
        path = folder / "samples.arrow"
        # Between two blocks too, as the values of one are still there when the next is decoded. A
        # mapper may create garbage of any kind.
        paused = gc_paused() if spec.mapper is None else contextlib.nullcontext()
        with paused, contextlib.closing(batches):
            result = _write(batches, path, context.report, state, detector)
    unused: dict[str, Any] = {}
    if limit is None:  # a later record may be the one that has a key
        if pipeline.lookup is not None:
            unused = check_lookup(spec, pipeline.lookup)
        # It reads all columns: `lock` did, of the same bytes, before it pinned parts.
        has_tables = isinstance(pipeline.mapper, FieldMapper) and pipeline.mapper.evaluator.tables
        if has_tables and result.rows and not context.parts:
            check_maps(spec, pins, context)
    step = _correction_step(spec, pins, context)
    result = _after_all(result, spec, folder, context.report, state, step)
    if companion is not None:
        rows = with_examples(result.open(), spec, companion, context.boundary)
        result = _write(rows, folder / "examples.arrow", context.report, state)
    if result.path != path:
        result.path.replace(path)
        for made in ("own.arrow", "corrected.arrow", "selected.arrow"):
            (folder / made).unlink(missing_ok=True)
    quality = result.quality | unused_columns(state.unread.found) | unused
    keep_pipeline(spec, pipeline, limit)
    corrected = {} if step is None else {"changed": step.changed, "dropped": step.dropped}
    return dataclasses.replace(result, path=path, quality=quality, corrected=corrected)


def _correction_step(
    spec: DatasetSpec, pins: Pins, context: SourceContext
) -> CorrectionStep | None:
    if spec.corrections is None:
        return None
    # Few datasets have them.
    from registry.corrections.file import parse_corrections
    from registry.corrections.step import CorrectionStep

    assert pins.corrections is not None  # noqa: S101 (they are pinned with the sources)
    (file,) = reader_of(spec.corrections).fetch(pins.corrections, context)
    with file.open() as opened:
        data = opened.read()
    path = Path(spec.corrections.path[0])
    name = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return CorrectionStep(parse_corrections(data, file=str(name)), auto_id=spec.view.auto_id)


def _after_all(
    result: BuildResult,
    spec: DatasetSpec,
    folder: Path,
    report: Report,
    state: PipelineState,
    step: CorrectionStep | None,
) -> BuildResult:
    """Do the steps that need all samples: duplicates, corrections, and the sample of `sample`.

    They read the written file batch by batch, so memory use is constant.
    """
    rule = spec.duplicate_rule
    if result.repeated and rule != "keep":
        own = resolve_duplicates(result.open(), result.repeated, rule, dataset=spec.name)
        result = _write(own, folder / "own.arrow", report, state)
    if step is not None:
        corrected = step.batches(result.open(), state.metadata_types or {})
        result = _write(corrected, folder / "corrected.arrow", report, state)
    if spec.sample is not None:
        selected = select(result.open(), spec.sample)
        result = _write(selected, folder / "selected.arrow", report, state)
    return result


@contextlib.contextmanager
def _checked_columns(
    spec: DatasetSpec, unseen: UnseenColumns, check: Callable[[], None], limit: int | None
) -> Iterator[None]:
    """Check the columns after the records are mapped, or before an error of one is raised."""
    try:
        yield
    except (MappingError, DecodeError):
        if unseen.uses or spec.join is not None or spec.explode is not None:
            with contextlib.suppress(MappingError, DecodeError, SourceError):
                check()
        raise
    if unseen.uses and limit != 0:
        check()


def _checked_at_once(
    batches: Generator[pa.RecordBatch], unseen: UnseenColumns, check: Callable[[], None]
) -> Generator[pa.RecordBatch]:
    """Check the columns after the first rows, as all records of a file have the same ones."""
    for batch in batches:
        if unseen.uses:
            # A file that can't be read is reported when it is its turn.
            with contextlib.suppress(DecodeError, SourceError):
                check()
        yield batch
        break
    yield from batches


def _mapped_batches(
    spec: DatasetSpec,
    pins: Pins,
    context: SourceContext,
    pipeline: Pipeline,
    state: PipelineState,
    limit: int | None,
) -> Generator[pa.RecordBatch]:
    """Yield the rows of all samples in source order."""
    for source, pinned in zip(spec.sources, pins.sources, strict=True):
        mapping = SourceMapping(source, context, pipeline, state)
        yield from map_source(spec, pinned, mapping, limit=limit)


def _first_rows(batches: Iterator[pa.RecordBatch], limit: int) -> Generator[pa.RecordBatch]:
    left = limit
    while left > 0 and (batch := next(batches, None)) is not None:
        yield batch.slice(0, left)
        left -= batch.num_rows


def _write(
    batches: Iterable[pa.RecordBatch],
    path: Path,
    report: Report,
    state: PipelineState,
    detector: DuplicateIdDetector | None = None,
) -> BuildResult:
    remaining = iter(batches)
    report(Progress("parse", 0))
    first = next(remaining, None)
    schema = samples_schema({}) if first is None else first.schema
    counter = QualityCounter()

    def watch(batch: pa.RecordBatch) -> None:
        if detector is not None:
            detector.add(batch)
        counter.add(batch)

    with SampleWriter(path, schema, watch) as writer:
        for batch in chain([] if first is None else [first], remaining):
            writer.write(batch)
            if writer.rows > state.limits.records:
                message = state.limits.message("records", "its records give", "samples")
                raise MappingError(message, dataset=state.dataset)
            report(Progress("map", writer.rows))
    report(Progress("write", writer.rows, writer.rows))
    packed = writer.batches
    written = partial(SampleFile, path, packed)
    repeated = detector.repeated(written) if detector else frozenset()
    return BuildResult(
        path,
        writer.sha256,
        writer.rows,
        packed,
        sorted(writer.columns),
        repeated,
        counter.result(state.files, writer.columns),
    )


def build_by_worker(
    spec: DatasetSpec,
    pins: Pins,
    context: SourceContext,
    folder: Path,
    *,
    limit: int | None,
    companion: Companion | None = None,
) -> BuildResult | None:
    """Build a dataset as `build` does; return None if that is to be done in this process.

    Raises:
        RegistryError: as `build`.
        WorkersEndedError: the workers were ended.
    """
    size = sum(file.size for pinned in pins.sources for file in pinned.files)
    if context.workers is None or size < _LEAST_BYTES:
        return None
    pairs = zip(spec.sources, pins.sources, strict=True)
    if context.elsewhere is not None and any(
        len(parts_of(spec, *pair, context)) > 1 for pair in pairs
    ):
        return None
    arguments = (spec, pins, context.sent(), folder, limit, companion)
    try:
        # Not again by another worker: the folder has what the lost one wrote.
        later = context.workers.call(
            f"{__name__}:answer", *arguments, on_message=context.report, attempts=1
        )
        result: BuildResult = later.result()
    # The others are those of pickling.
    except (WorkerLostError, pickle.PicklingError, TypeError, AttributeError) as error:
        import logging  # slow to import

        message = "%s: %s; it is built by this process"
        logging.getLogger("registry").warning(message, spec.name, error)
        for path in folder.iterdir():
            path.unlink()
        return None
    return result


def answer(
    tell: Tell,
    spec: DatasetSpec,
    pins: Pins,
    sent: SourceContext,
    folder: Path,
    limit: int | None,
    companion: Companion | None,
) -> BuildResult:
    """Build a dataset in a worker, which reports its progress to its parent."""
    context = replace(sent, report=tell)
    return build(spec, pins, context, folder, limit=limit, companion=companion)
