"""Check a samples file that someone else wrote, before anything here relies on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from msgspec import Struct

from registry.base.conversion import convert
from registry.cache.folders import checksum
from registry.errors import CacheError
from registry.samples.frames.layout import METADATA_TYPES
from registry.store.checked_file import unpack_numbers
from registry.store.quality import KINDS
from registry.store.reader import choice_ends
from registry.store.row_values import NOT_A_SAMPLES_FILE, Footer
from registry.store.schema import METADATA_VALUES, full_schema, json_keys

__all__ = ["check_received"]


class _Example(Struct):
    """One of the first samples of a kind, as messages show it."""

    record: int
    file: str
    id: int | str | None
    value: str | list[str] | None


class _Column(Struct):
    """A column that no field reads."""

    value: str


def check_received(path: Path, meta: Mapping[str, Any]) -> None:
    """Check that a file is one of samples, and that all of our readers read the same from it.

    Its checksums prove nothing, as whoever wrote the file wrote them, too. Arrow trusts what it is
    given: an offset that leads out of its buffer would end the process.

    Args:
        path: The file.
        meta: The keys of samples that describe it.

    Raises:
        CacheError: it is no such file, or not the one that is described.
    """
    try:
        with pa.memory_map(str(path)) as source:
            data = source.read_buffer()
        found = _facts(data)
        expected = (meta["samples"], meta["columns"], _table(meta["batches"], data))
        _check_quality(meta)
    except (
        *NOT_A_SAMPLES_FILE,
        pa.ArrowException,
        OSError,
        RecursionError,
        msgspec.ValidationError,
    ) as error:
        raise CacheError(f"its samples are not a valid file: {error}") from error
    if found != expected:
        raise CacheError("its samples are not those that its metadata describes")


def _facts(data: pa.Buffer) -> tuple[int, list[str], list[tuple[int, int]]]:
    """Return the number of rows, the columns, and the rows and choices of each batch."""
    footer = Footer(memoryview(data))
    reader = pa.ipc.open_file(data)
    _check_schema(reader.schema, footer)
    batches = []
    for number in range(reader.num_record_batches):
        # First, as it refuses compressed batches: a small one may have any size in memory.
        footer.batch(number, memoryview(data))
        batch = reader.get_batch(number)
        batch.validate(full=True)
        start, end = choice_ends(batch, 0, batch.num_rows)
        batches.append((batch.num_rows, end - start))
    return sum(rows for rows, _ in batches), sorted(reader.schema.names), batches


def _check_schema(schema: pa.Schema, footer: Footer) -> None:
    """Check names and types: the reader of single rows takes the widths of types for granted."""
    types = {field.name: field.type for field in full_schema(schema)}
    if [column.name for column in footer.columns] != schema.names or not _are_unique(schema.names):
        raise ValueError("its columns are not those of samples")
    for field in schema:
        if field.name == METADATA_VALUES and pa.types.is_struct(field.type):
            parts = list(field.type)
            is_known = {part.type for part in parts} <= {*METADATA_TYPES.values()}
            is_known = is_known and _are_unique([part.name for part in parts])
        else:
            is_known = field.name != METADATA_VALUES and types.get(field.name) == field.type
        if not is_known:
            raise ValueError(f"the column {field.name} has another type")
    if footer.json_keys != json_keys(schema):
        raise ValueError("its metadata has two meanings")


def _check_quality(meta: Mapping[str, Any]) -> None:
    """Check what messages take for granted; that the numbers are right nothing proves."""
    for kind, counted in meta["quality"].items():
        is_column = kind == "unused_columns"
        convert(counted["first"], list[_Column] if is_column else list[_Example])
        least = len(counted["first"])
        most = least if is_column else meta["samples"]
        if (not is_column and kind not in KINDS) or not least <= counted["count"] <= most:
            raise ValueError(f"its number of samples with {kind}")


def _are_unique(names: list[str]) -> bool:
    return len({*names}) == len(names)


def _table(batches: str, data: pa.Buffer) -> list[tuple[int, int]]:
    """Return rows and choices of each batch as the metadata has them, if its checksums are right.

    Raises:
        ValueError: they are not.
    """
    table = unpack_numbers(batches)
    ends, checksums = table[2::4].tolist(), table[3::4].tolist()
    if len(table) % 4 or table[:3].tolist() != [0, 0, 0]:
        raise ValueError("its table of batches is not one")
    found = [checksum(part) for part in _parts(memoryview(data), [*ends[1:], data.size])]
    if [*checksums[1:], checksums[0]] != found:
        raise ValueError("the checksums of its batches differ")
    return list(zip(table[4::4].tolist(), table[5::4].tolist(), strict=True))


def _parts(data: memoryview, ends: list[int]) -> Iterator[memoryview]:
    start = 0
    for end in ends:
        yield data[start:end]
        start = end
