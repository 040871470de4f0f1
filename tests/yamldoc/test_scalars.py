"""Scalars follow the core schema of YAML 1.2."""

from __future__ import annotations

import math
from typing import Any

import pytest

from registry.yamldoc.scalars import INT64, plain_scalar


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("True", True),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("", None),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("nULL", "nULL"),
        ("010", 10),
        ("-0", 0),
        ("+3", 3),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b1", "0b1"),
        ("1_000", "1_000"),
        ("1:20", "1:20"),
        ("2020-01-01", "2020-01-01"),
        ("2020-01-01T10:00:00Z", "2020-01-01T10:00:00Z"),
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("-1e3", -1000.0),
        ("1e-400", 0.0),
        ("1e", "1e"),
        ("=", "="),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("1e999", math.inf),
        (".Nan", ".Nan"),
        ("0o8", "0o8"),
        ("-0x1", "-0x1"),
        ("+", "+"),
        (".", "."),
        ("1e5", 100000.0),
    ],
)
def test_plain_scalar_has_the_type_of_the_core_schema(text: str, value: Any) -> None:
    found = plain_scalar(text)
    assert found == value
    assert type(found) is type(value)


def test_nan_is_a_number() -> None:
    assert math.isnan(plain_scalar(".nan"))


@pytest.mark.parametrize(
    "text", ["9" * 5000, "-" + "9" * 5000, "0x" + "f" * 5000, "0o" + "7" * 5000]
)
def test_very_long_integer_is_out_of_range_without_being_converted(text: str) -> None:
    assert plain_scalar(text) == INT64
