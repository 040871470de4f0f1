"""The evaluator gives what a plain interpreter of the field language gives, or an error as well."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from registry import MappingError
from registry.boundary.boundary import Boundary
from registry.decode.frame import MISSING, NotColumnarError
from registry.manifest.expressions import parse_condition, parse_expression
from registry.mapping.evaluation.batch import Records
from registry.mapping.evaluation.evaluate import Evaluator
from registry.mapping.operations import OPERATIONS
from tests.mapping import reference
from tests.roads.fields import conditions, expressions, steps
from tests.roads.outcome import frozen

ERROR = "error"

_texts = st.sampled_from(
    ["", "x", "y", "A", "é", " x ", "a,b", "x####1", "1", " 2 ", "q1", "[1]", '{"a": 1}', "['a']"]
) | st.text(max_size=3)
_scalars = (
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from([0.5, 1.0, math.nan]) | _texts
)
_inner = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(_texts, max_size=3)
        | st.dictionaries(
            st.sampled_from(["x", "x.y", "text", "label", "role", "z"]), inner, max_size=3
        )
    ),
    max_leaves=5,
)
_records = st.fixed_dictionaries(
    {"q": _texts},
    optional={
        "a": _inner,
        "b": _scalars,
        "n": st.integers(-1, 3) | _scalars,
        "m": _inner,
        **dict.fromkeys(["m.x", "item", "index.x", "k"], _scalars),
    },
)


def outcome(find: Callable[[], Any]) -> Any:
    try:
        return frozen(find())
    except Exception:  # noqa: BLE001 (any is the error of the record)
        return ERROR


def compare(
    of_batch: Callable[[Records], list[Any]], of_one: Callable[..., Any], records: list[Any]
) -> None:
    wanted = [outcome(lambda: of_one(record, 5 + n)) for n, record in enumerate(records)]  # noqa: B023
    for count, (record, one) in enumerate(zip(records, wanted, strict=True)):
        try:
            (found,) = of_batch(Records([record], [5 + count], Boundary()))
        except MappingError:
            assert one == ERROR, f"an error in place of {one}"
        else:
            assert frozen(found) == one
    try:
        together = of_batch(Records(records, range(5, 5 + len(records)), Boundary()))
    except (MappingError, NotColumnarError):
        assert ERROR in wanted
    else:
        assert frozen(together) == ("list", *wanted)


thorough = settings(
    max_examples=600,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def compiled(compile_raw: Callable[[Any], Any], raw: Any) -> Any:
    try:
        return compile_raw(raw)
    except ValueError:  # some drawn expressions are invalid
        reject()


@thorough
@given(expressions, st.lists(_records, min_size=1, max_size=4))
def test_expressions_give_what_the_reference_gives(raw: Any, records: list[Any]) -> None:
    function = compiled(lambda raw: Evaluator().of(parse_expression(raw)), raw)
    compare(function, lambda *where: reference.value(raw, *where), records)


@thorough
@given(conditions(expressions), st.lists(_records, min_size=1, max_size=4))
def test_conditions_hold_where_they_do_by_the_reference(raw: Any, records: list[Any]) -> None:
    function = compiled(lambda raw: Evaluator().condition(parse_condition(raw)), raw)
    compare(function, lambda *where: reference.condition(raw, *where), records)


@thorough
@given(
    steps,
    st.lists(
        st.fixed_dictionaries({"v": _inner, "q": _texts, "b": _scalars, "m": _inner}),
        min_size=1,
        max_size=4,
    ),
)
def test_operations_give_what_the_reference_gives(step: Any, records: list[Any]) -> None:
    raw = {"from": "v", "do": [step]}
    function = compiled(lambda raw: Evaluator().of(parse_expression(raw)), raw)
    compare(function, lambda *where: reference.value(raw, *where), records)


def test_the_reference_has_every_operation() -> None:
    assert {*reference.OPERATIONS, *reference.WITH_RECORD} == set(OPERATIONS)


def test_the_reference_runs_every_example() -> None:
    for operation in OPERATIONS.values():
        example = operation.example
        record = {**(example.record or {}), "value": example.value}
        raw = {"from": "value", "do": [example.step]}
        assert frozen(reference.value(raw, record, 1)) == frozen(example.result)


def test_a_missing_column_is_missing_to_both() -> None:
    assert reference.value("a.b", {"a": {}}, 1) is MISSING
