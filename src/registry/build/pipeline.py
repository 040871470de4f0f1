"""What the row and the columnar pipeline share: the compiled mapping, and how far they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.base.locations import is_local
from registry.build.file_references import Resolve, remote_resolver
from registry.build.transforms import LookupRow, Transform, compile_transforms
from registry.errors import ManifestError, Problem
from registry.mapping.columnar.mapper import ColumnarMapper
from registry.mapping.custom import load_mapper
from registry.mapping.field_mapper import FieldMapper
from registry.sources.source_type import reader_of

if TYPE_CHECKING:
    from registry.manifest.models import DatasetSpec
    from registry.manifest.source import Source
    from registry.samples.sample import RecordToSample
    from registry.sources.pins import Pins, SourceContext
    from registry.store.schema import MetadataType

__all__ = ["JsonKeys", "Pipeline", "PipelineState", "compile_pipeline"]

JsonKeys = frozenset[str] | None
"""Keys of the metadata whose values differ in type; None where metadata is JSON as a whole."""

_CHUNK_ROWS = 512
"""Records whose samples are made together: few enough to stay in the processor's cache."""
_FEW_ROWS = 4096
"""Fewer first samples than this take the row pipeline, which reads less of a file at a time."""


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """The mapping of a dataset, compiled once for all its files."""

    dataset: str
    """Name in messages."""
    mapper: RecordToSample
    """Record → sample."""
    columnar: ColumnarMapper | None
    """Record batches → samples; None sends every record through the row pipeline."""
    transform: Transform
    """`join`, `explode` and `where`, applied to the records before they are mapped."""
    resolve: Resolve | None
    """Resolves names of files beside a remote source; None where there is nothing to ask."""
    json_keys: JsonKeys
    chunk_rows: int
    """Records that the row pipeline maps before it hands on their rows."""


@dataclass
class PipelineState:
    """What one file leaves for the next, whichever pipeline its records took."""

    next_record: int = 1
    """Number of the next record, counted over all files."""
    metadata_types: Mapping[str, MetadataType] | None = None
    """Types of the metadata's values; None until the first rows have decided them."""


def compile_pipeline(
    spec: DatasetSpec,
    pins: Pins,
    context: SourceContext,
    *,
    json_keys: JsonKeys = frozenset(),
    limit: int | None = None,
) -> Pipeline:
    """Compile the mapping of a dataset.

    Args:
        spec: The dataset.
        pins: What its sources hold; the lookup table of `join` is read from them when needed.
        context: How they may be read.
        json_keys: Keys of the metadata that are stored as JSON.
        limit: How many samples are wanted; None for all.

    Raises:
        ManifestError: an expression or a condition does not compile.
        AccessError: the mapper's package is not trusted.
    """
    few = limit is not None and limit < _FEW_ROWS
    # These see one record at a time: a column has no place for what they add or call.
    rows_only = spec.mapper is not None or spec.join is not None or spec.explode is not None
    # Fields before the condition: where both are wrong, the first problem is that of the fields.
    try:
        mapper = FieldMapper(spec.fields) if spec.mapper is None else load_mapper(spec.mapper)
    except ValueError as error:
        raise _uncompiled(error, spec, "$.fields") from error
    try:
        transform = compile_transforms(spec, lambda: _lookup_rows(spec, pins, context))
        columnar = None if few or rows_only else ColumnarMapper(spec.fields, spec.where, json_keys)
    except ValueError as error:
        raise _uncompiled(error, spec, "$.where") from error
    return Pipeline(
        dataset=spec.name,
        mapper=mapper,
        columnar=columnar,
        transform=transform,
        resolve=_remote_resolver(spec.sources[0]),
        json_keys=json_keys,
        chunk_rows=limit or 1 if few else _CHUNK_ROWS,
    )


def _remote_resolver(source: Source) -> Resolve | None:
    # Names beside a local file become paths when a sample is opened: a cache entry holds no path
    # of one machine. A URL is the same everywhere, and offline it could not be asked for again.
    base = source.base_location
    return None if base is None or is_local(base) else remote_resolver(base, source.fs_options)


def _lookup_rows(spec: DatasetSpec, pins: Pins, context: SourceContext) -> Iterator[LookupRow]:
    """Yield the records of the lookup table of `join`."""
    assert spec.join is not None  # noqa: S101 (only a dataset with `join` asks)
    assert pins.side is not None  # noqa: S101 (it is pinned with the sources)
    reader = reader_of(spec.join.source)
    for file in reader.fetch(pins.side, context):
        for number, record in enumerate(reader.decode(file), 1):
            yield LookupRow(file.location, number, record)


def _uncompiled(error: ValueError, spec: DatasetSpec, path: str) -> ManifestError:
    problem = Problem(message=str(error), file=spec.name, path=path, rule="bad-expression")
    return ManifestError([problem])
