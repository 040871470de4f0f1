"""The strings of lines are found by their quotes, and decoded."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.decode.shapes.literals import UnsureError, find_literals


@given(st.lists(st.lists(st.text('ab"\\\né', max_size=4), max_size=4), min_size=1, max_size=6))
def test_strings_of_lines_are_found(lines: list[list[str]]) -> None:
    data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    if b'"' not in data:
        return
    found = find_literals(bytearray(data))
    found.check_escapes()
    assert found.counts.tolist() == list(map(len, lines))
    texts = [text for line in lines for text in line]
    numbers = np.arange(-1, len(texts))
    assert found.values(numbers).to_pylist() == [None, *texts]
    assert found.values(numbers[::-1][:1]).to_pylist() == texts[-1:]


@pytest.mark.parametrize(
    "data",
    [b"{}\n", b'"a\n"\n', b'"a\tb"\n', b'["a"\t]\n', b'"a\n', b'\\"a"\n', b'"a" \\\n'],
)
def test_what_is_no_string_is_unsure(data: bytes) -> None:
    with pytest.raises(UnsureError):
        find_literals(bytearray(data))


@pytest.mark.parametrize("text", [b'"\\x"', b'"\\ud800"', b'"\\u00g0"'])
def test_invalid_escape_is_unsure(text: bytes) -> None:
    found = find_literals(bytearray(b'"a\\n" ' + text + b"\n"))
    with pytest.raises(UnsureError):
        found.check_escapes()


def test_many_escapes_are_left_to_a_parser() -> None:
    line = b'["%s"]\n' % (b"a" * 20 + b"\\n" * 20)
    assert len(find_literals(bytearray(line * 50)).escaped) == 50
    with pytest.raises(UnsureError):
        find_literals(bytearray(line * 100))
