"""Samples files for tests."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from registry import Sample
from registry.samples.fields import NAMES
from registry.samples.frames.layout import MetadataType
from registry.store.checked_file import unpack_numbers
from registry.store.columns import batch_of, fields_of
from registry.store.reader import SampleFile
from registry.store.schema import schema_of
from registry.store.writer import SampleWriter

__all__ = [
    "METADATA_TYPES",
    "batch",
    "file_of",
    "rows_of",
    "shapes_of",
    "values_of",
    "write_samples",
    "written",
]


def rows_of(samples: Sequence[Sample], kinds: dict[str, MetadataType]) -> pa.RecordBatch:
    parts = [fields_of(sample) for sample in samples]
    fields = {name: [part[name] for part in parts] for name in NAMES}
    return batch_of(fields, range(1, len(parts) + 1), kinds)


def write_samples(
    samples: Sequence[Sample], path: Path, kinds: dict[str, MetadataType] | None = None
) -> SampleFile:
    with SampleWriter(path, schema_of(kinds or {}), lambda batch: None) as writer:
        if samples:
            writer.write(rows_of(samples, kinds or {}))
    return SampleFile(path, writer.batches)


FOLDER = tempfile.TemporaryDirectory()


def file_of(samples: Sequence[Sample]) -> SampleFile:
    return write_samples(samples, Path(FOLDER.name) / f"{uuid.uuid4().hex}.arrow")


METADATA_TYPES: dict[str, MetadataType] = {"n": "int", "any": "json"}


def batch(
    numbers: list[int],
    *,
    choices: bool = True,
    metadata_types: dict[str, MetadataType] | None = None,
) -> pa.RecordBatch:
    """Return a sample for each number, with `number % 3` choices."""
    chosen = METADATA_TYPES if metadata_types is None else metadata_types
    fields: dict[str, list[Any]] = {
        "input": [f"q{number}" for number in numbers],
        "choices": [[f"{number}{at}" for at in range(number % 3)] or None for number in numbers],
        "target": ["A"] * len(numbers),
        "id": numbers,
        "metadata": [{"n": number, "any": [number]} for number in numbers],
    }
    if not choices:
        del fields["choices"]
    return batch_of(fields, numbers, chosen)


def written(
    path: Path, batches: Iterable[pa.RecordBatch], watched: list[int] | None = None
) -> SampleWriter:
    def watch(one: pa.RecordBatch) -> None:
        if watched is not None:
            watched.append(one.num_rows)

    waiting = iter(batches)
    first = next(waiting, batch([], metadata_types={}))
    with SampleWriter(path, first.schema, watch) as writer:
        for one in chain([first] if first.num_rows else [], waiting):
            writer.write(one)
    return writer


def shapes_of(writer: SampleWriter) -> list[list[int]]:
    """Return the numbers of rows and choices of each batch."""
    table = np.array(unpack_numbers(writer.batches)).reshape(-1, 4)
    numbers: list[list[int]] = table[1:, :2].tolist()
    return numbers


def values_of(file: SampleFile, rows: Iterable[int], name: str) -> list[Any]:
    """Return the values of rows in one column."""
    parts = file.read(np.array(list(rows)))
    return [value for count, part in parts for value in part.get(name, [None] * count)]
