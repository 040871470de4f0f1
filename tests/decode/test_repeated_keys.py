"""A block of lines is only said to repeat no key if that is true."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.decode.exact_json import InexactError
from registry.decode.repeated_keys import keys_surely_differ

_LONG = ["x" * 15 + "key", "y" * 15 + "key", "x" * 30 + "key", "k" * 8, "k" * 16, "k" * 17]
_names = st.sampled_from(["a", "b", "q", "id", "", ":", "prompt_text", "system_text", *_LONG])


@st.composite
def _keys(draw: st.DrawFn) -> str:
    """Draw a key with some of its characters escaped."""
    name = draw(_names)
    for place in draw(st.sets(st.integers(0, 20), max_size=2)):
        if place < len(name) and "\\" not in name:
            name = f"{name[:place]}\\u{ord(name[place]):04x}{name[place + 1 :]}"
    return f'"{name}"'


_values = st.sampled_from(
    ["1", '"x"', r'"{\\"', r'"\"}\\\""', '"}{"', '"a: \\"b\\": "', '{"z": 1}', '["a", ":"]']
)
_objects = st.recursive(
    _values,
    lambda inner: st.lists(st.tuples(_keys(), inner), max_size=3).map(
        lambda pairs: f"{{{', '.join(f'{key}: {value}' for key, value in pairs)}}}"
    ),
    max_leaves=6,
)
_pairs = st.tuples(_keys(), st.sampled_from(["", "", "", " "]), _objects)
_lines = st.lists(_pairs, max_size=4).map(
    lambda pairs: f"{{{', '.join(f'{key}{space}: {value}' for key, space, value in pairs)}}}"
)


def surely_differ(lines: list[str]) -> bool:
    block = bytearray("\n".join(lines).encode())
    ends = np.append(np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")), len(block))
    return keys_surely_differ(block, ends)


def has_repeat(line: str) -> bool:
    found: list[bool] = []
    json.loads(line, object_pairs_hook=lambda pairs: found.append(len(dict(pairs)) < len(pairs)))
    return any(found)


@settings(deadline=None, max_examples=400)
@given(st.lists(_lines, min_size=1, max_size=5))
def test_repeated_keys_are_never_missed(lines: list[str]) -> None:
    if any(map(has_repeat, lines)):
        with suppress(InexactError):
            assert not surely_differ(lines)


ROWS = [{"id": n, "question": "x: y", "prompt_text": "a", "system_text": "b"} for n in range(99)]


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        [*ROWS, {"id": 1}, {}],
        [dict(reversed(row.items())) if row["id"] == 50 else row for row in ROWS],
        [{}, {}, {}],
        [{"id": 1}],
        [{"a": {"b": {"c": 'x "y": z'}}, "d": [1, ":x", "y:"]}] * 30,
        [{"a": [{"b": 1, "c": {"a": "}"}}] * (n % 4), "b": {"a": "{\\\\"}} for n in range(99)],
        [{"a": [{"b": "x", "b ": n}, {"b": {"b": [{"b": n}]}}], "b": '"'} for n in range(99)],
    ],
)
def test_ordinary_lines_are_recognized(rows: list[dict[str, object]]) -> None:
    assert surely_differ([json.dumps(row) for row in rows])


def test_keys_with_the_same_last_bytes_are_not_sure() -> None:
    first, second = "a" + "k" * 20, "b" + "k" * 20
    rows = [{first: 1, second: 2}, {second: 1, first: 2}] * 3
    assert not surely_differ([json.dumps(row) for row in rows])


def test_a_key_that_a_nested_object_repeats_is_found() -> None:
    lines = ['{"a": [{"b": 1}, {"b": 2}], "b": 1}'] * 50
    assert surely_differ(lines)
    lines[30] = '{"a": [{"b": 1}, {"b": 2, "b": 1}]}'
    assert not surely_differ(lines)
    lines[30] = '{"a": [{"b": {"c": 3}, "b": 2}], "b": 1}'
    assert not surely_differ(lines)


@pytest.mark.parametrize("line", ['{"a": 1, "a": 2}', '{"b": 1, "b": 2}', '{"a": 1, "\\u0061": 2}'])
def test_one_line_among_equal_ones_is_compared(line: str) -> None:
    lines = ['{"a": 1, "b": 2}'] * 50
    assert surely_differ(lines)
    assert not surely_differ([*lines, line, *lines])


def test_lines_are_compared_with_the_first_one_by_all_bytes_of_a_key() -> None:
    first, second = "a" + "k" * 20, "b" + "k" * 20
    rows = [{first: 1, second: 2}] * 3
    assert surely_differ([json.dumps(row) for row in rows])
    assert not surely_differ([json.dumps(row) for row in [*rows, {first: 1, second: 2, "c": 3}]])
    line = f'{{"{second}": 1, "{second}": 2}}'
    assert not surely_differ([*(json.dumps(row) for row in rows), line])
