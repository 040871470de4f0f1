"""Map records to samples: by the `fields` of a manifest, a loader's FieldSpec or a function.

A FieldMapper is the compiled `fields` of a manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ValidationError

from registry.boundary.boundary import UNBOUNDED, Boundary
from registry.decode.exact_json import parse_exact
from registry.errors import MappingError, did_you_mean, shorten
from registry.manifest.expressions import Column, Expression, ListOf, Pipe, parse_expression
from registry.manifest.models import Accepted, FieldsSpec
from registry.manifest.validation import check_fields
from registry.mapping import coerce
from registry.mapping.batch import Batch, Records
from registry.mapping.evaluate import Evaluator
from registry.mapping.operations.base import BatchFunction
from registry.mapping.row import MISSING, Row, or_none
from registry.samples.fields import FIELDS, FieldSpec
from registry.samples.sample import DatasetRecord, RecordToSample, Sample

if TYPE_CHECKING:
    from inspect_ai.dataset import FieldSpec as InspectFieldSpec
    from inspect_ai.dataset import RecordToSample as InspectRecordToSample

    # For type checkers, where Inspect is installed: those of code that has only changed a loader.
    InspectFields = InspectFieldSpec | InspectRecordToSample

__all__ = [
    "FieldMapper",
    "are_unchanged",
    "is_list_of_columns",
    "map_fields",
    "map_records",
    "map_values",
    "record_mapper",
]


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


# Blank choices are kept but for those at the end, as a letter counts those before it.
_COERCE = {**coerce.EXACT_COERCIONS, "choices": _to_choices}
# What these functions return for null; the values of fields that the manifest sets to null.
_NOT_MAPPED = {**dict.fromkeys(_COERCE), "target": ""}

_UNCHANGED: dict[str, frozenset[type]] = {
    "target": frozenset({str, list}),
    "choices": frozenset({list, NoneType}),
    "id": frozenset({str, int, NoneType}),
    "setup": frozenset({str, NoneType}),
}
"""Field → the exact types of values that it stores as they are, if the items of lists are str."""

_TEXT_FIELDS = ("target", "choices", "setup")
"""Fields whose values become str."""

_NO_TEXT: dict[type, tuple[str, str]] = {
    dict: ("a dict", "dump"),
    list: ("a list", "dump"),
    bytes: ("bytes", "{dump: {literal: true}}"),
}
"""Type that only Python's notation has as text → its name, and the operation that writes it."""


