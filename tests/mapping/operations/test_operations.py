"""The operations of the field language: what each gives, and how each refuses."""

from __future__ import annotations

import functools
import math
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from registry.errors import MappingError
from registry.manifest.schema import read_schema
from registry.mapping import map_fields, map_records
from registry.mapping.operations import OPERATIONS

if TYPE_CHECKING:
    from registry.mapping.operations.base import Operation

SCHEMA = read_schema("manifest")


def run(step: Any, value: Any, record: dict[str, Any] | None = None) -> Any:
    """Apply one step to a value, the way a manifest's field does."""
    pipe = {"from": "value", "do": [step]}
    mapper = map_fields({"input": {"const": "q"}, "metadata": {"made": pipe}})
    ((_, sample),) = map_records([(17, {**(record or {}), "value": value})], mapper, dataset="d")
    assert sample.metadata is not None
    return sample.metadata["made"]


def refusal(step: Any, value: Any, record: dict[str, Any] | None = None) -> MappingError:
    with pytest.raises(MappingError) as caught:
        run(step, value, record)
    return caught.value


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


@pytest.mark.parametrize(
    ("step", "value", "result"),
    [
        ({"split": ","}, "", [""]),
        ({"split": ","}, "a,,b", ["a", "", "b"]),
        ({"split": "."}, 1.5, ["1", "5"]),
        ("lines", "a\r\nb\n", ["a", "b"]),
        ({"strip": "()"}, "((a))", "a"),
        ("upper", "straße", "STRASSE"),
        ({"replace": {"a": "b", "b": "c"}}, "ab", "cc"),
        ({"regex": "a(b)|c(d)"}, "xcd", "d"),
        ({"regex": "b+"}, "abbb", "bbb"),
        ({"regex": {"pattern": "[0-9]", "all": True}}, "a1b2", ["1", "2"]),
        ({"regex": {"pattern": "x", "all": True}}, "a", []),
        ({"regex": {"pattern": "x", "optional": True}}, "a", None),
        ({"sub": {"pattern": "[aeiou]"}}, "vowel", "vwl"),
        ({"sub": {"pattern": "(a)(b)", "to": r"\2\1"}}, "abc", "bac"),
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
        ("date", "2024-05-02T10:00:00+00:00", datetime.fromisoformat("2024-05-02T10:00:00+00:00")),
        ({"index": 0}, "abc", "a"),
        ({"index": -3}, [1, 2, 3], 1),
        ({"slice": [None, None]}, [1, 2], [1, 2]),
        ({"slice": [5, 9]}, "abc", ""),
        ({"slice": [-2, None]}, "abc", "bc"),
        ({"join": ""}, [], ""),
        ({"join": "-"}, ["a", 1, 2.5], "a-1-2.5"),
        ({"each": ["strip", {"index": 0}]}, [" ab", "c "], ["a", "c"]),
        ({"each": ["strip"]}, [], []),
        ("drop_null", [None, "", math.nan, 0, False], ["", 0, False]),
        ("drop_null", {"a": None, "b": 1}, {"b": 1}),
        ({"drop_null": {"blank": True}}, [" \t", "a"], ["a"]),
        ({"pluck": "a"}, [], []),
        ("items", {"a": [1], "b": None}, [[1], None]),
        ("len", "", 0),
        ("len", {"a": 1}, 1),
        ({"map": {"true": "Yes", "false": "No"}}, True, "Yes"),
        ({"map": {"null": "none", "*": "other"}}, None, "none"),
        ({"map": {"a": 1, "*": "other"}}, "b", "other"),
        ({"map": {"1.5": "x"}}, 1.5, "x"),
        ({"default": 0}, "", 0),
        ({"default": 0}, [], 0),
        ({"default": 1}, 0, 0),
        ({"default": 1}, False, False),
        ({"coalesce": ["nowhere", "value"]}, "", None),
        ("nonempty", 0, True),
        ({"equals": 1}, True, False),
        ({"equals": 1}, 1.0, True),
        ({"test": {"less": 3}}, None, False),
        ({"keep": {"greater": 1}}, [1, 2, 3], [2, 3]),
        ({"letter": {"base": 1}}, 1, "A"),
        ("letter", "2 ", "C"),
        ("letter", 25, "Z"),
        ("letter", 26, "1"),
        ({"letter_in": {"const": ["a", "b"]}}, "b", "B"),
        ("letters_where", [], []),
        ({"letters_where": {"equals": "yes"}}, ["no", "yes"], ["B"]),
        ({"letters_where": {"greater": 0.5}}, [0.2, 0.9], ["B"]),
        ("messages", "Hello", [{"role": "user", "content": "Hello"}]),
        ("data_uri", "data:image/png;base64,AA==", "data:image/png;base64,AA=="),
        ("data_uri", {"bytes": b"\xff\xd8\xff", "path": None}, "data:image/jpeg;base64,/9j/"),
        ({"data_uri": "image/x"}, b"a", "data:image/x;base64,YQ=="),
    ],
)  # fmt: skip
def test_what_operations_give(step: Any, value: Any, result: Any) -> None:
    found = run(step, value)
    assert found == result
    assert type(found) is type(result)


