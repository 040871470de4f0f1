"""Apply one operation to a value as a field of a manifest does; return its result or error."""

from __future__ import annotations

from typing import Any

import pytest

from registry.errors import MappingError
from registry.mapping.field_mapper import FieldMapper, map_fields, map_records
from registry.mapping.operations.base import OF_NULL


def made_by(step: Any) -> FieldMapper:
    """Compile a mapper whose metadata has the result of a step for the value of a column."""
    pipe = {"from": "value", "do": [step]}
    return map_fields({"input": {"const": "q"}, "metadata": {"made": pipe}})


def applied(mapper: FieldMapper, value: Any, record: dict[str, Any] | None = None) -> Any:
    """Return what such a mapper gives for a value."""
    ((_, sample),) = map_records([(17, {**(record or {}), "value": value})], mapper, dataset="d")
    assert sample.metadata is not None
    return sample.metadata["made"]


def run(step: Any, value: Any, record: dict[str, Any] | None = None) -> Any:
    """Return the result of a step for the value of a column."""
    return applied(made_by(step), value, record)


def check_result(step: Any, value: Any, result: Any) -> None:
    """Check the result of a step, and its type."""
    found = run(step, value)
    assert found == result
    assert type(found) is type(result)


def error_of(step: Any, value: Any, record: dict[str, Any] | None = None) -> MappingError:
    """Return the error of a step that can't work on a value."""
    with pytest.raises(MappingError) as caught:
        run(step, value, record)
    return caught.value


def needed(message: str, value: Any) -> str:
    """Return the message for a value of the wrong type: of null it says more."""
    return f"{message}{OF_NULL}" if value is None and "needs " in message else message


def check_error(step: Any, value: Any, operation: str, message: str) -> None:
    """Check the error of a step: its place, its message and the value."""
    error = error_of(step, value)
    assert (error.dataset, error.record, error.field) == ("d", 17, "metadata.made")
    assert (error.operation, error.message) == (operation, needed(message, value))
    assert error.value == value


def argument_error(step: Any) -> str:
    """Return the error message for an invalid argument of a step."""
    with pytest.raises(ValueError, match=r"^field target: ") as caught:
        map_fields({"input": "q", "target": {"from": "a", "do": [step]}})
    return str(caught.value).removeprefix("field target: ")


def refusal(step: Any) -> str:
    """Return the error message for an invalid argument, without the name of the operation."""
    name = step if isinstance(step, str) else next(iter(step))
    return argument_error(step).removeprefix(f"operation {name}: ")


def returns(*rows: tuple[Any, Any, Any]) -> Any:
    """Make the test that steps give results for values: rows of step, value and result."""

    @pytest.mark.parametrize(("step", "value", "result"), rows)
    def test(step: Any, value: Any, result: Any) -> None:
        check_result(step, value, result)

    return test


def refuses(*rows: tuple[Any, Any, str, str]) -> Any:
    """Make the test of values that steps refuse: rows of step, value, operation and message."""

    @pytest.mark.parametrize(("step", "value", "operation", "message"), rows)
    def test(step: Any, value: Any, operation: str, message: str) -> None:
        check_error(step, value, operation, message)

    return test


def forbids(*rows: tuple[Any, str]) -> Any:
    """Make the test of steps that are refused before any record: rows of step and message."""

    @pytest.mark.parametrize(("step", "message"), rows)
    def test(step: Any, message: str) -> None:
        assert refusal(step) == message

    return test
