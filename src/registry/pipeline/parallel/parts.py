"""The parts of a source that can be mapped each by itself: its files, or row groups of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from registry.manifest.expressions import parse_condition, parse_expression
from registry.manifest.source_models import FileSource, ParquetSource
from registry.mapping.columns_used import uses_row_number
from registry.sources.source_type import reader_of

if TYPE_CHECKING:
    from registry.decode.stream import RowGroups, SourceBytes
    from registry.manifest.models import DatasetSpec
    from registry.manifest.source import Source
    from registry.sources.pins import SourceContext, SourcePin

__all__ = ["Part", "parts_of"]

_LEAST_BYTES = 1 << 26
"""Unpacked size of a part of a file; to send a smaller one elsewhere takes as long as to map it."""


class Part(Struct, frozen=True):
    """A file, or row groups of it."""

    pinned: SourcePin
    """The pin of the source, with this file alone."""
    row_groups: RowGroups | None = None
    """None for the whole file."""

    @property
    def is_first(self) -> bool:
        """Whether it has the first record of its file."""
        return self.row_groups is None or self.row_groups.first == 0


def parts_of(
    spec: DatasetSpec, source: Source, pinned: SourcePin, context: SourceContext
) -> list[Part]:
    """Return the parts of a source, in the order of its records; none if it can't be divided.

    Only Parquet files on this machine are divided: of others, each process would fetch the whole.
    """
    if not _may_divide(spec, source, pinned):
        return []
    own = (replace(pinned, files=(file,)) for file in pinned.files)
    return [part for one in own for part in _parts_of_file(source, one, context)]


def _parts_of_file(source: Source, pinned: SourcePin, context: SourceContext) -> Iterator[Part]:
    (file,) = pinned.files
    groups: list[RowGroups] = []
    if isinstance(source, ParquetSource) and file.location.is_local:
        (opened,) = reader_of(source).fetch(pinned, context)
        groups = _divided(opened)
    if len(groups) > 1:
        yield from (Part(pinned, one) for one in groups)
    else:
        yield Part(pinned)


def _divided(file: SourceBytes) -> list[RowGroups]:
    import pyarrow as pa

    from registry.decode.parquet_files import divided

    try:
        with file.open() as data:
            return divided(data, _LEAST_BYTES)
    except pa.ArrowException:  # who decodes the file raises the precise error
        return []


def _may_divide(spec: DatasetSpec, source: Source, pinned: SourcePin) -> bool:
    """Return whether the parts of a source give the same rows if each is mapped alone.

    Not if a record depends on others or on its number, nor if a mapper, which is any code, may
    count what it has seen. The members of an archive are read together.
    """
    return (
        isinstance(source, FileSource)
        and not any(file.location.member for file in pinned.files)
        and spec.mapper is None
        and spec.join is None
        and (spec.explode is None or spec.explode.number is None)
        and not _uses_row_number(spec)
    )


def _uses_row_number(spec: DatasetSpec) -> bool:
    fields = spec.fields
    raw = [getattr(fields, name) for name in fields.__struct_fields__ if name != "metadata"]
    if isinstance(fields.metadata, Mapping):
        raw += [item for key, item in fields.metadata.items() if key != "*"]
    nodes: list[Any] = [parse_expression(item) for item in raw if item is not None]
    nodes += [] if spec.where is None else [parse_condition(spec.where)]
    return any(map(uses_row_number, nodes))