class FieldMapper:
    """A RecordToSample compiled from the field language; `map` also takes the record's number."""

    def __init__(
        self,
        fields: FieldsSpec,
        boundary: Boundary | None = None,
        *,
        accept: Collection[Accepted] = (),
    ) -> None:
        """Compile the fields; a ValueError names the invalid one.

        Args:
            fields: One expression per field.
            boundary: Which files operations may read; None for no file.
            accept: What is meant in the samples: with `blank_inputs`, an input may be empty.
        """
        self.fields = fields
        """The expressions as the manifest writes them."""
        self.boundary = boundary or Boundary()
        """Which files operations may read."""
        self.evaluator = Evaluator()
        """What compiles the expressions of this mapping."""
        self.expressions: dict[str, Expression] = {}
        """Field → its expression; without the fields that are null, and without metadata."""
        self.functions: dict[str, BatchFunction] = {}
        """Field → the function of its expression."""
        self.coerce: dict[str, Callable[[Any], Any]] = {}
        """Field → what makes the value of its expression that of a field."""
        for name in _COERCE:
            if (raw := getattr(fields, name)) is not None:
                self.expressions[name], self.functions[name] = self._compile(name, raw)
                self.coerce[name] = _compile_coerce(name, self.expressions[name])
        if "blank_inputs" in accept and "input" in self.coerce:
            # Sets of text pairs have an empty text for an input.
            to_input = self.coerce["input"]
            self.coerce["input"] = lambda value: "" if value == "" else to_input(value)
        self.metadata_functions: dict[str, BatchFunction] = {}
        """Key of the metadata that the manifest names → the function of its expression."""
        self.metadata_keys: dict[str, Expression] = {}
        """Key → expression, where all samples have these keys, and maybe those of `spread`."""
        self.spread: str | None = None
        """Column whose dicts have the first keys of the metadata."""
        self._compile_metadata(fields.metadata)

    def _compile(self, field: str, raw: Any) -> tuple[Expression, BatchFunction]:
        try:
            expression = parse_expression(raw)
            return expression, self.evaluator.of(expression)
        except ValueError as error:
            raise ValueError(f"field {field}: {error}") from error

    def _compile_metadata(self, raw: Any) -> None:
        if raw is None or isinstance(raw, str):
            return
        if isinstance(raw, list | tuple):
            keys = {name: self._compile(f"metadata.{name}", name) for name in raw}
        elif isinstance(raw, Mapping):
            keys = {
                key: self._compile(f"metadata.{key}", item)
                for key, item in raw.items()
                if key != "*"
            }
        else:
            what = "a column, a list of columns or a mapping"
            raise ValueError(f"field metadata: {raw!r} is not {what}")
        self.metadata_functions = {key: function for key, (_, function) in keys.items()}
        spread = raw.get("*") if isinstance(raw, Mapping) else None
        if spread != "*":  # the record itself has any keys
            self.spread = spread
            self.metadata_keys = {key: expression for key, (expression, _) in keys.items()}

    def __call__(self, record: DatasetRecord) -> Sample:
        """Map a record as if it were the first of its source."""
        return self.map(Row(record, boundary=self.boundary))

    def map(self, row: Row) -> Sample:
        """Map a record and its number."""
        return Sample(**self.values(row))

    def values(self, row: Row) -> dict[str, Any]:
        """Return the fields of the sample of a record, already coerced and valid."""
        columns = self.columns(Records.of(row))
        return {name: values[0] for name, values in columns.items()}

    def columns(self, batch: Batch) -> dict[str, list[Any]]:
        """Return the fields of the samples of a batch, already coerced and valid.

        Raises:
            MappingError: of a record that need not be the first with an error.
        """
        columns: dict[str, list[Any]] = {
            name: [value] * batch.count for name, value in _NOT_MAPPED.items()
        }
        for name in self.functions:
            columns[name] = self.field(name, batch)
        columns["metadata"] = [*self.metadata(batch)]
        return columns

    def field(self, name: str, batch: Batch) -> list[Any]:
        """Return one field of the samples of a batch."""
        try:
            values = self.functions[name](batch)
            if name == "input":
                self._require_input(batch)
            return values if are_unchanged(name, values) else list(map(self.coerce[name], values))
        except MappingError as error:
            raise error.at(field=name) from error.__cause__

    def _require_input(self, batch: Batch) -> None:
        """Raise an error if a record lacks the input; only its column must exist."""
        expression = self.expressions["input"]
        if isinstance(expression, Column) and type(MISSING) in batch.kinds(expression.name):
            raise batch.no_column(expression.name)

    def metadata(self, batch: Batch) -> list[dict[str, Any] | None]:
        """Return the metadata of the samples of a batch."""
        raw = self.fields.metadata
        if raw is None or isinstance(raw, str):
            return [None] * batch.count if raw is None else self.spread_values(raw, batch)
        spread = raw.get("*") if isinstance(raw, Mapping) else None
        found = None if spread is None else self.spread_values(spread, batch)
        made = [dict(one or {}) for one in found or [None] * batch.count]
        for key in self.metadata_functions:
            for one, value in zip(made, self.metadata_values(key, batch), strict=True):
                one[key] = value
        return [*made]

    def spread_values(self, name: str, batch: Batch) -> list[dict[str, Any] | None]:
        """Return the dicts in a column, or with `*` the records."""
        if name == "*":
            return list(batch.records())
        try:
            return [coerce.to_metadata(or_none(one), parse_exact) for one in batch.values(name)]
        except MappingError as error:
            raise error.at(field="metadata") from error.__cause__

    def metadata_values(self, key: str, batch: Batch) -> list[Any]:
        """Return the values of one key of the metadata; None without the column."""
        try:
            values = self.metadata_functions[key](batch)
            return list(map(or_none, values)) if type(MISSING) in set(map(type, values)) else values
        except MappingError as error:
            raise error.at(field=f"metadata.{key}") from error.__cause__


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


def _compile_coerce(name: str, expression: Expression) -> Callable[[Any], Any]:
    """Return the function that makes the value of an expression that of a field."""
    to_field = _COERCE[name]
    drops_blank = name == "target" and is_list_of_columns(expression)

    def coerced(value: Any) -> Any:
        if value is MISSING:
            value = None
        if name in _TEXT_FIELDS:
            _check_text(name, value)
        # Alternative answers in several columns leave some of them empty, and every answer
        # contains an empty target.
        if drops_blank and isinstance(value, list):
            value = [item for item in value if str(item).strip()]
        return to_field(value)

    return coerced


def _check_text(field: str, value: Any) -> None:
    """Raise an error for a value that `str` would write in Python's notation, such as "None".

    The loaders write it so, as Inspect's do.
    """
    is_list = isinstance(value, list) and field != "setup"
    for index, item in enumerate(value if is_list else [value]):
        where = f"item {index} " if is_list else ""
        if is_list and coerce.is_missing(item):
            raise MappingError(f"{where}is null (add drop_null to leave it out)", value=value)
        for kind, (what, step) in _NO_TEXT.items():
            if isinstance(item, kind):
                if field == "choices" and kind is dict and not is_list:
                    raise MappingError(f"is {what} (`do: [items]` gives the values)", value=value)
                add = f"{{each: [{step}]}}" if is_list else step
                raise MappingError(f"{where}is {what} (add {add} to write it as text)", value=value)


def is_list_of_columns(expression: Expression) -> bool:
    """Return whether an expression is a list of several, or operations on one."""
    return isinstance(expression.start if isinstance(expression, Pipe) else expression, ListOf)


