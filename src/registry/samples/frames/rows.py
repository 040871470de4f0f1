"""Samples as Arrow data: what holds for every dataset, wherever its samples are.

A message is a struct of its role, its text, and the rest as JSON; metadata is JSON, or a struct of
the keys of all samples, each with the common type of its values.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pyarrow as pa
from pydantic import BaseModel

from registry.base.digest import canonical_json, to_json
from registry.errors import MappingError, MissingDependencyError
from registry.samples.fields import FIELDS, Field, field_data
from registry.samples.frames.layout import (
    COLUMNS,
    METADATA_TYPE_OF,
    METADATA_TYPES,
    MetadataForm,
    MetadataType,
    frame_schema,
)

if TYPE_CHECKING:
    from registry.samples.messages import ChatMessage
    from registry.samples.sample import Sample

__all__ = [
    "Frames",
    "check_arguments",
    "columns_of",
    "frame_batch",
    "frames_of",
    "message_data",
    "message_row",
    "metadata_kinds",
    "metadata_struct",
    "require",
    "sandbox_text",
]

_FAILURES = (UnicodeError, pa.ArrowException, TypeError, OverflowError, RecursionError)

_ROWS = 1 << 13
"""As many as a batch of the cache has at most."""

_INT64 = 1 << 63

_NESTED = ("content", "citations")
"""Fields whose values are lists of models with a field that identifies the class."""


def frame_batch(
    samples: Sequence[Sample],
    metadata_kinds: Mapping[str, MetadataType] | None = None,
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
    metadata_kinds: Mapping[str, MetadataType] | None = None,
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


def metadata_kinds(items: Iterable[Mapping[str, Any] | None]) -> dict[str, MetadataType]:
    """Return the keys of metadata in the order of their first use, with the types of their values.

    Values of several types, and of any but str, int, float, bool and lists of str, are `json`.
    """
    found: dict[str, set[MetadataType]] = {}
    for item in items:
        for key, value in (item or {}).items():
            kinds = found.setdefault(key, set())
            if value is not None:
                kinds.add(_kind_of(value))
    return {key: _common(kinds) for key, kinds in found.items()}


def _kind_of(value: Any) -> MetadataType:
    kind = type(value)
    if kind is list:
        return "str_list" if set(map(type, value)) <= {str, NoneType} else "json"
    if kind is int and not -_INT64 <= value < _INT64:
        return "json"
    return METADATA_TYPE_OF.get(kind, "json")


def _common(kinds: set[MetadataType]) -> MetadataType:
    """Return the kind of a column: that of all its values."""
    return kinds.pop() if len(kinds) == 1 else "json"


def metadata_struct(
    items: Sequence[Mapping[str, Any] | None], kinds: Mapping[str, MetadataType]
) -> pa.Array:
    """Return metadata as a struct column; a key that a sample lacks is null."""
    if not kinds:  # without a child, only the values say how many rows there are
        return pa.array([None if item is None else {} for item in items], pa.struct([]))
    children = [
        _child([(item or {}).get(key) for item in items], kind) for key, kind in kinds.items()
    ]
    fields = [pa.field(key, METADATA_TYPES[kind]) for key, kind in kinds.items()]
    mask = pa.array([item is None for item in items], pa.bool_())
    return pa.StructArray.from_arrays(children, fields=fields, mask=mask)


def _child(values: Sequence[Any], kind: MetadataType) -> pa.Array:
    if kind == "json":
        values = [None if value is None else to_json(value) for value in values]
    return pa.array(values, METADATA_TYPES[kind])


def message_data(message: ChatMessage) -> dict[str, Any]:
    """Return the fields of a message that were set, and those that identify its class."""
    data = message.model_dump(exclude_unset=True)
    _add_types(message, data)
    return data


def _add_types(model: Any, data: dict[str, Any]) -> None:
    """Add the discriminators that were not set to the data of a model, in place."""
    for name in ("role", "type"):
        if hasattr(model, name):
            data[name] = getattr(model, name)
    for name in _NESTED:
        models = getattr(model, name, None)
        if isinstance(models, Sequence) and not isinstance(models, str):
            for inner, values in zip(models, data[name], strict=True):
                _add_types(inner, values)


def message_row(data: Mapping[str, Any]) -> dict[str, str | None]:
    """Return a message as a row of `layout.MESSAGE`, from the data of `message_data`."""
    rest = {key: value for key, value in data.items() if value is not None}
    role, content, identifier = rest.pop("role"), rest.pop("content"), rest.pop("id", None)
    if rest.get("source") == "input":  # as every message of a dataset
        del rest["source"]
    if not isinstance(content, str):
        rest = {"content": content, **rest}
        content = "\n".join(part["text"] for part in content if part["type"] == "text")
    # Keys in a fixed order: which fields were set first says nothing.
    text = canonical_json(rest).decode() if rest else None
    return {"role": role, "content": content, "id": identifier, "rest": text}


class Frames(NamedTuple):
    """Arrow data of a dataset, made as it is read."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


class Samples(Protocol):
    """What is used of a dataset."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Sample]: ...


def check_arguments(size: int | None, metadata: MetadataForm) -> None:
    """Raise a ValueError for a size or a form that does not exist."""
    if metadata not in ("json", "struct"):
        raise ValueError(f"metadata must be 'json' or 'struct', not {metadata!r}")
    if size is not None and size < 1:
        raise ValueError(f"a batch has at least one row, not {size}")


def frames_of(samples: Samples, size: int | None, metadata: MetadataForm) -> Frames:
    """Return samples as Arrow data; the arguments are those of `Dataset.batches`."""
    check_arguments(size, metadata)
    kinds = None
    if metadata == "struct":
        kinds = metadata_kinds(sample.metadata for sample in samples)
    return Frames(frame_schema(kinds), _batches(iter(samples), size or _ROWS, kinds))


def _batches(
    samples: Iterator[Sample], size: int, kinds: dict[str, MetadataType] | None
) -> Iterator[pa.RecordBatch]:
    first = 0
    while part := list(islice(samples, size)):
        yield frame_batch(part, kinds, first=first)
        first += len(part)


def require(package: str, method: str) -> Any:
    """Return a package that a method needs.

    Raises:
        MissingDependencyError: it is not installed.
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] != package:
            raise
        message = f"`{method}` needs {package}: pip install {package}"
        raise MissingDependencyError(message) from error
