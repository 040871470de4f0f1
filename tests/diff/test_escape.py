"""Values of a manifest, short and on one line."""

from __future__ import annotations

import pytest

from registry.diff.escape import display_value

VALUES = [
    ("plain", "plain"),
    ("", '""'),
    (" x", '" x"'),
    ("null", '"null"'),
    ("1e5", '"1e5"'),
    (None, "null"),
    (True, "true"),
    (["a", 1], '["a",1]'),
    ("sha256:" + "ab" * 32, "sha256:abababababab…"),
    ("0123456789abcdef" * 2 + "01234567", "0123456789ab…"),
    ("x" * 400, "x" * 78 + " … " + "x" * 78),
]


@pytest.mark.parametrize(("value", "expected"), VALUES)
def test_value_is_one_short_line(value: object, expected: str) -> None:
    assert display_value(value) == expected
