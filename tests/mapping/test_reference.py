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
from registry.mapping.batch import Records
from registry.mapping.evaluate import Evaluator
from registry.mapping.operations import OPERATIONS
from tests.mapping import reference
from tests.roads.fields import conditions, expressions, steps
from tests.roads.outcome import frozen

ERROR = "error"

# Few values, so that those of columns, items and operands are often equal.
_scalars = st.sampled_from(
    [None, True, False, 0, 1, 2, 1.0, 0.5, math.nan, "", "x", "x", "1", " x "]
)
_texts = st.sampled_from(["", "x", "A", "a,b", "x####1", "[1]", "[1, 1]", "é\u2028x"]) | st.text(
    max_size=3
)
_values = st.recursive(
    _scalars | _texts,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["x", "x.y", "y", "text", "role"]), inner, max_size=3)
    ),
    max_leaves=6,
)
_columns = ("a", "b", "n", "m", "m.x", "item", "item.x", "index.x", "k")
_records = st.fixed_dictionaries(
    {"q": _texts, "v": _scalars | st.lists(_scalars, min_size=1) | _values},
    optional=dict.fromkeys(_columns, _scalars | _values),
)
_lists = st.lists(_scalars, max_size=5)
_many = st.lists(_records, min_size=1, max_size=4) | st.lists(
    st.builds(lambda record, items: {**record, "v": items}, _records, _lists),
    min_size=2,
    max_size=4,
)
_comparison = st.one_of(
    st.builds(dict, equals=_scalars | _values),
    st.builds(dict, not_equals=_scalars | _values),
    st.builds(dict, **{"in": _lists}),
    st.builds(dict, not_in=_lists),
    *(
        st.builds(dict, **{name: st.sampled_from([1, 0.5, "x"])})
        for name in ("less", "at_most", "greater", "at_least")
    ),
    st.builds(dict, regex=st.sampled_from(["x", "^$", "1|é"])),
    st.builds(dict, empty=st.booleans()),
)
# Mostly one of them: all must hold.
_comparisons = st.one_of(
    _comparison, _comparison, st.builds(lambda one, two: {**one, **two}, _comparison, _comparison)
)
_names = st.sampled_from(["item", "index", "item.x", "index.x", "a", "x", "x.x"])
_scope = st.sampled_from([{}, {"item": "x"}, {"index": "a"}])
_own_steps = st.one_of(
    st.builds(
        lambda test, scope: {"each": {"where": {"value": "item", **test}, **scope}},
        _comparisons,
        st.just({}),
    ),
    st.builds(
        lambda to, scope: {"each": {"to": to, **scope}},
        _names | st.lists(_names, max_size=3),
        _scope,
    ),
    st.builds(
        lambda key, value, scope: {"dict": {"key": key, "value": value, **scope}},
        _names,
        _names,
        _scope,
    ),
    st.builds(
        lambda name, test: {name: test},
        st.sampled_from(["test", "keep", "letters_where"]),
        _comparisons,
    ),
    st.builds(
        lambda values: {"map": values},
        st.dictionaries(
            st.sampled_from(["true", "false", "null", "1", "1.0", "x", "*"]), _scalars, min_size=1
        ),
    ),
    st.sampled_from(
        [
            *["unique", "drop_null", "letters_where", "letter", {"letter": {"base": 1}}, "zip"],
            *["sort", "int", {"index": "k"}, {"slice": ["k", 1]}, "capitalize", "lines"],
            *[{"join": "-"}],
        ]
    ),
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
    max_examples=800,
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
@given(
    conditions(expressions) | _comparisons.map(lambda tests: {"value": "v", **tests}),
    st.lists(_records, min_size=1, max_size=4),
)
def test_conditions_hold_where_they_do_by_the_reference(raw: Any, records: list[Any]) -> None:
    function = compiled(lambda raw: Evaluator().condition(parse_condition(raw)), raw)
    compare(function, lambda *where: reference.condition(raw, *where), records)


@thorough
@given(steps | _own_steps | _own_steps, _many)
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
