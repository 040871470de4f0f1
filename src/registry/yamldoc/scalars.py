"""The values of plain scalars, by the core schema of YAML 1.2.2, section 10.3.2."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

__all__ = ["INT64", "plain_scalar"]

INT64 = 1 << 63

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"]),
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
}
_NUMBER_STARTS = frozenset("0123456789+-.")
_NUMBERS: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (re.compile(r"[-+]?[0-9]+"), lambda text: _integer(text, 10)),
    (re.compile(r"0o[0-7]+"), lambda text: _integer(text[2:], 8)),
    (re.compile(r"0x[0-9a-fA-F]+"), lambda text: _integer(text[2:], 16)),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"), float),
    (re.compile(r"[-+]?\.(inf|Inf|INF)"), lambda text: float(text.replace(".", ""))),
    (re.compile(r"\.(nan|NaN|NAN)"), lambda _: math.nan),
)


def plain_scalar(text: str) -> Any:
    """Return the value of an unquoted scalar: None, a bool, an int, a float or a str."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in _NUMBER_STARTS:
        for pattern, convert in _NUMBERS:
            if pattern.fullmatch(text):
                return convert(text)
    return text


def _integer(digits: str, base: int) -> int:
    # `int` takes quadratic time for very long numbers, and raises for them. INT64 is too large for
    # the parser, which reports it.
    return int(digits, base) if len(digits) <= 64 else INT64
