"""The field language of a manifest, compiled to a function record → sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from registry.errors import MappingError, did_you_mean
from registry.fields import Column, Expression, ListOf, Pipe, parse_expression
from registry.mapping import values
from registry.mapping.expression import MISSING, Evaluator, compile_expression, look_up, no_column
from registry.sample import DatasetRecord, Sample
from registry.spec import FieldsSpec

__all__ = ["compile_fields", "map_fields"]

Reader = Callable[[Any], Any]

# Field of a sample → how a value becomes it. `input` has a rule of its own for missing columns.
_READERS: dict[str, Reader] = {
    "input": values.read_input,
    "target": values.read_target,
    "choices": values.read_choices,
    "id": values.read_id,
    "sandbox": values.read_sandbox,
    "files": values.read_files,
    "setup": values.read_setup,
}


def map_fields(fields: Mapping[str, Any]) -> Callable[[DatasetRecord], Sample]:
    """Return the RecordToSample of a manifest's `fields`, for use with the loaders.

    Args:
        fields: Field of a sample → expression, as under `fields:` in a manifest; a field that is
            left out reads the column of its own name, None leaves it empty.

    Raises:
        TypeError: no such field.
        ValueError: an expression is not valid.
    """
    for key in fields:
        if key not in FieldsSpec.model_fields:
            hint = did_you_mean(key, FieldsSpec.model_fields)
            raise TypeError(f"a sample has no field '{key}' {hint}".strip())
    return compile_fields(FieldsSpec(**fields))


def compile_fields(fields: FieldsSpec) -> Callable[[DatasetRecord], Sample]:
    """Return the function that maps a record to a sample."""
    parts = {
        name: _compile_part(name, getattr(fields, name))
        for name in _READERS
        if getattr(fields, name) is not None
    }
    metadata = _compile_metadata(fields.metadata)

    def to_sample(record: DatasetRecord) -> Sample:
        read = {name: part(record) for name, part in parts.items()}
        return Sample(**read, metadata=metadata(record))

    return to_sample


def _compile_part(name: str, raw: Any) -> Evaluator:
    expression = parse_expression(raw)
    evaluate = _compile_for(name, raw)
    read = _READERS[name]
    strict = name in ("target", "choices") and isinstance(expression, ListOf | Pipe)

    def part(record: DatasetRecord) -> Any:
        try:
            value = evaluate(record)
            if value is MISSING:
                _check_may_miss(name, expression, record)
                value = None
            if strict:
                _check_no_null(value)
            return read(value)
        except MappingError as error:
            raise error.at(field=name) from error.__cause__

    return part


def _compile_for(name: str, raw: Any) -> Evaluator:
    try:
        return compile_expression(parse_expression(raw))
    except ValueError as error:
        raise ValueError(f"field {name}: {error}") from error


def _check_may_miss(name: str, expression: Expression, record: DatasetRecord) -> None:
    """Let a column be missing, as the loaders do; only the input must be there."""
    if name == "input" and isinstance(expression, Column):
        raise no_column(expression.name, record)


def _check_no_null(value: Any) -> None:
    """Refuse nulls in a list that the manifest makes: text of them would be `None`."""
    items = value if isinstance(value, list) else [value]
    for index, item in enumerate(items):
        if values.is_missing(item):
            raise MappingError(f"item {index} is null (add drop_null to leave it out)", value=value)


def _compile_metadata(raw: Any) -> Callable[[DatasetRecord], dict[str, Any] | None]:
    if raw is None:
        return lambda record: None
    if isinstance(raw, str):
        return lambda record: _spread(look_up(record, raw))
    if isinstance(raw, list | tuple):
        return lambda record: {name: _or_none(look_up(record, name)) for name in raw}
    return _compile_metadata_map(raw)


def _spread(value: Any) -> dict[str, Any] | None:
    return None if value is MISSING else values.read_metadata(value)


def _or_none(value: Any) -> Any:
    return None if value is MISSING else value


def _compile_metadata_map(raw: Mapping[str, Any]) -> Callable[[DatasetRecord], dict[str, Any]]:
    parts = {key: _compile_for(f"metadata.{key}", item) for key, item in raw.items()}

    def evaluate(record: DatasetRecord) -> dict[str, Any]:
        metadata = {}
        for key, part in parts.items():
            try:
                metadata[key] = _or_none(part(record))
            except MappingError as error:
                raise error.at(field=f"metadata.{key}") from error.__cause__
        return metadata

    return evaluate
