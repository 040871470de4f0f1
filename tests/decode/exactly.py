"""What exact JSON is, by the options of the json module."""

from __future__ import annotations

import json
import math
from typing import Any

__all__ = ["loads_exactly"]


def loads_exactly(text: str) -> Any:
    """Parse JSON; a ValueError for a value that would be changed or dropped."""
    value = json.loads(
        text, object_pairs_hook=_unique, parse_constant=_refused, parse_float=_finite
    )
    json.dumps(value, ensure_ascii=False).encode()  # a UnicodeEncodeError for half a pair
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a repeated key")
    return dict(pairs)


def _refused(name: str) -> Any:
    raise ValueError(name)


def _finite(text: str) -> float:
    if math.isinf(float(text)):
        raise ValueError(text)
    return float(text)
