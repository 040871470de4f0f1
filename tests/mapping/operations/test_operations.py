"""The table of operations: every example runs, and only MappingErrors are raised."""

from __future__ import annotations

import functools
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from registry.errors import MappingError
from registry.manifest.expressions import OperationCall
from registry.manifest.paths import strings_in
from registry.manifest.schema import read_schema
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.operations import OPERATIONS, build_operation
from tests.mapping.operations.one_step import applied, argument_error, made_by, run

if TYPE_CHECKING:
    from registry.mapping.operations.base import Operation

SCHEMA = read_schema("manifest")


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_the_example_of_each_operation_runs(operation: Operation) -> None:
    example = operation.example
    result = run(example.step, example.value, example.record)
    assert result == example.result
    assert type(result) is type(example.result)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_each_operation_is_documented_under_its_own_name(operation: Operation) -> None:
    step = operation.example.step
    assert operation.name == (step if isinstance(step, str) else next(iter(step)))
    assert operation.summary.endswith(".")
    assert "\n" not in operation.summary


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_texts_that_an_argument_puts_into_results_are_named(operation: Operation) -> None:
    example = operation.example
    argument = None if isinstance(example.step, str) else example.step[operation.name]
    for _, text in strings_in(argument):
        changed = json.loads(json.dumps(argument).replace(json.dumps(text), '"MARK"'))
        with suppress(MappingError, ValueError):
            if "MARK" in repr(run({operation.name: changed}, example.value, example.record)):
                assert "MARK" in repr((operation.texts(changed), operation.expressions(changed)))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("stripp", "no operation 'stripp' did you mean 'strip'?"),
        ({"zzzzzz": 1}, "no operation 'zzzzzz'"),
        ({"split": ""}, "operation split: takes the separator, a string that is not empty"),
        ({"each": ["stripp"]}, "operation each: no operation 'stripp' did you mean 'strip'?"),
    ],
)
def test_an_invalid_step_is_refused_before_any_record(step: Any, message: str) -> None:
    assert argument_error(step) == message


@pytest.mark.parametrize("bug", [TypeError, AttributeError])
def test_bug_in_a_builder_is_not_reported_as_an_invalid_argument(
    monkeypatch: pytest.MonkeyPatch, bug: type[Exception]
) -> None:
    def build(argument: Any, compiler: Any) -> Any:
        raise bug("a bug of ours")

    broken = type(OPERATIONS["strip"])("strip", "", build, OPERATIONS["strip"].example)
    monkeypatch.setitem(OPERATIONS, "strip", broken)
    with pytest.raises(bug, match=r"^a bug of ours$"):
        build_operation(OperationCall("strip"), None)  # type: ignore[arg-type]


# --- properties ---

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["1", " 2 ", "[1]", "{'a': 1}", "2024-01-01", "A", "9" * 5000, "\ud800"])
)
FROM_PARQUET = st.binary() | st.datetimes() | st.decimals()
VALUES = st.recursive(
    SCALARS | FROM_PARQUET,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
RECORDS = st.fixed_dictionaries({}, optional=dict.fromkeys(["b", "c", "labels"], VALUES))


def only_mapping_errors(mapper: FieldMapper, value: Any, record: dict[str, Any]) -> None:
    try:
        applied(mapper, value, record)
    except MappingError as error:
        place, text = (error.dataset, error.record, error.field), str(error)
    else:
        return
    assert place == ("d", 17, "metadata.made")
    assert text.startswith("d: record 17, field metadata.made")


@functools.cache
def mapper_of_example(name: str) -> FieldMapper:
    return made_by(OPERATIONS[name].example.step)


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=40, deadline=None)
@given(value=VALUES, record=RECORDS)
def test_any_value_gives_a_result_or_a_mapping_error(
    name: str, value: Any, record: dict[str, Any]
) -> None:
    only_mapping_errors(mapper_of_example(name), value, record)


ARGUMENTS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(), inner, max_size=3)
        | st.dictionaries(st.sampled_from(["pattern", "to", "equals", "less", "in"]), inner)
    ),
    max_leaves=5,
)


@functools.cache
def validator_of(name: str) -> Draft202012Validator:
    definitions = SCHEMA["$defs"]
    argument = definitions["operation"]["properties"][name]
    return Draft202012Validator({"$defs": definitions, **argument})


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=40, deadline=None)
@given(argument=ARGUMENTS, value=VALUES)
def test_any_argument_that_the_schema_accepts_is_built_or_refused(
    name: str, argument: Any, value: Any
) -> None:
    if not validator_of(name).is_valid(argument):
        return
    try:
        mapper = made_by({name: argument})
    except ValueError as error:
        refused = str(error)
    else:
        only_mapping_errors(mapper, value, {})
        return
    assert refused.startswith("field metadata.made: operation ")
