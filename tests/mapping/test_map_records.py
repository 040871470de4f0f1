"""Records are mapped to samples by any kind of mapper; errors name the record."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import inspect_ai.dataset as theirs
import pytest
from pydantic import BaseModel, create_model

from registry import FieldSpec, MappingError, Sample, map_fields
from registry.mapping.map_records import map_records, map_values, record_mapper
from tests.mapping.one_record import Record

# --- functions ---


def test_error_of_a_function_has_the_record_number() -> None:
    def to_sample(record: Record) -> Sample:
        if record["id"] == 2:
            raise MappingError("is odd", field="target", value=record)
        return Sample(input="q")

    mapped = map_records([(1, {"id": 1}), (2, {"id": 2})], to_sample, dataset="sales")
    assert next(mapped) == (1, Sample(input="q"))
    with pytest.raises(MappingError) as caught:
        next(mapped)
    assert str(caught.value) == "sales: record 2, field target: is odd, value: {'id': 2}"


def test_function_that_creates_an_invalid_sample_is_a_mapping_error() -> None:
    mapped = map_records([(3, {"a": 1})], lambda record: Sample(input=record), dataset="sales")  # type: ignore[arg-type]
    with pytest.raises(MappingError, match=r"^sales: record 3: not a sample: ") as caught:
        next(mapped)
    assert caught.value.value == {"a": 1}


@pytest.mark.parametrize(
    ("result", "returned"),
    [
        (None, "None{rule}, value: None"),
        ({"input": "q"}, "a dict{rule}, value: {{'input': 'q'}}"),
        ("q", "a str{rule}, value: 'q'"),
        ((Sample(input="q"),), "a tuple{rule}, value: "),
        ((Sample(input=text) for text in "ab"), "a generator{rule}, value: "),
        (FieldSpec(), "a FieldSpec{rule}, value: "),
        ([Sample(input="q"), None], "a list with None{rule}, value: None"),
        ([[Sample(input="q")]], "a list with a list{rule}, value: "),
    ],
)
def test_function_that_does_not_return_a_sample_is_a_mapping_error(
    result: Any, returned: str
) -> None:
    mapped = map_records([(3, {"a": 1})], lambda _: result, dataset="sales")
    with pytest.raises(MappingError) as caught:
        list(mapped)
    message = returned.format(rule=", not a Sample or a list of them")
    assert str(caught.value).startswith(f"sales: record 3: the mapper returned {message}")


class _OwnSample(Sample):
    """A user's own class of samples."""


_NAMES = ("input", "choices", "target", "id", "metadata", "sandbox", "files", "setup")
_OlderSample = create_model("Sample", **dict.fromkeys(_NAMES, (Any, None)))  # type: ignore[call-overload]
"""Sample of Inspect AI before it had `description` and `checkpoint`."""


@pytest.mark.parametrize("kind", [Sample, _OwnSample, theirs.Sample, _OlderSample])
def test_function_may_return_any_sample_class_or_a_list_of_it(kind: Any) -> None:
    for made in (kind(input="q"), [kind(input="q"), kind(input="r")], []):
        several = made if isinstance(made, list) else [made]
        mapped = map_records([(3, {"a": 1})], lambda _, made=made: made, dataset="sales")  # type: ignore[misc]
        assert list(mapped) == [(3, sample) for sample in several]


# --- the field language ---


def test_field_mapper_gets_the_record_numbers() -> None:
    mapper = map_fields({"input": {"const": "q"}, "id": {"row_number": 1}})
    records: list[tuple[int, Record]] = [(4, {}), (9, {})]
    mapped = list(map_records(records, mapper, dataset="sales"))
    assert mapped == [(4, Sample(input="q", id=4)), (9, Sample(input="q", id=9))]
    values = list(map_values(records, mapper, dataset="sales"))
    assert [(number, Sample(**fields)) for number, fields in values] == mapped


def test_samples_before_an_error_are_yielded() -> None:
    mapped = map_values([(1, {"input": "q"}), (2, {})], map_fields({}), dataset="sales")
    assert next(mapped)[0] == 1
    with pytest.raises(MappingError) as caught:
        next(mapped)
    assert str(caught.value) == "sales: record 2, field input: no column 'input' (there are none)"


# --- `sample_fields` of the loaders ---


_OlderFieldSpec = partial(SimpleNamespace, **{name: name for name in _NAMES})
"""FieldSpec of Inspect AI before it had `description` and `checkpoint`."""


@pytest.mark.parametrize("kind", [FieldSpec, theirs.FieldSpec, _OlderFieldSpec])
def test_a_field_spec_names_the_columns(kind: Any) -> None:
    spec = kind(input="q", target="a", id="n", metadata=["x", "nowhere"])
    sample = record_mapper(spec)({"q": "x y", "a": None, "n": 5, "x": [1], "input": "other"})
    assert sample == Sample(input="x y", id=5, metadata={"x": [1], "nowhere": None})


class Info(BaseModel, frozen=True):
    """Metadata of a sample."""

    topic: str
    level: int = 1


class Changeable(BaseModel):
    """Metadata that may be changed."""


def test_metadata_invalid_for_the_model_is_a_mapping_error() -> None:
    with pytest.raises(MappingError, match="Could not parse metadata into Info") as caught:
        record_mapper(FieldSpec(metadata=Info))({"input": "q", "level": "high"})
    assert caught.value.field == "metadata"
    assert caught.value.value == {"level": "high"}


def test_a_model_of_metadata_must_be_frozen() -> None:
    with pytest.raises(ValueError, match=r"^Metadata model Changeable must have frozen=True$"):
        record_mapper(FieldSpec(metadata=Changeable))({"input": "q"})
