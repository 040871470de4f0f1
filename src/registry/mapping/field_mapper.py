"""Compile the `fields` of a manifest to a function that maps a record to a sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from registry.boundary.boundary import UNBOUNDED, Boundary
from registry.errors import MappingError, did_you_mean
from registry.manifest.arguments import check_fields
from registry.manifest.expressions import Column, Expression, ListOf, Pipe, parse_expression
from registry.manifest.models import FieldsSpec
from registry.mapping import coerce
from registry.mapping.evaluate import compile_expression
from registry.mapping.row import MISSING, Evaluator, Row, get_column, no_column
from registry.samples.sample import DatasetRecord, Sample

__all__ = ["FieldMapper", "is_list_of_columns", "map_fields"]


def _to_choices(value: Any) -> list[str] | None:
    """Return the choices; from the end of a list, whitespace-only items are dropped.

    The loaders drop every whitespace-only choice, as Inspect's do. Here an inner one is kept:
    without it, the letters of targets would name the wrong choices.
    """
    if not isinstance(value, list):
        return coerce.to_choices(value)
    choices = [str(item) for item in value]
    while choices and not choices[-1].strip():
        choices.pop()
    return choices


# Field of a sample → the function that coerces a value to it.
_COERCE: dict[str, Callable[[Any], Any]] = {
    "input": coerce.to_input,
    "target": coerce.to_target,
    "choices": _to_choices,
    "id": coerce.to_id,
    "sandbox": coerce.to_sandbox,
    "files": coerce.to_files,
    "setup": coerce.to_setup,
    "checkpoint": coerce.to_checkpoint,
    "description": coerce.to_description,
}
# What these functions return for null; the values of fields that the manifest sets to null.
_NOT_MAPPED = {**dict.fromkeys(_COERCE), "target": ""}


class FieldMapper:
    """A RecordToSample compiled from the field language; `map` also takes the record's number."""

    def __init__(self, fields: FieldsSpec, boundary: Boundary | None = None) -> None:
        """Compile the fields; a ValueError names the invalid one.

        Args:
            fields: One expression per field.
            boundary: Which files operations may read; None for no file.
        """
        self.fields = fields
        """The expressions as the manifest writes them."""
        self.boundary = boundary or Boundary()
        """Which files operations may read."""
        self.expressions: dict[str, Expression] = {}
        """Field → its expression; without the fields that are null, and without metadata."""
        self.parts: dict[str, Evaluator] = {}
        """Field → its evaluator."""
        self.coerce: dict[str, Callable[[Any], Any]] = {}
        """Field → what its evaluator does with the value of the expression."""
        for name in _COERCE:
            if (raw := getattr(fields, name)) is not None:
                expression, evaluate = _compile(name, raw)
                self.expressions[name] = expression
                self.coerce[name] = _compile_coerce(name, expression)
                self.parts[name] = _compile_field(name, expression, evaluate, self.coerce[name])
        self.metadata = _compile_metadata(fields.metadata)
        """The evaluator of the metadata."""
        self.metadata_keys: dict[str, Expression] = {}
        """Key → expression, where all samples have these keys, and maybe those of `spread`."""
        self.spread: str | None = None
        """Column whose dicts have the first keys of the metadata."""
        raw = fields.metadata
        if isinstance(raw, list | tuple):
            self.metadata_keys = {name: Column(name) for name in raw}
        elif isinstance(raw, Mapping) and raw.get("*") != "*":
            self.spread = raw.get("*")
            keys = [key for key in raw if key != "*"]
            self.metadata_keys = {key: parse_expression(raw[key]) for key in keys}

    def __call__(self, record: DatasetRecord) -> Sample:
        """Map a record as if it were the first of its source."""
        return self.map(Row(record, boundary=self.boundary))

    def map(self, row: Row) -> Sample:
        """Map a record and its number."""
        return Sample(**self.values(row))

    def values(self, row: Row) -> dict[str, Any]:
        """Return the fields of the sample of a record, already coerced and valid."""
        values = dict(_NOT_MAPPED)
        for name, part in self.parts.items():
            values[name] = part(row)
        values["metadata"] = self.metadata(row)
        return values


