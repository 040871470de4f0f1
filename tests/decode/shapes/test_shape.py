"""Lines of a shape differ in their strings and scalars only."""

from __future__ import annotations

import numpy as np
import pytest

from registry.decode.shapes.literals import UnsureError, find_literals
from registry.decode.shapes.shape import Place, match, shape_of


def test_shape_has_the_places_of_values() -> None:
    line = b'{"a": "x", "b": ["y", "z"], "c": 1.5, "d": {"a": "w"}, "e": [], "f": null}\n'
    assert shape_of(find_literals(bytearray(line)), 0).record.children == {
        "a": Place("string", (1,)),
        "b": Place("strings", (3, 4)),
        "c": Place("scalar", (0,)),
        "d": Place("object", children={"a": Place("string", (8,))}),
        "e": Place("strings", ()),
        "f": Place("scalar", (1,)),
    }


@pytest.mark.parametrize(
    "line",
    [
        b'["a"]',
        b'{"a": [1, 2]}',
        b'{"a": "x", "a": "y"}',
        b'{"\\u0061": "x"}',
        b'{"a": "x"',
        b'{"a": "x"} ',
        b'{"a" "x"}',
    ],
)
def test_line_without_a_shape_is_unsure(line: bytes) -> None:
    with pytest.raises(UnsureError):
        shape_of(find_literals(bytearray(line + b"\n")), 0)


@pytest.mark.parametrize(
    ("line", "same"),
    [
        (b'{"a": "", "b": -1e5, "c": "long text"}', True),
        (b'{"a": "", "b": null, "c": "}"}', True),
        (b'{"a": "x", "b": 1, "d": "y"}', False),
        (b'{"a": "x", "b": , "c": "y"}', False),
        (b'{"a": "x", "b": 1, "c":"y"}', False),
        (b'{"a": "x", "b": 1 "c": "y"}', False),
        (b'["a": "x", "b": 1, "c": "y"}', False),
        (b'{"a": "x", "b": 1, "c": "y"]', False),
        (b'{"a": "x", "b": 1, "c": "y"}}', False),
    ],
)
def test_lines_match_the_first_if_only_values_differ(line: bytes, same: bool) -> None:
    first = b'{"a": "x", "b": 12, "c": "y"}\n'
    literals = find_literals(bytearray(first + line + b"\n" + first))
    found, scalars = match(shape_of(literals, 0), literals, np.arange(3))
    assert found.tolist() == [True, same, True]
    ((starts, ends),) = scalars
    assert bytes(literals.block[starts[2] : ends[2]]) == b"12"
