"""The `fields` of a manifest map a record to a sample; errors name field, record and dataset."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace
from typing import Any

import inspect_ai.dataset as theirs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, create_model

from registry import CheckpointSampleConfig, FieldSpec, MappingError, Sample, map_fields
from registry.manifest.expressions import parse_expression
from registry.manifest.models import FieldsSpec
from registry.mapping.field_mapper import FieldMapper, map_records, map_values, record_mapper
from registry.mapping.row import Row
from tests.mapping.one_record import Record, error_of, sample_of


def test_omitted_field_reads_the_column_of_its_name() -> None:
    record = {
        "input": "q",
        "target": "B",
        "choices": "a, b",
        "id": 7,
        "metadata": '{"topic": 1}',
        "more": 1,
    }
    sample = map_fields({})(record)
    assert sample == record_mapper(FieldSpec())(record)
    assert sample.choices == ["a", "b"]
    assert sample.metadata == {"topic": 1}
    assert map_fields({"id": {"row_number": 5}})(record).id == 5, "it counts as the first"


def test_some_fields_are_read_only_if_they_are_named() -> None:
    record = {"input": "q", "files": {"a.txt": "text"}, "setup": "echo", "sandbox": "docker"}
    record |= {"description": "d", "checkpoint": {"max_consecutive_failures": 2}}
    assert map_fields({})(record) == Sample(input="q")
    named = map_fields({name: name for name in record})(record)
    assert named == record_mapper(FieldSpec(description="description"))(record)
    assert (named.files, named.setup, named.description) == ({"a.txt": "text"}, "echo", "d")
    assert named.checkpoint == CheckpointSampleConfig(max_consecutive_failures=2)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("metadata", '{"a": 1, "a": 2}'),
        ("files", '{"a": "x", "a": "y"}'),
        ("sandbox", '["docker", {"a": 1, "a": 2}]'),
        ("checkpoint", '{"max_consecutive_failures": 2, "max_consecutive_failures": 3}'),
    ],
)
def test_json_in_a_text_is_read_exactly_or_not_at_all(field: str, text: str) -> None:
    record = {"input": "q", field: text}
    columns: dict[str, Any] = {field: field}
    assert getattr(record_mapper(FieldSpec(**columns))(record), field)  # as Inspect does
    assert "the key is repeated" in str(error_of({field: field}, record))


def test_null_leaves_a_field_empty() -> None:
    record = {"target": "a", "choices": ["x"], "id": 1, "metadata": {"a": 1}, "setup": "s"}
    fields = dict.fromkeys(["target", "choices", "id", "metadata", "setup"])
    assert sample_of(fields, record) == Sample(input="q")


@pytest.mark.parametrize(
    "field", ["target", "choices", "id", "metadata", "files", "sandbox", "setup"]
)
def test_missing_column_is_an_empty_field_as_in_the_loaders(field: str) -> None:
    assert sample_of({field: "nowhere"}, {"a": 1}) == Sample(input="q")


def test_error_of_a_missing_input_suggests_the_closest_column() -> None:
    error = error_of({"input": "qestion"}, {"id": 1, "question": "?"})
    assert str(error) == (
        "sales: record 17, field input: no column 'qestion' (did you mean 'question'?)"
    )


@pytest.mark.parametrize(
    ("choices", "result"),
    [
        (["a", " "], ["a"]),
        ([" ", "a", "", "b", "\u3000", ""], [" ", "a", "", "b"]),
        ([1, True], ["1", "True"]),
        ([""], []),
        ("a,,b", ["a", "b"]),
        (None, None),
    ],
)
def test_only_trailing_whitespace_choices_of_a_list_are_dropped(choices: Any, result: Any) -> None:
    assert sample_of({"choices": "x"}, {"x": choices}).choices == result


def test_record_number_defaults_to_one() -> None:
    mapper = map_fields({"input": {"const": "q"}, "id": {"row_number": 1}})
    assert mapper({}).id == 1
    assert mapper.map(Row({}, 9)).id == 9


def test_the_values_of_a_sample_need_no_validation() -> None:
    mapper = map_fields({"input": "q", "metadata": {"k": "x"}, "choices": None})
    values = mapper.values(Row({"q": "a", "x": 1, "target": 2}))
    assert Sample.model_construct(**values) == Sample(input="a", target="2", metadata={"k": 1})


@pytest.mark.parametrize("field", ["target", "choices"])
@pytest.mark.parametrize(
    ("expression", "listed"),
    [
        (["a", "n"], ["x", None]),
        (["a", {"const": math.nan}], ["x", math.nan]),
        ({"from": "l", "do": [{"slice": [0, 2]}]}, ["x", None]),
        ({"const": ["x", None]}, ["x", None]),
        ("l", ["x", None, "y"]),
    ],
)
def test_null_in_a_list_is_an_error(field: str, expression: Any, listed: Any) -> None:
    error = error_of({field: expression}, {"a": "x", "n": None, "l": ["x", None, "y"]})
    assert (error.field, error.value) == (field, pytest.approx(listed, nan_ok=True))
    assert error.message == "item 1 is null (add drop_null to leave it out)"


@pytest.mark.parametrize(
    ("field", "value", "message", "step"),
    [
        ("target", {"k": 1}, "is a dict (add dump to write it as text)", "dump"),
        ("choices", {"k": 1}, "is a dict (`do: [items]` gives the values)", "items"),
        ("setup", {"k": 1}, "is a dict (add dump to write it as text)", "dump"),
        ("setup", ["a"], "is a list (add dump to write it as text)", "dump"),
        ("target", ["x", {}], "item 1 is a dict (add {each: [dump]} to write it as text)", {"each": ["dump"]}),
        ("choices", ["x", [1]], "item 1 is a list (add {each: [dump]} to write it as text)", {"each": ["dump"]}),
        ("target", b"x", "is bytes (add {dump: {literal: true}} to write it as text)", {"dump": {"literal": True}}),
        ("choices", [b"x"], "item 0 is bytes (add {each: [{dump: {literal: true}}]} to write it as text)", {"each": [{"dump": {"literal": True}}]}),
    ],
)  # fmt: skip
def test_a_value_that_is_no_text_is_an_error_that_names_the_operation(
    field: str, value: Any, message: str, step: Any
) -> None:
    error = error_of({field: "x"}, {"x": value})
    assert (error.record, error.field, error.value, error.message) == (17, field, value, message)
    assert getattr(sample_of({field: {"from": "x", "do": [step]}}, {"x": value}), field)


@pytest.mark.parametrize(
    "expression", [["a", "n"], {"from": ["a", "n"], "do": []}], ids=["list", "pipe"]
)
def test_drop_null_removes_nulls(expression: Any) -> None:
    fields = {"choices": {"from": expression, "do": ["drop_null"]}}
    assert sample_of(fields, {"a": "x", "n": None}).choices == ["x"]


# --- metadata ---


@pytest.mark.parametrize(
    ("metadata", "result"),
    [
        (["a", "b.c", "nowhere"], {"a": 1, "b.c": 2, "nowhere": None}),
        ([], {}),
        ({"x": "a", "y": {"const": 5}, "z": "nowhere"}, {"x": 1, "y": 5, "z": None}),
        ({}, {}),
        ("b", {"c": 2}),
        ("j", {"k": [1]}),
        ("n", None),
        ("nowhere", None),
        (None, None),
        ("*", {"a": 1, "b": {"c": 2}, "j": '{"k": [1]}', "n": None}),
        ({"*": "b", "x": "a"}, {"c": 2, "x": 1}),
        ({"*": "b", "c": "a"}, {"c": 1}),
        ({"*": "n", "x": "a"}, {"x": 1}),
    ],
)
def test_metadata_is_a_list_a_mapping_a_column_or_the_record(metadata: Any, result: Any) -> None:
    record = {"a": 1, "b": {"c": 2}, "j": '{"k": [1]}', "n": None}
    assert sample_of({"metadata": metadata}, record).metadata == result


def test_metadata_does_not_change_the_record() -> None:
    record = {"input": "q", "metadata": {"a": 1}}
    metadata = map_fields({"metadata": {"*": "metadata", "b": {"const": 2}}})(record).metadata
    assert metadata == {"a": 1, "b": 2}
    assert record == {"input": "q", "metadata": {"a": 1}}


# --- errors ---


def test_an_error_has_dataset_record_field_operation_and_value() -> None:
    pipe = {"from": "answer", "do": [{"split": "####"}, {"index": -1}, "strip", {"index": -9}]}
    error = error_of({"target": pipe}, {"answer": "steps #### 18"})
    assert str(error) == (
        "sales: record 17, field target, operation index(-9): no item -9 among 2, value: '18'"
    )
    assert isinstance(error, ValueError)
    assert (error.dataset, error.record, error.field) == ("sales", 17, "target")
    assert (error.operation, error.value) == ("index(-9)", "18")


def test_an_error_in_metadata_names_the_key() -> None:
    error = error_of({"metadata": {"a b": {"from": "x", "do": ["strip"]}}}, {"x": []})
    assert str(error).startswith("sales: record 17, field metadata.a b, operation strip: ")


def test_long_values_are_shortened_in_the_middle() -> None:
    error = error_of({"target": {"from": "x", "do": ["letter"]}}, {"x": "a" * 50_000 + "z"})
    assert len(str(error)) < 250
    assert str(error).endswith("aaz'")
    assert error.value == "a" * 50_000 + "z"


@pytest.mark.parametrize(
    ("metadata", "keys"),
    [
        (["a", "b.c"], {"a": "a", "b.c": "b.c"}),
        ({"x": "a", "y": {"const": 1}}, {"x": "a", "y": {"const": 1}}),
        ({"*": "a", "x": "b"}, {"x": "b"}),
        ({"*": "*", "x": "b"}, {}),
        ("a", {}),
        ("*", {}),
        (None, {}),
    ],
)
def test_metadata_has_fixed_keys_where_no_whole_record_is_spread(
    metadata: Any, keys: dict[str, Any]
) -> None:
    mapper = FieldMapper(FieldsSpec(metadata=metadata))
    assert mapper.metadata_keys == {key: parse_expression(raw) for key, raw in keys.items()}
    assert mapper.spread == (
        "a" if isinstance(metadata, dict) and metadata.get("*") == "a" else None
    )


# --- what can not be compiled ---


def test_an_unknown_field_is_a_type_error() -> None:
    with pytest.raises(TypeError) as caught:
        map_fields({"inptu": "q"})
    assert str(caught.value) == "a sample has no field 'inptu' did you mean 'input'?"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"target": 5}, "field target: 5 is not an expression (write a constant as {const: 5})"),
        ({"metadata": {"a": {"template": "{?q}a"}}}, "field metadata.a: `{?q}` is not closed by `{/}`"),
        ({"metadata": 5}, "field metadata: 5 is not a column, a list of columns or a mapping"),
        ({"target": {"if": {"value": "q", "regex": "("}, "then": "q"}}, "field target: not a regular expression: missing ), unterminated subpattern at position 0"),
    ],
)  # fmt: skip
def test_an_invalid_expression_is_refused_before_any_record(
    fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=r"^field ") as caught:
        map_fields(fields)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "fields",
    [
        {"id": {"hash": ["q"], "algorithm": 5}},
        {"id": {"hash": ["q"], "length": "8"}},
        {"id": {"hash": ["q"], 5: 1}},
        {"metadata": {"*": 5}},
        {"target": {"template": "{q}", "with": ["q"]}},
        {"target": {"if": {"all": 5}, "then": "q"}},
        {"target": {"from": "q", "do": [{5: 1}]}},
        {"target": {"row_number": 1, "width": -1}},
        {"target": {"row_number": 1, "width": 10**9}},
    ],
)
def test_fields_invalid_by_the_schema_are_invalid_in_python(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^field "):
        map_fields({"input": "q", **fields})


@pytest.mark.parametrize("bug", [TypeError, AttributeError])
@pytest.mark.parametrize("function", ["parse_expression", "Evaluator.of"])
def test_bug_while_compiling_valid_fields_is_not_reported_as_invalid_fields(
    monkeypatch: pytest.MonkeyPatch, function: str, bug: type[Exception]
) -> None:
    def fail(*_: Any) -> None:
        raise bug("a bug of ours")

    monkeypatch.setattr(f"registry.mapping.field_mapper.{function}", fail)
    with pytest.raises(bug, match=r"^a bug of ours$"):
        map_fields({"target": "a"})
    with pytest.raises(bug, match=r"^a bug of ours$"):
        FieldMapper(FieldsSpec(target="a"))


def test_a_template_of_the_greatest_depth_is_filled() -> None:
    template = f"{'{?a}' * 32}x{'{/}' * 32}"
    assert map_fields({"input": {"template": template}})({"a": "1"}).input == "x"


FIELD_NAMES = FieldsSpec.__struct_fields__
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(
    LEAVES | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.fixed_dictionaries({"role": st.just("user"), "content": inner})
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELD_NAMES), VALUES))
def test_any_record_maps_to_a_sample_or_a_mapping_error(record: Record) -> None:
    try:
        samples = list(map_records([(1, record)], map_fields({}), dataset="d"))
    except MappingError:
        return
    assert len(samples) == 1


EXPRESSIONS = st.recursive(
    LEAVES | st.sampled_from(["a", "b.c", "{a}"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.builds(lambda value: {"const": value}, inner)
        | st.builds(lambda value, steps: {"from": value, "do": steps}, inner, st.lists(inner))
        | st.builds(lambda value: {"hash": value}, inner)
        | st.builds(lambda value: {"template": value}, inner)
        | st.builds(lambda value, then: {"if": {"value": value, "equals": 1}, "then": then}, inner, inner)
        | st.builds(lambda value: {"object": {"k": value}}, inner)
        | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=6,
)  # fmt: skip


def _mapper_or_none(fields: dict[str, Any]) -> Any:
    try:
        return map_fields(fields)
    except ValueError:
        return None


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS, VALUES)
def test_any_expression_is_compiled_or_refused(expression: Any, value: Any) -> None:
    mapper = _mapper_or_none({"input": {"const": "q"}, "metadata": {"made": expression}})
    if mapper is None:
        return
    try:
        list(map_records([(1, {"a": value, "b": {"c": value}})], mapper, dataset="d"))
    except MappingError as error:
        text = str(error)
    else:
        return
    assert text.startswith("d: record 1, field metadata.made")


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
