"""Records → samples for the loaders' `sample_fields`, and the walk over records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from registry.errors import MappingError
from registry.mapping import coerce as values
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.row import Row
from registry.samples.field_spec import FieldSpec
from registry.samples.sample import DatasetRecord, RecordToSample, Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["map_records", "map_values", "record_mapper"]


def record_mapper(sample_fields: FieldSpec | RecordToSample | None) -> RecordToSample:
    """Return the function record → sample(s) that a loader's `sample_fields` stands for."""
    if sample_fields is None:
        return _field_mapper(FieldSpec())
    if isinstance(sample_fields, FieldSpec):
        return _field_mapper(sample_fields)
    return sample_fields


def map_records(
    records: Iterable[tuple[int, DatasetRecord]], mapper: RecordToSample, *, dataset: str
) -> Iterator[tuple[int, Sample]]:
    """Yield samples with the numbers of their records; an error says which record it is."""
    if isinstance(mapper, FieldMapper):
        values = map_values(records, mapper, dataset=dataset)
        yield from ((number, Sample(**fields)) for number, fields in values)
        return
    number, record = 0, None
    try:
        for number, record in records:
            made = mapper(record)
            if type(made) is Sample:  # nearly always
                yield number, made
                continue
            for sample in _samples_in(made):
                yield number, sample
    except MappingError as error:
        raise error.at(dataset=dataset, record=number) from error.__cause__
    except ValidationError as error:
        message = f"not a sample: {error}"
        raise MappingError(message, dataset=dataset, record=number, value=record) from error


def _samples_in(made: Any) -> list[Sample]:
    """Return what a mapper gave as a list of samples; anything else is a MappingError."""
    samples: list[Sample] = made if isinstance(made, list) else [made]
    for sample in samples:
        if not _is_sample(sample):
            what = "None" if sample is None else f"a {type(sample).__name__}"
            gave = f"a list with {what}" if samples is made else what
            message = f"the mapper gave {gave}; a mapper returns a Sample or a list of them"
            raise MappingError(message, value=sample)
    return samples


def _is_sample(value: Any) -> bool:
    """Return whether a value is a sample: ours, or Inspect's own, which has the same fields."""
    if isinstance(value, Sample):
        return True
    theirs = type(value).model_fields if isinstance(value, BaseModel) else {}
    return Sample.model_fields.keys() <= theirs.keys()


def map_values(
    records: Iterable[tuple[int, DatasetRecord]], mapper: FieldMapper, *, dataset: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the fields of the samples of records, with the numbers of the records."""
    values, number = mapper.values, 0
    try:
        for number, record in records:
            yield number, values(Row(record, number))
    except MappingError as error:
        raise error.at(dataset=dataset, record=number) from error.__cause__


def _field_mapper(spec: FieldSpec) -> Callable[[DatasetRecord], Sample]:
    to_metadata = _metadata_reader(spec.metadata)
    parts: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
        ("input", spec.input, values.to_input),
        ("target", spec.target, values.to_target),
        ("choices", spec.choices, values.to_choices),
        ("id", spec.id, values.to_id),
        ("sandbox", spec.sandbox, values.to_sandbox),
        ("files", spec.files, values.to_files),
        ("setup", spec.setup, values.to_setup),
    )

    def to_sample(record: DatasetRecord) -> Sample:
        metadata = to_metadata(record)
        read = {name: reader(record.get(column)) for name, column, reader in parts}
        return Sample(**read, metadata=metadata)

    return to_sample


def _metadata_reader(
    wanted: list[str] | type[BaseModel] | None,
) -> Callable[[DatasetRecord], dict[str, Any] | None]:
    if isinstance(wanted, list) and wanted:
        return lambda record: {name: record.get(name) for name in wanted}
    if isinstance(wanted, type):
        return _model_reader(wanted)
    return lambda record: values.to_metadata(record.get("metadata"))


def _model_reader(model: type[BaseModel]) -> Callable[[DatasetRecord], dict[str, Any] | None]:
    def read(record: DatasetRecord) -> dict[str, Any]:
        if not model.model_config.get("frozen", False):
            raise ValueError(f"Metadata model {model.__name__} must have frozen=True")
        data = values.to_metadata(record.get("metadata"))
        if data is None:
            data = {key: value for key, value in record.items() if key in model.model_fields}
        try:
            return model(**data).model_dump()
        except ValidationError as error:
            message = f"Could not parse metadata into {model.__name__}: {error}"
            raise MappingError(message, field="metadata", value=data) from error

    return read
