"""Operations on strings, numbers, dates and JSON: results and errors."""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from contextlib import nullcontext, suppress
from datetime import datetime
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from registry.base.digest import encode_value
from registry.errors import MappingError
from tests.mapping.operations.one_step import error_of, forbids, refuses, returns, run

test_an_operation_returns = returns(
    ("int", "-7", -7),
    ("int", 7.0, 7),
    ("float", "1e3", 1000.0),
    ("str", True, "True"),
    ("str", 1.0, "1.0"),
    ("parse", "[1, null]", [1, None]),
    ({"parse": "json"}, '"a"', "a"),
    ({"parse": "literal"}, "(1, 2)", [1, 2]),
    ({"parse": "literal"}, " {'a': None}", {"a": None}),
    ({"dump": {"ascii": True}}, "é", '"\\u00e9"'),
    ("dump", "é", '"é"'),
    ({"dump": {"indent": 1}}, [1], "[\n 1\n]"),
    ({"dump": {"literal": True}}, {"a": [1, None, "it's"]}, """{'a': [1, None, "it's"]}"""),
    ("date", "2024-05-02T10:00:00+00:00", datetime.fromisoformat("2024-05-02T10:00:00+00:00")),
    ("int", True, 1),
    ("float", 2, 2.0),
    ("str", "a", "a"),
    ({"parse": "literal"}, "[(1,)]", [(1,)]),
    ({"parse": "literal"}, """['a","b', "it's", 'c']""", ['a","b', "it's", "c"]),
    ({"parse": "literal"}, """['a' "it's"\n '' # 'x' 'y'\n]""", ["a", "it's", ""]),
    ({"parse": "literal"}, "['a', # x\n 'b', '''c' 'd''']", ["a", "b", "c' 'd"]),
    ({"parse": "literal"}, "{'a': array(['x'], dtype='<U1'), 'b': array([1])}", {"a": ["x"], "b": [1]}),
    ({"parse": "literal"}, "['a, dtype=object)', 'array(']", ["a, dtype=object)", "array("]),
    ("dump", b"a", '{"$bytes": "YQ=="}'),
)  # fmt: skip


test_a_value_of_the_wrong_type_is_refused = refuses(
    ("int", "4.5", "int", "is not a number"),
    ("int", 4.5, "int", "is not an integer"),
    ("int", math.inf, "int", "is not an integer"),
    ("int", "9" * 5000, "int", "is too long for a number"),
    ("float", "x", "float", "is not a number"),
    ("float", None, "float", "needs a number, or a string of one"),
    ("str", None, "str", "needs a string, a number or a boolean"),
    ("parse", "{", "parse", "is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    ({"date": "%Y"}, "May", "date(%Y)", "is not a date: time data 'May' does not match format '%Y'"),
    ("dump", {1}, "dump", "a value of type set can't be stored"),
    ({"dump": {"literal": True}}, {1}, "dump({'literal': True})", "a value of type set can't be stored"),
    ("date", 5, "date", "is not a date: Invalid isoformat string: '5'"),
    ("parse", [], "parse", "needs a string"),
    ("parse", '{"a": NaN}', "parse", "can't be read exactly: a: NaN is not JSON: line 1 column 7 (char 6)"),
    ("parse", "1e400", "parse", "can't be read exactly: 1e400 is beyond the range of a float: line 1 column 1 (char 0)"),
    ("parse", '{"a": 1, "a": 2}', "parse", "can't be read exactly: a: the key is repeated: line 1 column 10 (char 9)"),
    ({"parse": "literal"}, "{-1: 'a', -1: 'b'}", "parse(literal)", "can't be read exactly: the key -1 is repeated"),
    ({"parse": "literal"}, "[{'a': 1, 'b': 2, 'a': 2}]", "parse(literal)", "can't be read exactly: the key 'a' is repeated"),
)  # fmt: skip


test_an_invalid_argument_is_refused_before_any_record = forbids(
    ({"parse": "yaml"}, "takes json or literal"),
    ({"int": 1}, "takes no argument, got 1"),
    ({"dump": {"sort": True}}, "unknown option 'sort', known: ascii, indent, literal"),
    ({"dump": {"indent": 9}}, "`indent` is a number of spaces, at most 8"),
    ({"dump": {"literal": True, "indent": 1}}, "`literal` excludes `ascii` and `indent`, which are for JSON"),
    ({"date": 5}, "takes a format such as %Y-%m-%d, a string"),
    ({"date": "%Y %Z"}, "%Z takes names of zones that depend on the machine: %z takes offsets such as +0200, and other text stands for itself"),
    ({"date": "%Y %Y"}, "the format '%Y %Y' has a directive twice"),
)  # fmt: skip


_PARTS = [
    *"'\"{}[](),: \n\t\\#-ué01",
    *["'a'", "'b': ", "''", r"'\/'", "1e5", "1.50", "-0", "9" * 20],
    *["true", "True", "false", "null", "None", "NaN"],
]
_LITERALS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(["a", ",", "'", '"', "\\", ":", "é", "\t", " ", "\x1f", "\ud800"], max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab:", max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
).map(repr)


@settings(max_examples=500)
@given(st.lists(st.sampled_from(_PARTS), max_size=8).map("".join) | _LITERALS)
def test_a_literal_is_what_python_reads(text: str) -> None:
    try:
        with warnings.catch_warnings(action="ignore"):
            expected = ast.literal_eval(text.strip())
        encode_value(expected)
    except (ValueError, SyntaxError, TypeError):
        assert error_of({"parse": "literal"}, text).operation == "parse(literal)"
        return
    # Two strings, as NumPy writes them; or such a text within a string.
    assume(repr(expected) == text or not re.search(r"['\"]\s+['\"]", text))
    if isinstance(expected, tuple):
        expected = list(expected)
    with suppress(MappingError) if text.count(":") > 1 else nullcontext():  # a repeated key
        assert repr(run({"parse": "literal"}, text)) == repr(expected)


@given(_LITERALS.map(ast.literal_eval), st.booleans(), st.none() | st.integers(0, 8))
def test_dumped_json_is_that_of_python(value: Any, ascii: bool, indent: int | None) -> None:
    expected = json.dumps(encode_value(value), ensure_ascii=ascii, indent=indent)
    assert run({"dump": {"ascii": ascii, "indent": indent}}, value) == expected


def test_literal_error_is_deterministic() -> None:
    error = error_of({"parse": "literal"}, "name")
    assert "malformed node or string" in str(error)
    assert "0x" not in str(error)


def test_reading_a_literal_does_not_warn() -> None:
    # Python warns of escapes that it does not know; data is not the place to look for them.
    assert run({"parse": "literal"}, r"'\d'") == r"\d"


def test_a_literal_that_no_string_can_be_made_of_is_an_error() -> None:
    error = error_of({"parse": "literal"}, "[0x" + "f" * 5000 + "]")
    assert "Exceeds the limit (4300 digits)" in error.message


@pytest.mark.parametrize("text", ["{'a', 'b'}", "[{'a'}]", "...", "1 + 2j"])
def test_literal_that_json_can_not_represent_is_an_error(text: str) -> None:
    # A set of texts has a different order in each process.
    assert error_of({"parse": "literal"}, text).operation == "parse(literal)"
