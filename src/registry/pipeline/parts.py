"""Divide a source into parts that are mapped alone: its files, or row groups or lines of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from registry.decode.stream import ByteRange, RowGroups, is_utf8, line_ranges
from registry.manifest.expressions import parse_condition, parse_expression
from registry.manifest.source_models import FileSource, JsonSource, ParquetSource
from registry.mapping.columns_used import uses_row_number
from registry.sources.pins import SourceContext
from registry.sources.source_type import reader_of

if TYPE_CHECKING:
    from registry.manifest.models import DatasetSpec
    from registry.manifest.source import Source
    from registry.sources.pins import SourcePin

__all__ = ["Part", "parts_of"]

_LEAST_BYTES = 1 << 26
"""Unpacked size of a part of a file; to send a smaller one elsewhere takes as long as to map it."""
_LEAST_MAPPER_BYTES = 1 << 20
"""The same for a mapper, which takes much longer than the way there."""


class Part(Struct, frozen=True):
    """A file, or row groups or lines of it."""

    pinned: SourcePin
    """The pin of the source, with this file alone."""
    row_groups: RowGroups | None = None
    """Those of a Parquet file; None for all of it."""
    lines: ByteRange | None = None
    """Those of JSON Lines; None for all of the file."""

    @property
    def is_first(self) -> bool:
        """Whether it has the first record of its file."""
        groups, lines = self.row_groups, self.lines
        return (groups is None or groups.first == 0) and (lines is None or lines.start == 0)


def parts_of(
    spec: DatasetSpec, source: Source, pinned: SourcePin, context: SourceContext
) -> list[Part]:
    """Return the parts of a source, in the order of its records; none if it can't be divided.

    Only files on this machine are divided: of others, each process would fetch the whole.
    """
    if not _may_divide(spec, source, pinned):
        return []
    own = (replace(pinned, files=(file,)) for file in pinned.files)
    return [part for one in own for part in _parts_of_file(spec, source, one, context)]


def _parts_of_file(
    spec: DatasetSpec, source: Source, pinned: SourcePin, context: SourceContext
) -> Iterator[Part]:
    (file,) = pinned.files
    least = _LEAST_BYTES if spec.mapper is None else _LEAST_MAPPER_BYTES
    parts: list[Part] = []
    if file.location.is_local and isinstance(source, ParquetSource):
        parts = [
            Part(pinned, row_groups=one) for one in _row_groups(pinned, source, context, least)
        ]
    elif file.location.is_local and isinstance(source, JsonSource) and file.size > least:
        parts = [Part(pinned, lines=one) for one in _lines(pinned, source, context, least)]
    yield from parts if len(parts) > 1 else [Part(pinned)]


def _lines(
    pinned: SourcePin, source: JsonSource, context: SourceContext, least: int
) -> list[ByteRange]:
    (file,) = reader_of(source).fetch(pinned, context)
    name = file.location
    # Else a line end is no single byte of the file.
    if not source.is_lines(name) or name.packed_suffix or not is_utf8(source.encoding):
        return []
    with file.open() as data:
        return line_ranges(data, size=least, most=file.limits.line_bytes)


def _row_groups(
    pinned: SourcePin, source: Source, context: SourceContext, least: int
) -> list[RowGroups]:
    from registry.decode.parquet_files import divided

    (file,) = reader_of(source).fetch(pinned, context)
    with file.open() as data:
        return divided(data, least)


def _may_divide(spec: DatasetSpec, source: Source, pinned: SourcePin) -> bool:
    """Return whether the parts of a source give the same rows if each is mapped alone.

    Not if a record depends on others or on its number. Whether a mapper, which is any code, does
    is tried. The members of an archive are read together.
    """
    return (
        isinstance(source, FileSource)
        and not any(file.location.member for file in pinned.files)
        and spec.join is None
        and (spec.explode is None or not spec.explode.counts_items)
        and not _uses_row_number(spec)
    )


def _uses_row_number(spec: DatasetSpec) -> bool:
    nodes: list[Any] = [parse_expression(raw) for _, raw in spec.fields.expressions()]
    nodes += [] if spec.where is None else [parse_condition(spec.where)]
    return any(map(uses_row_number, nodes))
