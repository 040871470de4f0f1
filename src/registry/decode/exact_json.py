"""Parse JSON, but refuse what `json.loads` would change or drop without a word.

RFC 8259 leaves it to the parser what a repeated key means, and Python's reads `NaN`, which is not
JSON, numbers beyond the range of a float, and halves of surrogate pairs, which no file can store.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from registry.base.digest import levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "MAX_DEPTH",
    "InexactError",
    "has_unique_keys",
    "most_keys",
    "parse_all",
    "parse_exact",
    "repeats_key",
]

MAX_DEPTH = 256
"""Levels of nesting; Python's own limit depends on its version and on the caller's stack."""

_COUNTED_BYTES = 1 << 17
_SHORT = 1 << 12
_MOST_BLANKS = 64
"""Blanks before a colon that are looked at."""
_decode = msgspec.json.Decoder().decode
_decode_lines = msgspec.json.Decoder().decode_lines
_encode = msgspec.json.Encoder().encode
_AROUND = frozenset({"[]", "{}"})
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
_COLON = re.compile(r"[ \t\r\n]*:")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile(rb"\\u00(?:20|22|3[aA])")
"""Escapes of a blank, a quote and a colon."""


class InexactError(json.JSONDecodeError):
    """A value that `json.loads` would change or drop, and its position."""


def parse_exact(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        json.JSONDecodeError: it is not JSON; an InexactError if `json.loads` would accept it.
        RecursionError: it is nested deeper than MAX_DEPTH.
        ValueError: an integer has more digits than Python parses.
    """
    try:
        value = _decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        value = json.loads(text)  # if it isn't JSON, this says why
        _count_keys([value], 1)  # the depth
    else:
        # Nearly all short ones, in cells and literals, have the form that programs write.
        is_flat = text.count("[") + text.count("{") <= MAX_DEPTH
        if len(text) < _SHORT and is_flat and text == _written(value):
            return value
        if has_unique_keys(text.encode(), [value]) or not repeats_key(text):
            return value
    for fault in _faults(text):
        raise fault
    return value


def parse_all(texts: Sequence[str]) -> list[Any] | None:
    """Return what `parse_exact` returns for arrays and objects; None where each has to be tried."""
    if not all(text[:1] + text[-1:] in _AROUND for text in texts):
        return None
    try:
        lines = "\n".join(texts).encode()
        values = _decode_lines(lines)
        # No value goes on behind the end of a text, where an array or object ends and one begins.
        if len(values) == len(texts) and has_unique_keys(lines, values):
            return values
    except (msgspec.DecodeError, ValueError, RecursionError):
        pass
    return None


def _written(value: Any) -> str:
    """Return a value as JSON with a blank after each comma and colon."""
    return msgspec.json.format(_encode(value), indent=0).decode()


def has_unique_keys(
    text: bytes | bytearray,
    values: Sequence[Any],
    *,
    keys: int = 0,
    nested: Sequence[Any] | None = None,
    above: int = 0,
) -> bool:
    """Return whether no object in a text repeats a key; a False may be wrong.

    A parser that returns as many keys as the text has dropped none.

    Args:
        text: The text.
        values: The parsed values of all of it.
        keys: Number of the keys of the values, if they are structs.
        nested: The values in these structs, of which only those that are containers matter.
        above: How many containers of a document the values are in.

    Raises:
        RecursionError: a value is nested deeper than MAX_DEPTH.
    """
    above += 1
    count = keys
    count += _count_keys(values, above) if nested is None else _count_keys(nested, above + 1)
    most = most_keys(text)
    if count in (most, _count_key_ends(text) if most > count else most):
        return True
    # What looks like the end of a key in a string does so in another text of the same values too,
    # unless an escape is a blank, a quote or a colon.
    return not _ESCAPED.search(text) and most_keys(_encode(values)) == most


