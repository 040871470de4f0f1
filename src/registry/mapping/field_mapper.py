"""The field language of a manifest, compiled to a function record → sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from registry.errors import MappingError, did_you_mean
from registry.manifest.arguments import check_fields
from registry.manifest.expressions import Column, Expression, parse_expression
from registry.manifest.models import FieldsSpec
from registry.mapping import coerce as values
from registry.mapping.evaluate import compile_expression
from registry.mapping.row import MISSING, Evaluator, Row, get_column, no_column
from registry.samples.sample import DatasetRecord, Sample

__all__ = ["FieldMapper", "map_fields"]

Reader = Callable[[Any], Any]


def _read_choices(value: Any) -> list[str] | None:
    """Return the choices; of a list only blank ones at the end are left out.

    The loaders leave out all blank ones, as Inspect's do; here the letters of targets count them.
    """
    if not isinstance(value, list):
        return values.to_choices(value)
    texts = [str(item) for item in value]
    while texts and not texts[-1].strip():
        texts.pop()
    return texts


# Field of a sample → how a value becomes it. `input` has a rule of its own for missing columns.
_READERS: dict[str, Reader] = {
    "input": values.to_input,
    "target": values.to_target,
    "choices": _read_choices,
    "id": values.to_id,
    "sandbox": values.to_sandbox,
    "files": values.to_files,
    "setup": values.to_setup,
}


_NOTHING_READ = {**dict.fromkeys(_READERS), "target": ""}


class FieldMapper:
    """A RecordToSample made of the field language; it also knows the number of a record."""

    def __init__(self, fields: FieldsSpec) -> None:
        """Compile the fields; a ValueError says which one can't be."""
        self.fields = fields
        """The expressions as the manifest writes them."""
        self.parts = {
            name: _compile_part(name, getattr(fields, name))
            for name in _READERS
            if getattr(fields, name) is not None
        }
        self.metadata = _compile_metadata(fields.metadata)
        self.metadata_keys = _fixed_keys(fields.metadata)

    def __call__(self, record: DatasetRecord) -> Sample:
        """Map a record that is the first, or whose number does not matter."""
        return self.map(Row(record))

    def map(self, row: Row) -> Sample:
        """Map a record with its number."""
        return Sample(**self.values(row))

    def values(self, row: Row) -> dict[str, Any]:
        """Return the fields of the sample of a record; they need no validation."""
        read = dict(_NOTHING_READ)
        for name, part in self.parts.items():
            read[name] = part(row)
        read["metadata"] = self.metadata(row)
        return read


def map_fields(fields: Mapping[str, Any]) -> FieldMapper:
    """Return the RecordToSample of a manifest's `fields`, for use with the loaders.

    Args:
        fields: Field of a sample → expression, as under `fields:` in a manifest; a field that is
            left out reads the column of its own name, None leaves it empty.

    Raises:
        TypeError: no such field.
        ValueError: an expression is not valid.
    """
    for key in fields:
        if key not in FieldsSpec.__struct_fields__:
            hint = did_you_mean(key, FieldsSpec.__struct_fields__)
            raise TypeError(f"a sample has no field '{key}' {hint}".strip())
    mapper = FieldMapper(FieldsSpec(**fields))
    check_fields(fields)
    return mapper


def _compile_part(name: str, raw: Any) -> Evaluator:
    expression = _parsed(name, raw)
    evaluate = _compiled(name, expression)
    read = _READERS[name]
    is_made = not isinstance(expression, Column)

    def part(row: Row) -> Any:
        try:
            value = evaluate(row)
            if value is MISSING:
                _check_may_miss(name, expression, row)
                value = None
            if is_made and name in ("target", "choices"):
                _check_no_null(value)
            return read(value)
        except MappingError as error:
            raise error.at(field=name) from error.__cause__

    return part


def _parsed(name: str, raw: Any) -> Expression:
    try:
        return parse_expression(raw)
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"field {name}: {error}") from error


def _compiled(name: str, expression: Expression) -> Evaluator:
    try:
        return compile_expression(expression)
    except ValueError as error:
        raise ValueError(f"field {name}: {error}") from error


def _check_may_miss(name: str, expression: Expression, row: Row) -> None:
    """Let a column be missing, as the loaders do; only the input must be there."""
    if name == "input" and isinstance(expression, Column):
        raise no_column(expression.name, row.record)


def _check_no_null(value: Any) -> None:
    """Refuse nulls in a list that the manifest makes: text of them would be `None`."""
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if values.is_missing(item):
            raise MappingError(f"item {index} is null (add drop_null to leave it out)", value=value)


Metadata = dict[str, Any]


def _fixed_keys(raw: Any) -> dict[str, Expression]:
    """Return the expressions of the keys that every sample's metadata has; none if they vary."""
    if isinstance(raw, list | tuple):
        return {name: Column(name) for name in raw}
    if isinstance(raw, Mapping) and "*" not in raw:
        return {key: parse_expression(item) for key, item in raw.items()}
    return {}


def _compile_metadata(raw: Any) -> Callable[[Row], Metadata | None]:
    if raw is None:
        return lambda row: None
    if isinstance(raw, str):
        return _compile_spread(raw)
    if isinstance(raw, list | tuple):
        return lambda row: {name: _or_none(get_column(row.record, name)) for name in raw}
    if not isinstance(raw, Mapping):
        raise ValueError(f"field metadata: {raw!r} is no column, list of columns or map")
    return _compile_metadata_map(raw)


def _compile_spread(name: str) -> Callable[[Row], Metadata | None]:
    """Return the function that gives a column that holds an object, or with `*` the record."""
    if name == "*":
        return lambda row: dict(row.record)

    def spread(row: Row) -> Metadata | None:
        try:
            return values.to_metadata(_or_none(get_column(row.record, name)))
        except MappingError as error:
            raise error.at(field="metadata") from error.__cause__

    return spread


def _or_none(value: Any) -> Any:
    return None if value is MISSING else value


def _compile_metadata_map(raw: Mapping[str, Any]) -> Callable[[Row], Metadata]:
    """Compile a map of expressions; the key `*` spreads a column, or the record, into it."""
    spread = _compile_spread(raw["*"]) if "*" in raw else lambda row: None
    parts = {
        key: _compiled(f"metadata.{key}", _parsed(f"metadata.{key}", item))
        for key, item in raw.items()
        if key != "*"
    }

    def evaluate(row: Row) -> Metadata:
        metadata = dict(spread(row) or {})
        for key, part in parts.items():
            try:
                metadata[key] = _or_none(part(row))
            except MappingError as error:
                raise error.at(field=f"metadata.{key}") from error.__cause__
        return metadata

    return evaluate