def map_fields(fields: Mapping[str, Any]) -> FieldMapper:
    """Return the RecordToSample of a manifest's `fields`, for use with the loaders.

    Args:
        fields: Field of a sample → expression, as under `fields:` in a manifest. A field that is
            omitted reads the column of its own name; None leaves the field empty.

    Raises:
        TypeError: no such field.
        ValueError: an expression is invalid.
    """
    for key in fields:
        if key not in FieldsSpec.__struct_fields__:
            hint = did_you_mean(key, FieldsSpec.__struct_fields__)
            raise TypeError(f"a sample has no field '{key}' {hint}".strip())
    try:
        mapper = FieldMapper(FieldsSpec(**fields), UNBOUNDED)
    except (AttributeError, TypeError):
        # Compiling assumes what the schema guarantees. If the schema rejects the fields, that is
        # the error to raise; if it accepts them, the bug is ours.
        check_fields(fields)
        raise
    check_fields(fields)
    return mapper


def _compile_field(
    name: str, expression: Expression, evaluate: Evaluator, to_field: Callable[[Any], Any]
) -> Evaluator:
    # As in the loaders, only the column of the input must exist.
    required = expression.name if name == "input" and isinstance(expression, Column) else None

    def field(row: Row) -> Any:
        try:
            value = evaluate(row)
            if value is MISSING and required is not None:
                raise no_column(required, row.record)
            return to_field(value)
        except MappingError as error:
            raise error.at(field=name) from error.__cause__

    return field


def _compile_coerce(name: str, expression: Expression) -> Callable[[Any], Any]:
    """Return the function that makes the value of an expression that of a field."""
    to_field = _COERCE[name]
    is_checked = not isinstance(expression, Column) and name in ("target", "choices")
    drops_blank = name == "target" and is_list_of_columns(expression)

    def coerced(value: Any) -> Any:
        if value is MISSING:
            value = None
        # In a list that the manifest builds, a null would silently become the str "None". A
        # list in a single column is the data's own, and coerced as Inspect does.
        if is_checked and isinstance(value, list):
            for index, item in enumerate(value):
                if coerce.is_missing(item):
                    message = f"item {index} is null (add drop_null to leave it out)"
                    raise MappingError(message, value=value)
        # Alternative answers in several columns leave some of them empty, and every answer
        # contains an empty target.
        if drops_blank and isinstance(value, list):
            value = [item for item in value if str(item).strip()]
        return to_field(value)

    return coerced


def is_list_of_columns(expression: Expression) -> bool:
    """Return whether an expression is a list of several, or operations on one."""
    return isinstance(expression.start if isinstance(expression, Pipe) else expression, ListOf)


def _compile(field: str, raw: Any) -> tuple[Expression, Evaluator]:
    try:
        expression = parse_expression(raw)
        return expression, compile_expression(expression)
    except ValueError as error:
        raise ValueError(f"field {field}: {error}") from error


def _compile_metadata(raw: Any) -> Callable[[Row], dict[str, Any] | None]:
    if raw is None:
        return lambda row: None
    if isinstance(raw, str):
        return _compile_spread(raw)
    if isinstance(raw, list | tuple):
        return lambda row: {name: _or_none(get_column(row.record, name)) for name in raw}
    if not isinstance(raw, Mapping):
        raise ValueError(f"field metadata: {raw!r} is not a column, a list of columns or a mapping")
    spread = _compile_spread(raw["*"]) if "*" in raw else lambda row: None
    parts = {key: _compile(f"metadata.{key}", raw[key])[1] for key in raw if key != "*"}

    def evaluate(row: Row) -> dict[str, Any]:
        metadata = dict(spread(row) or {})
        for key, part in parts.items():
            try:
                metadata[key] = _or_none(part(row))
            except MappingError as error:
                raise error.at(field=f"metadata.{key}") from error.__cause__
        return metadata

    return evaluate


def _compile_spread(name: str) -> Callable[[Row], dict[str, Any] | None]:
    """Return a function that reads the dict in a column, or with `*` the whole record."""
    if name == "*":
        return lambda row: dict(row.record)

    def spread(row: Row) -> dict[str, Any] | None:
        try:
            return coerce.to_metadata(_or_none(get_column(row.record, name)))
        except MappingError as error:
            raise error.at(field="metadata") from error.__cause__

    return spread


def _or_none(value: Any) -> Any:
    return None if value is MISSING else value
