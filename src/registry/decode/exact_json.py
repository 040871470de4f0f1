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

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "MAX_DEPTH",
    "InexactError",
    "has_unique_keys",
    "key_ends",
    "most_keys",
    "parse_exact",
    "surely_has_unique_keys",
]

MAX_DEPTH = 256
"""Levels of nesting; Python's own limit depends on its version and on the caller's stack."""

_COUNTED_BYTES = 1 << 17
_CONTAINERS = frozenset({dict, list})
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
_COLON = re.compile(r"[ \t\r\n]*:")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BEFORE_OTHER_QUOTES = np.isin(np.arange(256), list(b"\\[{,:"))
"""Bytes before a quote by which it may not be the end of a key."""


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
        _count_keys(value)  # the depth
    else:
        if has_unique_keys(text.encode(), [value]) or not _repeats_key(text):
            return value
    for fault in _faults(text):
        raise fault
    return value


def has_unique_keys(
    text: bytes | bytearray, values: Sequence[Any], *, longest: int | None = None
) -> bool:
    """Return whether no object in a text repeats a key; a False may be wrong.

    Args:
        text: The text.
        values: The parsed values of all of it.
        longest: Characters that the text of a value has at most, if that is known.

    Raises:
        RecursionError: a value is nested deeper than MAX_DEPTH.
    """
    # A parser that returns as many keys as the text has dropped none. Often there are none in
    # inner objects, which takes longer to look at.
    most = most_keys(text)
    # A level takes two brackets.
    is_shallow = longest is not None and longest < 2 * MAX_DEPTH
    if is_shallow and set(map(type, values)) == {dict} and sum(map(len, values)) == most:
        return True
    count = sum(map(_count_keys, values))
    return count == most or count == len(key_ends(text))


def surely_has_unique_keys(text: bytes, values: Sequence[Any], count: int) -> bool:
    """Return whether no object in a text repeats a key, in less time than parsing it takes.

    Nesting is not limited here.

    Args:
        text: The text.
        values: The parsed objects of all of it.
        count: How many keys they have themselves.
    """
    most = most_keys(text)
    if count == most:  # so that no value has keys of its own
        return True
    # In what msgspec writes, a quote in a string follows a backslash, and one that starts a string,
    # which may begin with a colon, a bracket, comma or colon; as those of few keys do.
    codes = np.frombuffer(_encode(values), np.uint8)
    colons = np.flatnonzero(codes == ord(":"))
    is_key = (codes[colons - 1] == ord('"')) & ~_BEFORE_OTHER_QUOTES[codes[colons - 2]]
    least = int(np.count_nonzero(is_key))
    return least == most or least == len(key_ends(text))


def key_ends(text: bytes | bytearray) -> NDArray[np.int64]:
    """Return the positions of the colons after keys, and maybe of some in strings."""
    from registry.base.arrow.strings import byte_positions  # pyarrow is slow to import

    codes = np.frombuffer(text, np.uint8)
    colons = byte_positions(":", text)
    third, second, last = (codes[colons - distance] for distance in (3, 2, 1))
    is_escaped = (second == ord("\\")) & (third != ord("\\"))
    is_spaced = (last <= ord(" ")) & ((second <= ord(" ")) | (second == ord('"')))
    found: NDArray[np.int64] = colons[(last == ord('"')) & ~is_escaped | is_spaced]
    return found


def most_keys(text: bytes | bytearray) -> int:
    """Return how many keys a text has at most, in a fraction of the time of `key_ends`."""
    codes, count = np.frombuffer(text, np.uint8), 0
    for start in range(1, len(codes), _COUNTED_BYTES):
        before = codes[start - 1 : start - 1 + _COUNTED_BYTES]
        is_colon = codes[start : start + _COUNTED_BYTES] == ord(":")
        before = before[: len(is_colon)]
        count += int(np.count_nonzero(is_colon & ((before == ord('"')) | (before <= ord(" ")))))
    return count


def _count_keys(value: Any, depth: int = 1) -> int:
    """Return the number of keys, including those of nested objects."""
    if depth > MAX_DEPTH:
        raise RecursionError
    count = 0
    if type(value) is dict:
        count, value = len(value), value.values()
    elif type(value) is not list:
        return 0
    for item in value:
        if type(item) in _CONTAINERS:
            count += _count_keys(item, depth + 1)
    return count


def _repeats_key(text: str) -> bool:
    repeated = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        if len(dict(pairs)) < len(pairs):
            repeated.append(pairs)

    json.loads(text, object_pairs_hook=look)
    return bool(repeated)


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