def are_unchanged(field: str, values: Sequence[Any]) -> bool:
    """Return whether values are those of a field as they are; a False may be wrong."""
    types = set(map(type, values))
    if not types <= _UNCHANGED.get(field, frozenset()):
        return False
    if list not in types:
        return True
    lists = values if len(types) == 1 else [one for one in values if type(one) is list]
    if not set(map(type, chain.from_iterable(lists))) <= {str}:
        return False
    # A blank item is left out of a target that the manifest builds, and at the end of choices.
    is_target = field == "target"
    kept = chain.from_iterable(lists) if is_target else [one[-1] for one in lists if one]
    return all(map(str.strip, kept))


_REQUIRED_FIELDS = {field.name for field in FIELDS if not field.is_recent}
"""Fields of the samples of all versions of Inspect; later ones have those two as well."""


def map_records(
    records: Iterable[tuple[int, DatasetRecord]], mapper: RecordToSample, *, dataset: str
) -> Iterator[tuple[int, Sample]]:
    """Yield samples with the number of their record; an error has that number too."""
    if isinstance(mapper, FieldMapper):
        values = map_values(records, mapper, dataset=dataset)
        yield from ((number, Sample(**fields)) for number, fields in values)
        return
    number, record = 0, None  # for an error before the first record
    try:
        for number, record in records:
            try:
                result = mapper(record)
            except (MappingError, ValidationError):
                raise
            except Exception as error:  # as in Inspect, that of a function is raised as it is
                error.add_note(f"{dataset}: record {number}: {shorten(record)}")
                raise
            if type(result) is Sample:  # nearly always, and cheaper than the full check
                yield number, result
                continue
            for sample in _check_samples(result):
                yield number, sample
    except MappingError as error:
        raise error.at(dataset=dataset, record=number) from error.__cause__
    except ValidationError as error:
        message = f"not a sample: {error}"
        raise MappingError(message, dataset=dataset, record=number, value=record) from error


def _check_samples(result: Any) -> list[Sample]:
    """Return the result of a mapper as a list of samples; a MappingError for anything else."""
    samples: list[Sample] = result if isinstance(result, list) else [result]
    for sample in samples:
        if isinstance(sample, Sample):
            continue
        # Inspect's own Sample is recognized by its fields, as Inspect may not be installed.
        fields = type(sample).model_fields if isinstance(sample, BaseModel) else {}
        if not fields.keys() >= _REQUIRED_FIELDS:
            what = "None" if sample is None else f"a {type(sample).__name__}"
            returned = f"a list with {what}" if samples is result else what
            message = f"the mapper returned {returned}, not a Sample or a list of them"
            raise MappingError(message, value=sample)
    return samples


def map_values(
    records: Iterable[tuple[int, DatasetRecord]], mapper: FieldMapper, *, dataset: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the fields of each sample with the number of its record; no Sample is created."""
    values, number, boundary = mapper.values, 0, mapper.boundary
    try:
        for number, record in records:
            yield number, values(Row(record, number, boundary))
    except MappingError as error:
        raise error.at(dataset=dataset, record=number) from error.__cause__


def record_mapper(
    sample_fields: FieldSpec | RecordToSample | InspectFields | None,
) -> RecordToSample:
    """Return the function that maps a record for a loader's `sample_fields`."""
    spec = FieldSpec() if sample_fields is None else sample_fields
    if callable(spec):
        return cast("RecordToSample", spec)  # samples of Inspect's are as good
    # Inspect's own is recognized by its fields too; in older versions it lacks the recent ones.
    if not all(hasattr(spec, name) for name in _REQUIRED_FIELDS):
        raise TypeError(f"sample_fields must be a FieldSpec or a function, is {spec!r}")
    to_metadata = _metadata_reader(spec.metadata)
    read = [
        (name, column, to_field)
        for name, to_field in coerce.COERCIONS.items()
        if (column := getattr(spec, name, None)) is not None
    ]

    def to_sample(record: DatasetRecord) -> Sample:
        metadata = to_metadata(record)
        fields = {name: to_field(record.get(column)) for name, column, to_field in read}
        return Sample(**fields, metadata=metadata)

    return to_sample


def _metadata_reader(
    wanted: list[str] | type[BaseModel] | None,
) -> Callable[[DatasetRecord], dict[str, Any] | None]:
    if isinstance(wanted, list) and wanted:
        return lambda record: {name: record.get(name) for name in wanted}
    if not isinstance(wanted, type):
        return lambda record: coerce.to_metadata(record.get("metadata"))
    model: type[BaseModel] = wanted

    def read(record: DatasetRecord) -> dict[str, Any]:
        # Checked for each record and with these messages, as Inspect does.
        if not model.model_config.get("frozen", False):
            raise ValueError(f"Metadata model {model.__name__} must have frozen=True")
        data = coerce.to_metadata(record.get("metadata"))
        if data is None:
            data = {key: value for key, value in record.items() if key in model.model_fields}
        try:
            return model(**data).model_dump()
        except ValidationError as error:
            message = f"Could not parse metadata into {model.__name__}: {error}"
            raise MappingError(message, field="metadata", value=data) from error

    return read
