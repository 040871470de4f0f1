"""Keys are reordered as text: comments move with their keys, everything else stays."""

from __future__ import annotations

import pytest
import yaml

from registry.yamldoc.document import DataPath
from registry.yamldoc.edit import reordered

RANKS = {"a": 0, "b": 1, "c": 2}


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("b: 1\na: 2\n", (), "a: 2\nb: 1\n"),
        ("b: 1\nz: 0\na: 2\n", (), "z: 0\na: 2\nb: 1\n"),
        ("# head\n\nb: 1\n# of a\na: 2\n", (), "# head\n\n# of a\na: 2\nb: 1\n"),
        ("x:\n  b: [1,\n      2]\n  a: |\n    t\ny: 1\n", ("x",), "x:\n  a: |\n    t\n  b: [1,\n      2]\ny: 1\n"),
        ("x:\n  b: 1\n  a: 2\n\n# of y\ny: 1\n", ("x",), "x:\n  a: 2\n  b: 1\n\n# of y\ny: 1\n"),
        ("b: 1\na: 2", (), "a: 2\nb: 1"),
        ("b: 1\r\na: 2", (), "a: 2\r\nb: 1"),
        ("b: 1\r\na: 2\r\n", (), "a: 2\r\nb: 1\r\n"),
        ("x: {b: 1,  a: 2}  # c\n", ("x",), "x: {a: 2,  b: 1}  # c\n"),
        ("x: {b: 1,\n    a: 2}\n", ("x",), "x: {a: 2,\n    b: 1}\n"),
        ("x:\n- y:\n    b: 1\n    a: 2\n", ("x", 0, "y"), "x:\n- y:\n    a: 2\n    b: 1\n"),
    ],
)  # fmt: skip
def test_keys_are_sorted_by_rank(text: str, path: DataPath, expected: str) -> None:
    found = reordered(text, path, RANKS)
    assert found == expected
    assert yaml.safe_load(found) == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param("x:\n- b: 1\n  a: 2\n", ("x", 0), id="a key behind a dash"),
        pytest.param("? b\n: 1\n? a\n: 2\n", (), id="a question mark before the key"),
        pytest.param("x: {b: 1, # c\n a: 2}\n", ("x",), id="a comment between braces"),
        pytest.param("y: &y {b: 1, a: 2}\nx:\n  z: *y\n", ("x", "z"), id="an alias in its place"),
        pytest.param("y: &y {b: 1}\nx: {c: *y, a: 2}\n", ("x",), id="an alias as a value"),
        pytest.param("x: 1\n", ("x",), id="no mapping"),
        pytest.param("x: {}\n", ("y",), id="no such key"),
    ],
)
def test_keys_that_cannot_be_moved_as_text_are_not_reordered(text: str, path: DataPath) -> None:
    assert reordered(text, path, RANKS) is None
