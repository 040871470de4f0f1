"""Map one record by the field language: its sample, the value of an expression, or the error."""

from __future__ import annotations

from typing import Any

import pytest

from registry import MappingError, Sample, map_fields
from registry.mapping.field_mapper import map_records

Record = dict[str, Any]


def sample_of(fields: dict[str, Any], record: Record, *, number: int = 17) -> Sample:
    """Map one record; the input is a constant unless the fields contain it."""
    mapper = map_fields({"input": {"const": "q"}, **fields})
    ((found, sample),) = map_records([(number, record)], mapper, dataset="sales")
    assert found == number
    return sample


def error_of(fields: dict[str, Any], record: Record) -> MappingError:
    """Return the error of mapping a record."""
    with pytest.raises(MappingError) as caught:
        sample_of(fields, record)
    return caught.value


def value_of(expression: Any, record: Record, *, number: int = 1) -> Any:
    """Evaluate an expression as metadata, which does not convert its value."""
    metadata = sample_of({"metadata": {"made": expression}}, record, number=number).metadata
    assert metadata is not None
    return metadata["made"]
