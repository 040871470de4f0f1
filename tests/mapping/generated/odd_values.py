"""Records with values that an expression may not expect."""

from __future__ import annotations

import random
from datetime import datetime
from decimal import Decimal
from typing import Any

from registry.mapping.row import MISSING

__all__ = ["ODD", "odd_records"]

ODD: list[Any] = [
    MISSING,
    None,
    "",
    " ",
    "a",
    "0",
    " 7 ",
    "²",
    "A) red",
    "ä\ud800",
    '{"a": [1, {"b": null}], "c": 1.50}',
    "[1, 2",
    "['x', 2, None]",
    "x" * 500,
    True,
    False,
    0,
    1,
    3,
    -1,
    2**70,
    1.0,
    2.5,
    float("nan"),
    float("inf"),
    [],
    ["a", "b", "c"],
    ["a", 1, None, True, float("nan"), " "],
    [0, 1, True, 1.0],
    [[1, "a"], [2]],
    [{"text": "x", "label": "A", "role": "user", "content": "hi"}, {"text": None}],
    [{"text": ["x"], "label": {"text": "y"}}],
    {},
    {"text": ["x", "y"], "label": ["A", "B"]},
    {"a": 1, "b": None, "$c": float("nan")},
    {"text": "x", "label": 1, "a.b": 2, "a": {"b": 3}},
    b"bytes",
    Decimal("1.5"),
    Decimal("sNaN"),
    datetime(2024, 5, 2),  # noqa: DTZ001
]


def odd_records(names: list[str], count: int, seed: int) -> list[dict[str, Any]]:
    """Return records with odd values in columns, and at some paths in columns."""
    chosen = random.Random(seed)
    return [_record(names, chosen) for _ in range(count)]


def _record(names: list[str], chosen: random.Random) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for name in names:
        head, dot, rest = name.partition(".")
        value = chosen.choice(ODD)
        if dot and chosen.random() < 0.8:
            inner = record.setdefault(head, {})
            if value is not MISSING and type(inner) is dict:
                record[head] = {**inner, rest: value}
        elif value is not MISSING:
            record[name] = value
    return record
