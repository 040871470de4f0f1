"""Exact JSON has the value of `json.loads`; anything else is an error with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.decode import exact_json
from registry.decode.exact_json import (
    MAX_DEPTH,
    InexactError,
    has_unique_keys,
    most_keys,
    parse_all,
    parse_exact,
)
from tests.decode.exactly import loads_exactly
from tests.roads.outcome import frozen

_names = st.sampled_from(["a", "b", "", ":", '"', "\\", "a:", '":', '\\":', "ab", "\ud800"])
_strings = st.one_of(
    _names.map(json.dumps),
    st.sampled_from(
        ['"\\u0061"', '"\\u003a"', '"::"', '" : "', '"\\ud83d\\ude00"', '"é"', '"NaN"']
    ),
)
_numbers = st.sampled_from(["1", "-0", "0.5", "1e400", "NaN", "-Infinity", str(2**64), "1" * 700])
_spaces = st.sampled_from(["", "", " ", "\n", " \t"])


def _object(parts: list[tuple[str, str, str, str]]) -> str:
    return f"{{{', '.join(f'{key}{left}:{right}{item}' for key, left, right, item in parts)}}}"


_texts = st.recursive(
    st.one_of(_strings, _numbers),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(st.tuples(_strings, _spaces, _spaces, inner), max_size=3).map(_object),
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=800)
@given(_texts)
def test_values_are_those_of_the_json_module_or_refused(text: str) -> None:
    try:
        wanted = loads_exactly(text)
    except ValueError:
        with pytest.raises(InexactError) as caught:
            parse_exact(text)
        assert 0 <= caught.value.pos < len(text)
    else:
        assert frozen(parse_exact(text)) == frozen(wanted)


_pieces = st.sampled_from(
    ["[1]", "{}", '{"a": 1}', " ", "\n", ",", "[", "]", '"', '{"a": 1, "a": 2}']
)


@settings(max_examples=800)
@given(st.lists(_texts | st.lists(_pieces, max_size=4).map("".join), max_size=4))
def test_texts_together_are_what_each_is_alone(texts: list[str]) -> None:
    found = parse_all(texts)
    assert found is None or frozen(found) == frozen(list(map(parse_exact, texts)))


def test_arrays_and_objects_are_parsed_together() -> None:
    assert parse_all(['{"a": "é"}', "[1, [2]]"]) == [{"a": "é"}, [1, [2]]]
    assert parse_all(["[1] [2]", "[3]"]) is None


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ('{"a": {"b": 1, "b": 2}}', "a.b: the key is repeated", '"b": 2'),
        ('[{"a": 1},\n {"a": [1, NaN]}]', "[1].a[1]: NaN is not JSON", "NaN"),
        ('{"a": -Infinity}', "a: -Infinity is not JSON", "-Inf"),
        ('{"a": 1, "b": 1e400}', "b: 1e400 is beyond the range of a float", "1e400"),
        ('{"a": "x\\udc00"}', "a: half of a surrogate pair", '"x'),
        ('["NaN", {"\\ud800": 1}]', "[1].\ud800: half of a surrogate pair", '"\\ud800'),
        ("NaN", "NaN is not JSON", "NaN"),
    ],
)
def test_refused_values_are_located(text: str, message: str, place: str) -> None:
    with pytest.raises(InexactError) as caught:
        parse_exact(text)
    assert (caught.value.msg, caught.value.pos) == (message, text.index(place))


@pytest.mark.parametrize(("left", "right"), [("[", "]"), ('{"a": ', "}")])
def test_nesting_has_a_limit_of_its_own(left: str, right: str) -> None:
    for depth in (MAX_DEPTH - 1, MAX_DEPTH):
        text = left * depth + "1" + right * depth
        assert parse_exact(text) == json.loads(text)
    for depth in (MAX_DEPTH + 1, 900, 5000, 100_000):
        with pytest.raises(RecursionError):
            parse_exact(left * depth + "1" + right * depth)


@pytest.mark.parametrize("text", ["", "{", '{"a" 1}', "[1,]", "nul", "'x'"])
def test_other_errors_are_those_of_the_json_module(text: str) -> None:
    with pytest.raises(json.JSONDecodeError) as wanted:
        json.loads(text)
    with pytest.raises(json.JSONDecodeError) as found:
        parse_exact(text)
    assert type(found.value) is json.JSONDecodeError
    assert str(found.value) == str(wanted.value)


def test_keys_of_several_texts_are_counted_together() -> None:
    lines: list[Any] = ['{"a": "x\\": y"}', '{"b\\\\": {"a" : [{"a": 1}]}}']
    text = "\n".join(lines).encode()
    assert has_unique_keys(text, [json.loads(line) for line in lines])
    assert not has_unique_keys(text, [{"a": 1}])


@pytest.mark.parametrize(
    ("text", "is_unique"),
    [
        (b'{"a": 1, "b": [{}, [1]]}', True),
        (b'{"a": {"b": 1}}', True),
        (b'{"a": 1, "a": 2}', False),
        (b'{"a": {"b": 1, "b": 2}}', False),
        (b'{"a": [{"b": 1, "b": 2}], "c": 1}', False),
    ],
)
def test_short_texts_are_counted_by_their_outer_objects(text: bytes, is_unique: bool) -> None:
    values = [json.loads(text)] * 2
    assert has_unique_keys(text + b"\n" + text, values) == is_unique


def test_long_text_is_checked_for_its_depth() -> None:
    text = '{"a": ' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "}"
    with pytest.raises(RecursionError):
        has_unique_keys(text.encode(), [json.loads(text)])


@settings(deadline=None)
@given(_texts, st.integers(1, 9))
def test_no_key_is_left_out_of_their_number(text: str, size: int) -> None:
    data = f" {text}".encode("utf-8", "surrogatepass")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_json, "_COUNTED_BYTES", size)
        found = most_keys(data)
    assert found == most_keys(data)


def test_keys_of_ordinary_lines_are_counted_exactly() -> None:
    lines = b'{"a": "x:: y", "b":1}\n{"a": "a:", "b" : ["b: ", 2]}\n'
    assert most_keys(lines) == 4
    assert most_keys(b"") == 0