@pytest.mark.parametrize("name", ["default", "coalesce", "nonempty", "test"])
def test_some_operations_take_a_column_that_is_missing(name: str) -> None:
    argument = {"default": "d", "coalesce": {"const": "d"}, "test": {"empty": True}}
    step = {name: argument[name]} if name in argument else name
    mapper = map_fields(
        {"input": {"const": "q"}, "metadata": {"made": {"from": "x", "do": [step]}}}
    )
    expected = {"default": "d", "coalesce": "d", "nonempty": False, "test": True}
    assert mapper({}).metadata == {"made": expected[name]}


def test_constants_are_not_shared_between_samples() -> None:
    pipe = {"from": "x", "do": [{"default": {"list": []}}]}
    mapper = map_fields({"input": {"const": "q"}, "metadata": {"made": pipe}})
    first, second = mapper({}), mapper({})
    assert first.metadata is not None
    first.metadata["made"]["list"].append(1)
    assert second.metadata == {"made": {"list": []}}


# --- refusals ---


@pytest.mark.parametrize(
    ("step", "value", "operation", "message"),
    [
        ({"split": ","}, None, "split(,)", "needs text"),
        ("lines", [], "lines", "needs text"),
        ("strip", True, "strip", "needs text"),
        ("lower", {}, "lower", "needs text"),
        ({"regex": "a"}, "b", "regex(a)", "the pattern 'a' matches nowhere"),
        ("int", "4.5", "int", "is no number"),
        ("int", 4.5, "int", "is not a whole number"),
        ("int", math.inf, "int", "is not a whole number"),
        ("int", "9" * 5000, "int", "is too long for a number"),
        ("float", "x", "float", "is no number"),
        ("float", None, "float", "needs a number, or text of one"),
        ("str", None, "str", "needs text, a number or a flag"),
        ("parse", "{", "parse", "is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ({"date": "%Y"}, "May", "date(%Y)", "is no date: time data 'May' does not match format '%Y'"),
        ({"index": 1}, ["a"], "index(1)", "no item 1 among 1"),
        ({"index": -2}, "a", "index(-2)", "no item -2 among 1"),
        ({"index": 0}, {"0": 1}, "index(0)", "needs a list or text"),
        ({"slice": [0, 1]}, 5, "slice([0, 1])", "needs a list or text"),
        ({"join": ""}, "ab", "join()", "needs a list of texts"),
        ("drop_null", "a", "drop_null", "needs a list or map"),
        ({"each": ["strip"]}, "a", "each(['strip'])", "needs a list"),
        ({"pluck": "a"}, {"a": 1}, "pluck(a)", "needs a list of maps"),
        ("keys", [], "keys", "needs a map"),
        ("len", 5, "len", "needs a list, map or text"),
        ({"map": {"a": 1}}, "b", "map({'a': 1})", "no entry among a"),
        ({"keep": {"equals": 1}}, 1, "keep({'equals': 1})", "needs a list"),
        ({"test": {"less": 3}}, "2", "test({'less': 3})", "can't be compared with 3"),
        ("letter", -1, "letter", "needs an index from 0 to 999"),
        ("letter", "B", "letter", "needs a whole number, or digits"),
        ("letter", True, "letter", "needs a whole number, or digits"),
        ("letter", 1.0, "letter", "needs a whole number, or digits"),
        ("letter", "5" * 5000, "letter", "needs a whole number, or digits"),
        ({"letter": {"base": 1}}, 0, "letter({'base': 1})", "needs an index from 1 to 1000"),
        ({"letter_in": {"const": ["a"]}}, "b", "letter_in({'const': ['a']})", "not among the labels ['a']"),
        ("letters_where", {"a": 1}, "letters_where", "needs a list"),
        ("messages", 5, "messages", "needs text or a list of messages"),
        ("data_uri", "a.png", "data_uri", "needs the bytes of an image, {bytes, path}, or an absolute path"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_refused(
    step: Any, value: Any, operation: str, message: str
) -> None:
    error = refusal(step, value)
    assert (error.dataset, error.record, error.field) == ("d", 17, "metadata.made")
    assert (error.operation, error.message) == (operation, message)
    assert error.value == value


@pytest.mark.parametrize(
    ("step", "value", "shown"),
    [
        ({"join": ""}, ["a", None], None),
        ({"each": ["strip"]}, ["a", 5, None], None),
        ({"pluck": "a"}, [{"a": 1}, {"b": 2}], {"b": 2}),
        ({"pluck": "a"}, [{"a": 1}, 2], 2),
        ("messages", [{"role": "robot", "content": "x"}], "robot"),
        ("messages", ["x"], "x"),
    ],
)
def test_an_item_that_does_not_fit_is_the_value_of_the_error(
    step: Any, value: Any, shown: Any
) -> None:
    assert refusal(step, value).value == shown


def test_labels_that_are_missing_are_named_by_their_column() -> None:
    error = refusal({"letter_in": "lables"}, "a", {"labels": ["a"]})
    assert "no column 'lables' (did you mean 'labels'?)" in str(error)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("stripp", "no operation 'stripp' did you mean 'strip'?"),
        ({"zzzzzz": 1}, "no operation 'zzzzzz'"),
        ("split", "operation split: takes the separator, a text that is not empty"),
        ({"split": ""}, "operation split: takes the separator, a text that is not empty"),
        ({"lower": 1}, "operation lower: takes no argument, got 1"),
        ({"regex": "("}, "operation regex: not a regular expression: missing ), unterminated subpattern at position 0"),
        ({"regex": {"patern": "a"}}, "operation regex: unknown option 'patern', known: pattern, all, optional"),
        ({"sub": "a"}, "operation sub: takes a map of pattern, to, got 'a'"),
        ({"replace": {"": "a"}}, "operation replace: takes a map from text to its replacement"),
        ({"index": "a"}, "operation index: takes a whole number"),
        ({"index": True}, "operation index: takes a whole number"),
        ({"index": 1.0}, "operation index: takes a whole number"),
        ({"slice": [1]}, "operation slice: takes [start, end], whole numbers or null"),
        ({"slice": [True, 2]}, "operation slice: takes [start, end], whole numbers or null"),
        ({"parse": "yaml"}, "operation parse: takes json or literal"),
        ({"each": ["stripp"]}, "operation each: no operation 'stripp' did you mean 'strip'?"),
        ({"letter": {"base": 2}}, "operation letter: base is 0 or 1"),
        ({"letter": {"bass": 1}}, "operation letter: unknown option 'bass', known: base"),
        ({"letters_where": {"equal": 1}}, "operation letters_where: no comparison 'equal' (did you mean 'equals'?)"),
        ({"map": []}, "operation map: takes a map from value to result"),
        ({"letter_in": 5}, "operation letter_in: 5 is not an expression; write a constant as {const: 5}"),
    ],
)  # fmt: skip
def test_an_argument_that_does_not_fit_is_refused_before_any_record(
    step: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=r"^field target: ") as caught:
        map_fields({"input": "q", "target": {"from": "a", "do": [step]}})
    assert str(caught.value) == f"field target: {message}"


def test_the_keys_of_a_table_are_texts_as_in_yaml() -> None:
    with pytest.raises(ValueError, match="operation map: "):
        map_fields({"input": "q", "target": {"from": "a", "do": [{"map": {1: "a"}}]}})


def test_the_error_of_a_literal_is_the_same_in_each_run() -> None:
    error = refusal({"parse": "literal"}, "name")
    assert "malformed node or string" in str(error)
    assert "0x" not in str(error)


def test_reading_a_literal_does_not_warn() -> None:
    # Python warns of escapes that it does not know; data is not the place to look for them.
    assert run({"parse": "literal"}, r"'\d'") == r"\d"


@pytest.mark.parametrize("text", ["{'a', 'b'}", "[{'a'}]", "...", "1 + 2j"])
def test_a_literal_without_a_form_in_json_is_refused(text: str) -> None:
    # A set of texts has another order in every process.
    assert refusal({"parse": "literal"}, text).operation == "parse(literal)"


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


def only_mapping_errors(step: Any, value: Any, record: dict[str, Any]) -> None:
    try:
        run(step, value, record)
    except MappingError as error:
        place = (error.dataset, error.record, error.field)
        text = str(error)
    else:
        return
    assert place == ("d", 17, "metadata.made")
    assert text.startswith("d: record 17, field metadata.made")


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
@settings(max_examples=40, deadline=None)
@given(value=VALUES, record=RECORDS)
def test_any_value_gives_a_result_or_a_mapping_error(
    operation: Operation, value: Any, record: dict[str, Any]
) -> None:
    only_mapping_errors(operation.example.step, value, record)


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


def refusal_of(step: Any) -> str | None:
    try:
        map_fields({"input": {"const": "q"}, "target": {"from": "value", "do": [step]}})
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=40, deadline=None)
@given(argument=ARGUMENTS, value=VALUES)
def test_any_argument_that_the_schema_accepts_is_built_or_refused(
    name: str, argument: Any, value: Any
) -> None:
    if validator_of(name).is_valid(argument):
        refused = refusal_of({name: argument})
        if refused is None:
            only_mapping_errors({name: argument}, value, {})
        else:
            assert refused.startswith("field target: operation ")


def test_a_data_uri_of_a_path_has_the_bytes_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "dot.gif").write_bytes(b"GIF89a")
    mapper = map_fields({"input": {"from": "image", "do": ["data_uri"]}})
    for image in (str(tmp_path / "dot.gif"), {"bytes": None, "path": str(tmp_path / "dot.gif")}):
        assert mapper({"image": image}).input == "data:image/gif;base64,R0lGODlh"
    for image in ("dot.gif", {"bytes": None, "path": "dot.gif"}, str(tmp_path / "gone.gif")):
        with pytest.raises(MappingError, match=r"absolute path|can't read the file"):
            mapper({"image": image})
