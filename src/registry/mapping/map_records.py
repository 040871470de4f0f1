"""Map records to samples by a loader's `sample_fields`, a FieldMapper or any function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from registry.errors import MappingError
from registry.mapping import coerce
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.row import Row
from registry.samples.field_spec import FieldSpec
from registry.samples.fields import FIELDS
from registry.samples.sample import DatasetRecord, RecordToSample, Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["map_records", "map_values", "record_mapper"]

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
            result = mapper(record)
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


def record_mapper(sample_fields: FieldSpec | RecordToSample | None) -> RecordToSample:
    """Return the function that maps a record for a loader's `sample_fields`."""
    spec = FieldSpec() if sample_fields is None else sample_fields
    if callable(spec):
        return spec
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