def repeats_key(text: str) -> bool:
    """Return whether an object in a JSON text repeats a key, by parsing the text again.

    Raises:
        ValueError, RecursionError: it is nothing that the `json` module parses.
    """
    repeated = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        if len(dict(pairs)) < len(pairs):
            repeated.append(pairs)

    json.loads(text, object_pairs_hook=look)
    return bool(repeated)


def _count_keys(values: Sequence[Any], depth: int) -> int:
    """Return the number of keys in values, which are at some depth of nesting."""
    count = 0
    for above, (_, _, lists, dicts) in enumerate(levels(values), depth):
        if above > MAX_DEPTH and (lists or dicts):
            raise RecursionError
        count += sum(map(len, dicts))
    return count


def _count_key_ends(text: bytes | bytearray) -> int:
    """Return how many colons of a text follow a quote that may end a key; -1 if it is too long."""
    from registry.base.arrow import byte_positions  # pyarrow is slow to import

    codes = np.frombuffer(text, np.uint8)
    before = byte_positions(":", text) - 1
    spaced = before[codes[before] <= ord(" ")]
    before = before[codes[before] == ord('"')]
    for _ in range(_MOST_BLANKS):
        if not len(spaced):
            return len(before) - _count_escaped(text, codes, before)
        spaced = spaced - 1
        before = np.concatenate([before, spaced[codes[spaced] == ord('"')]])
        spaced = spaced[codes[spaced] <= ord(" ")]
    return -1


def _count_escaped(
    text: bytes | bytearray, codes: NDArray[np.uint8], quotes: NDArray[np.int64]
) -> int:
    """Return how many of the quotes at some places are escaped, and so within a string."""
    backslash = ord("\\")
    quotes = quotes[codes[quotes - 1] == backslash]
    is_pair = codes[quotes - 2] == backslash
    count = len(quotes) - int(np.count_nonzero(is_pair))
    for quote in quotes[is_pair].tolist():
        start = quote
        while text[start - 1] == backslash:
            start -= 1
        count += (quote - start) % 2  # an even number of backslashes is that of escaped ones
    return count


def most_keys(text: bytes | bytearray) -> int:
    """Return how many keys a text has at most: its colons that follow a quote or a blank."""
    codes, count = np.frombuffer(text, np.uint8), 0
    for start in range(1, len(codes), _COUNTED_BYTES):
        before = codes[start - 1 : start - 1 + _COUNTED_BYTES]
        is_colon = codes[start : start + _COUNTED_BYTES] == ord(":")
        before = before[: len(is_colon)]
        count += int(np.count_nonzero(is_colon & ((before == ord('"')) | (before <= ord(" ")))))
    return count


def _faults(text: str) -> Iterator[InexactError]:
    """Yield an error for each value in a JSON text that `json.loads` would change or drop."""
    path: list[str | int] = []
    keys: list[set[str]] = []  # of each object and array that is open
    for found in _TOKEN.finditer(text):
        part, message = found[0], ""
        if part in "{[":
            path.append(0 if part == "[" else "")
            keys.append(set())
        elif part in "}]":
            path.pop()
            keys.pop()
        elif part == "," and isinstance(path[-1], int):
            path[-1] += 1
        elif part[0] == '"':
            string = json.loads(part)
            if _COLON.match(text, found.end()):
                path[-1] = string
                message = "the key is repeated" if string in keys[-1] else ""
                keys[-1].add(string)
            if _SURROGATE.search(string):
                message = "half of a surrogate pair"
        elif part in ("NaN", "Infinity", "-Infinity"):
            message = f"{part} is not JSON"
        elif part[-1].isdigit() and math.isinf(float(part)):
            message = f"{part} is beyond the range of a float"
        if message:
            yield InexactError(f"{_shown(path)}{message}", text, found.start())


def _shown(path: Sequence[str | int]) -> str:
    """Return the place of a value as a prefix of a message, such as `[2].messages[0].role: `."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    place = "".join(steps).removeprefix(".")
    return f"{place}: " if place else ""
