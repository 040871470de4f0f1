"""What the kernels return for generated expressions and columns equals what records give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from registry.decode.frame import Frame
from registry.errors import MappingError
from registry.manifest.expressions import parse_condition, parse_expression
from registry.mapping.columnar.expressions import NoKernelError, evaluate, indices_where
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.conditions import compile_condition
from registry.mapping.evaluate import compile_expression
from registry.mapping.row import MISSING
from tests.mapping.columnar.views import records_of

_characters = st.sampled_from(
    [*"aA,x: \n\t\r\0\x0b\x1c\x1f\x85", "é", "\u2028", "\u3000", "\U0001f600"]
)
_ascii_texts = st.text(st.sampled_from("aAb,x: \n1#/"), max_size=8)
_texts = st.one_of(
    st.text(_characters, max_size=6),
    _ascii_texts,
    _ascii_texts,
    st.sampled_from(["", "1", "-0", " 07 ", "2.50", "true", "x,y,x", "B", "a####b"]),
)
_KINDS: tuple[tuple[pa.DataType, st.SearchStrategy[Any]], ...] = (
    (pa.string(), _texts),
    (pa.large_string(), _texts),
    (pa.int64(), st.sampled_from([-1, 0, 1, 2, 25, 26, 2**62])),
    (pa.int8(), st.integers(0, 3)),
    (pa.float64(), st.sampled_from([0.5, -0.0, 1.0, float("nan"), float("inf"), 1e300])),
    (pa.float32(), st.sampled_from([0.5, float("nan")])),
    (pa.bool_(), st.booleans()),
    (pa.list_(pa.string()), st.lists(_texts, max_size=4)),
    (pa.large_list(pa.large_string()), st.lists(st.one_of(_texts, st.none()), max_size=4)),
)
_names = st.sampled_from(["t", "t", "l", "l", "n", "a", "b", "none"])
_literals = st.sampled_from(
    ["x", "", "B", "1", 1, 0, -1, 2.5, 1.0, True, None, ["x"], [], ["x", "y"]]
)
_tests = st.one_of(
    st.fixed_dictionaries({"equals": _literals}),
    st.fixed_dictionaries({"not_equals": _literals}),
    st.fixed_dictionaries({"in": st.lists(_literals, max_size=2)}),
    st.fixed_dictionaries({"not_in": st.lists(_literals, max_size=2)}),
    st.fixed_dictionaries({"empty": st.booleans()}),
    st.fixed_dictionaries({"regex": st.sampled_from(["x", "^$", "^a", r"\d$", "[^x]", "a|x,"])}),
    st.fixed_dictionaries({"less": st.sampled_from([1, 0.5, "a"]), "at_least": st.just(0)}),
    st.fixed_dictionaries({"at_most": st.sampled_from([1, 0.5, "a"])}),
    st.fixed_dictionaries({"greater": st.sampled_from([1, 2.0, "a"])}),
)
_text_steps = st.sampled_from(
    [
        *["lower", "upper", "capitalize", "strip", "lines", "int", "float", "str", "len", "letter"],
        *[{"strip": characters} for characters in ("x", " ,", "é", "")],
        *[{"split": separator} for separator in (",", "####", "é", "\n", "xx", ": ")],
        *[{"replace": {"x": "", "a": "é"}}, {"replace": {"é": "xx"}}, {"letter": {"base": 1}}],
        *[{"regex": pattern} for pattern in ("a", "x(.*)", r"(\w+), ?", "(?s)a.*?x", r"^\s*(.)")],
        *[{"regex": {"pattern": pattern, "optional": True}} for pattern in (r"\d+", "x?", "a$")],
        *[{"sub": {"pattern": pattern}} for pattern in (r"^a", r"\s+$", "[^a-x]+", "(a|x)b?")],
        {"sub": {"pattern": "x{1,2}", "to": "é"}},
        {"map": {"x": "y", "*": 1}},
        {"map": {"x": ["y"], "1": ["z", "z"], "true": ["t"], "null": None, "*": []}},
        {"map": {"*": "x"}},
    ]
)
_list_steps = st.sampled_from(
    [
        *[{"join": separator} for separator in ("", ", ", "é")],
        *["len", "unique", "sort", "drop_null", {"drop_null": {"blank": True}}],
        *[{"each": step} for step in ("strip", "len", [{"split": ","}], [{"default": "x"}], [])],
        {"each": ["upper", {"replace": {"X": "é"}}]},
    ]
)
_bounds = st.sampled_from([None, 0, 1, -1, 2, -3, "n", {"const": 1}])
_positions = st.sampled_from([0, 0, -1, 1, 3, "n"])
_steps = st.one_of(
    _text_steps,
    _list_steps,
    _positions.map(lambda position: {"index": position}),
    st.tuples(_bounds, _bounds).map(lambda bounds: {"slice": list(bounds)}),
    _literals.map(lambda value: {"default": value}),
    _literals.map(lambda value: {"equals": value}),
    _tests.map(lambda tests: {"test": tests}),
    _tests.map(lambda tests: {"keep": tests}),
    st.sampled_from([{"coalesce": ["a", "t"]}, {"coalesce": "none"}, "nonempty"]),
    st.sampled_from([{"letter_in": "l"}, {"letter_in": {"const": ["x", "", "B", "x"]}}]),
)
_templates = st.lists(
    st.sampled_from(
        ["{t}", "{a}", "{b|}", "{a|é}", "{n}", "{v}", "{?a}A {a}{/}", "{?b}x{?a}y{/}{/}", "z"]
    ),
    max_size=3,
).map("".join)


def _conditions(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    one = st.tuples(inner, _tests).map(lambda pair: {"value": pair[0], **pair[1]})
    several = st.lists(one, max_size=2)
    return st.one_of(
        one,
        several,
        st.fixed_dictionaries({"any": several}),
        one.map(lambda condition: {"not": condition}),
    )


def _grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pipe = st.fixed_dictionaries({"from": inner, "do": st.lists(_steps, min_size=1, max_size=3)})
    return st.one_of(
        pipe,
        pipe,
        st.lists(inner, max_size=3),
        st.fixed_dictionaries({"if": _conditions(inner), "then": inner}, optional={"else": inner}),
        st.fixed_dictionaries(
            {"template": _templates, "with": st.fixed_dictionaries({"v": inner})}
        ),
        st.fixed_dictionaries({"hash": st.lists(inner, min_size=1, max_size=2)}),
    )


_leaves = st.one_of(_names, _names, _literals.map(lambda value: {"const": value}))
_expressions = st.recursive(_leaves, _grown, max_leaves=3)


@st.composite
def _views(draw: st.DrawFn) -> RecordBatchView:
    """Draw records: `t` has strings, `l` lists of strings, `n` integers; `a` and `b` anything."""
    count = draw(st.integers(1, 4))
    kinds = {"t": _KINDS[0], "l": _KINDS[7], "n": _KINDS[3]}
    kinds |= {name: draw(st.sampled_from(_KINDS)) for name in ("a", "b")}
    columns = []
    for name, (kind, values) in kinds.items():
        nullable = name in "ab" and draw(st.booleans())
        one = st.one_of(values, st.none()) if nullable else values
        before = draw(st.integers(0, 1))  # a part of a longer column
        size = count + before
        columns.append(pa.array(draw(st.lists(one, min_size=size, max_size=size)), kind)[before:])
    batch = pa.record_batch(columns, list(kinds))
    return RecordBatchView(Frame(batch), {}, np.arange(1, count + 1))


def _same(left: Any, right: Any) -> bool:
    return repr(left) == repr(right)  # unlike `==`, it distinguishes 1, 1.0 and true, and -0.0


def _check(raw: Any, view: RecordBatchView) -> None:
    expression = parse_expression(raw)
    one_by_one = compile_expression(expression)
    try:
        column = evaluate(expression, view)
    except NoKernelError:
        event("no column")
        return
    except MappingError:
        event("an error")
        with pytest.raises(MappingError):
            list(map(one_by_one, records_of(view)))
        return
    event("column")
    column.validate(full=True)
    wanted = list(map(one_by_one, records_of(view)))
    assert _same(column.to_pylist(), [None if value is MISSING else value for value in wanted])


@settings(deadline=None, max_examples=300)
@given(_expressions, _views())
def test_columns_have_what_records_give(raw: Any, view: RecordBatchView) -> None:
    _check(raw, view)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(["t", "l", "a"]), st.lists(_steps, min_size=1, max_size=3), _views())
def test_operations_return_what_records_give(
    start: str, steps: list[Any], view: RecordBatchView
) -> None:
    _check({"from": start, "do": steps}, view)


@settings(deadline=None, max_examples=200)
@given(_conditions(_leaves), _views())
def test_conditions_select_the_same_records(raw: Any, view: RecordBatchView) -> None:
    condition = parse_condition(raw)
    try:
        indices = indices_where(condition, view).to_pylist()
    except NoKernelError:
        return
    holds = compile_condition(condition, compile_expression)
    assert indices == [at for at, row in enumerate(records_of(view)) if holds(row)]
