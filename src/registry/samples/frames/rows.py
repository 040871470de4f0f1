"""Samples as rows of a frame: what holds for every dataset, wherever its samples are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pydantic import BaseModel

from registry.base.digest import to_json
from registry.errors import MappingError
from registry.samples.fields import FIELDS, Field, field_data
from registry.samples.frames.conversations import message_data, message_row
from registry.samples.frames.layout import COLUMNS, MetadataKind, frame_schema
from registry.samples.frames.metadata import metadata_struct

if TYPE_CHECKING:
    from registry.samples.sample import Sample

__all__ = ["columns_of", "frame_batch", "sandbox_text"]

_FAILURES = (UnicodeError, pa.ArrowException, TypeError, OverflowError, RecursionError)


def frame_batch(
    samples: Sequence[Sample],
    metadata_kinds: Mapping[str, MetadataKind] | None = None,
    *,
    first: int = 0,
) -> pa.RecordBatch:
    """Return samples as rows of a frame.

    Args:
        samples: The samples.
        metadata_kinds: Types of the keys of the metadata, to have a struct of it.
        first: Position of the first sample, for messages.

    Raises:
        MappingError: a value has no form in Arrow; the error has the position of its sample.
    """
    columns = columns_of(samples, COLUMNS, metadata_kinds, first=first)
    schema = frame_schema(metadata_kinds)
    return pa.RecordBatch.from_arrays([columns[name] for name in COLUMNS], schema=schema)


def columns_of(
    samples: Sequence[Sample],
    names: Sequence[str],
    metadata_kinds: Mapping[str, MetadataKind] | None = None,
    *,
    first: int = 0,
) -> dict[str, pa.Array]:
    """Return some columns of a frame; the arguments are those of `frame_batch`."""
    schema = frame_schema(metadata_kinds)
    made = {}
    for name in names:
        if name == "metadata" and metadata_kinds is not None:
            items = [sample.metadata for sample in samples]
            made[name] = metadata_struct(items, metadata_kinds)
        else:
            made[name] = _column(name, schema.field(name).type, samples, first)
    return made


def _column(name: str, kind: pa.DataType, samples: Sequence[Sample], first: int) -> pa.Array:
    read = _READERS[name]
    try:
        return pa.array([read(sample) for sample in samples], kind)
    except _FAILURES:
        # Repeat it one by one, as pyarrow does not say which one it can't convert.
        for position, sample in enumerate(samples, first):
            try:
                pa.array([read(sample)], kind)
            except _FAILURES as error:
                message = f"sample {position}: {name} can't be a value of Arrow: {error}"
                raise MappingError(message) from error
        raise


def sandbox_text(kind: str, config: Any) -> str:
    """Return a sandbox as JSON."""
    data = config.model_dump(mode="json") if isinstance(config, BaseModel) else config
    return to_json({"type": kind, "config": data})


def _messages(sample: Sample) -> list[dict[str, str | None]] | None:
    if isinstance(sample.input, str):
        return None
    return [message_row(message_data(message)) for message in sample.input]


def _sandbox(sample: Sample) -> str | None:
    spec = sample.sandbox
    return None if spec is None else sandbox_text(spec.type, spec.config)


def _reader(field: Field) -> Callable[[Sample], Any]:
    """Return how the one column of a field is read."""
    value = attrgetter(field.name)
    if field.kind != "json":
        return value

    def read(sample: Sample) -> str | None:
        found = value(sample)
        return None if found is None else to_json(field_data(field.name, found))

    return read


_READERS: dict[str, Callable[[Sample], Any]] = {
    **{field.name: _reader(field) for field in FIELDS},
    "input": lambda sample: sample.input if isinstance(sample.input, str) else None,
    "messages": _messages,
    "target": lambda sample: sample.target if isinstance(sample.target, str) else None,
    "targets": lambda sample: None if isinstance(sample.target, str) else sample.target,
    "id": lambda sample: None if sample.id is None else str(sample.id),
    "sandbox": _sandbox,
}
"""Column → its value in a sample."""
