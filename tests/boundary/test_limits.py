"""The budget of one dataset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from registry.base.conversion import convert
from registry.boundary.boundary import UNBOUNDED
from registry.boundary.limits import UNLIMITED, Limits

SCHEMA = json.loads(Path("schemas/index.schema.json").read_text(encoding="utf-8"))["$defs"][
    "limits"
]


def test_unknown_limits_are_refused() -> None:
    assert convert({}, Limits) == Limits()
    with pytest.raises(msgspec.ValidationError):
        convert({"forever": 1}, Limits)


@pytest.mark.parametrize(
    ("given", "bytes_"),
    [(5, 5), ("5kB", 5000), ("100MB", 10**8), ("2GB", 2 * 10**9), ("3MiB", 3 << 20)],
)
def test_sizes_may_have_a_unit(given: Any, bytes_: int) -> None:
    assert Limits.of({"line_bytes": given, "records": 7}) == Limits(line_bytes=bytes_, records=7)


def test_a_message_says_how_to_raise_the_limit() -> None:
    assert Limits().message("line_bytes", "a line has", "bytes") == (
        "a line has more than 67,108,864 bytes"
        " (`limits: {line_bytes: …}` in the root index raises the limit)"
    )


def test_the_schema_has_the_same_limits_with_the_same_defaults() -> None:
    stated = {key: value["default"] for key, value in SCHEMA["properties"].items()}
    assert stated == msgspec.structs.asdict(Limits())


def test_a_call_of_the_user_has_no_limits() -> None:
    assert UNBOUNDED.limits == UNLIMITED
    assert UNLIMITED.line_bytes > 1 << 60
