"""Samples as Arrow rows, and back, without loss.

Text, choices and numbers have columns of their own; conversations, metadata and the like are
JSON (see `canonical`) in a text column, null where the sample has None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pydantic import BaseModel, TypeAdapter

from registry.canonical import from_json, to_json
from registry.errors import CacheError, MappingError
from registry.messages import ChatMessage
from registry.sample import Sample, SandboxEnvironmentSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["SCHEMA", "is_readable", "read_table", "row_of", "sample_of", "table_of"]

SCHEMA = pa.schema(
    [
        ("input", pa.large_string()),
        ("messages", pa.large_string()),
        ("choices", pa.large_list(pa.large_string())),
        ("target", pa.large_string()),
        ("targets", pa.large_list(pa.large_string())),
        ("id", pa.large_string()),
        ("id_number", pa.int64()),
        ("metadata", pa.large_string()),
        ("sandbox", pa.large_string()),
        ("files", pa.large_string()),
        ("setup", pa.large_string()),
    ]
)
"""One row a sample. `messages` or `input`, `targets` or `target`, `id_number` or `id`."""

_MESSAGES: TypeAdapter[list[ChatMessage]] = TypeAdapter(list[ChatMessage])
_INT64 = 1 << 63


def row_of(sample: Sample) -> dict[str, Any]:
    """Return a sample as a row.

    Raises:
        MappingError: a value has no form in the cache; it names the field.
    """
    return {
        **_input_columns(sample.input),
        **_target_columns(sample.target),
        **_id_columns(sample.id),
        "choices": _checked("choices", sample.choices),
        "metadata": _json("metadata", sample.metadata),
        "sandbox": _json("sandbox", _sandbox_data(sample.sandbox)),
        "files": _json("files", sample.files),
        "setup": _checked("setup", sample.setup),
    }


def _input_columns(value: str | list[ChatMessage]) -> dict[str, Any]:
    if isinstance(value, str):
        return {"input": _checked("input", value)}
    messages = [message.model_dump() for message in value]
    return {"messages": _json("input", messages)}


def _target_columns(value: str | list[str]) -> dict[str, Any]:
    if isinstance(value, str):
        return {"target": _checked("target", value)}
    return {"targets": _checked("target", value)}


def _id_columns(value: int | str | None) -> dict[str, Any]:
    if not isinstance(value, int):
        return {"id": _checked("id", value)}
    if not -_INT64 <= value < _INT64:
        raise MappingError("an id must fit in 64 bits, or be text", field="id", value=value)
    return {"id_number": value}


def _sandbox_data(spec: SandboxEnvironmentSpec | None) -> Any:
    if spec is None:
        return None
    if isinstance(spec.config, BaseModel):
        message = "a sandbox configuration in a dataset must be a file name or plain data"
        raise MappingError(message, field="sandbox", value=spec.config)
    return [spec.type, spec.config]


def _checked(field: str, value: Any) -> Any:
    """Return text or texts as they are; half a surrogate pair is no text that a file can hold."""
    try:
        for text in value if isinstance(value, list) else [value or ""]:
            text.encode()
    except UnicodeEncodeError as error:
        message = "holds half of a surrogate pair, which is no text"
        raise MappingError(message, field=field, value=value) from error
    return value


def _json(field: str, value: Any) -> str | None:
    if value is None:
        return None
    try:
        text = to_json(value)
    except (TypeError, RecursionError) as error:
        raise MappingError(f"can't be cached: {error}", field=field, value=value) from error
    checked: str = _checked(field, text)
    return checked


def table_of(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return rows as a table."""
    columns = {name: [row.get(name) for row in rows] for name in SCHEMA.names}
    return pa.table(columns, schema=SCHEMA)


def is_readable(path: Path) -> bool:
    """Return whether a file is one of samples, by its frame; the samples are not read."""
    try:
        with pa.memory_map(str(path)) as data:
            schema: pa.Schema = pa.ipc.open_file(data).schema
    except (pa.ArrowException, OSError):
        return False
    return bool(schema.equals(SCHEMA))


def read_table(path: Path) -> pa.Table:
    """Map a file of samples into memory; nothing of it is read yet."""
    try:
        return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    except (pa.ArrowException, OSError) as error:
        raise CacheError(
            f"{path}: can't be read: {error} (python -m registry cache clear)"
        ) from error


def sample_of(row: Mapping[str, Any]) -> Sample:
    """Return the sample of a row."""
    messages, targets, sandbox = row["messages"], row["targets"], row["sandbox"]
    return Sample(
        input=row["input"] if messages is None else _MESSAGES.validate_python(from_json(messages)),
        choices=row["choices"],
        target=row["target"] if targets is None else targets,
        id=row["id"] if row["id_number"] is None else row["id_number"],
        metadata=_from_json(row["metadata"]),
        sandbox=None if sandbox is None else SandboxEnvironmentSpec(*from_json(sandbox)),
        files=_from_json(row["files"]),
        setup=row["setup"],
    )


def _from_json(text: str | None) -> Any:
    return None if text is None else from_json(text)
