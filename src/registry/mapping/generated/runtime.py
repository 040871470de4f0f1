"""Functions that generated code calls; what they can't decide they refuse with an AsideError."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from importlib import import_module
from json import encoder
from typing import Any

import msgspec

from registry.decode.exact_json import parse_exact
from registry.mapping.conditions import equal, is_empty
from registry.mapping.generated.source import AsideError
from registry.mapping.row import MISSING, Row
from registry.mapping.sizes import check_size
from registry.samples.letters import letter_of

__all__ = [
    "LETTERS",
    "SCALARS",
    "SIZED",
    "Parsed",
    "ParsedTexts",
    "digest_function",
    "fill",
    "json_writer",
    "make_row",
    "map_key",
    "parse_json",
    "position",
    "unique",
    "zip_lists",
]

SCALARS = frozenset({str, int, float, bool})
SIZED = frozenset({str, list, dict})
_UNIQUE_BY_HASH = frozenset({str, int})
_PLAIN = SCALARS | {type(None)}
_MOST_ITEMS = 1 << 20
"""Items of a value that are counted here: lists that share theirs may have any number."""

LETTERS = tuple(map(letter_of, range(1000)))
"""The letters of the first choices; an operation takes no more."""

parse_json: Callable[[str], Any] = parse_exact
"""Parse JSON as the operation does."""


class Parsed(dict[str, Any]):
    """Text → value of the texts that were parsed; nothing changes the values."""

    def __init__(self, parse: Callable[[str], Any]) -> None:
        super().__init__()
        self._parse = parse

    def __missing__(self, text: str) -> Any:
        value = self[text] = self._parse(text)
        return value


class ParsedTexts:
    """The parsed texts of some records, which several expressions parse."""

    def __init__(self) -> None:
        self._parsed: dict[Callable[[str], Any], Parsed] = {}

    def of(self, parse: Callable[[str], Any]) -> Parsed:
        """Return what a function has parsed."""
        return self._parsed.setdefault(parse, Parsed(parse))

    def clear(self) -> None:
        """Forget the values."""
        for parsed in self._parsed.values():
            parsed.clear()


def fill(value: Any, default: str) -> Any:
    """Return what a template writes for a value with a default."""
    if is_empty(value):
        return default
    if type(value) in SCALARS:
        return value
    raise AsideError


def map_key(value: Any) -> str | None:
    """Return the key that the operation `map` looks a value up by that is not a str."""
    if value is None or type(value) is bool:
        return {None: "null", True: "true", False: "false"}[value]
    if type(value) is int:
        return str(value)
    if isinstance(value, int | float):
        return json.dumps(value)
    if value is MISSING:
        raise AsideError
    return None


def make_row(names: Sequence[str], values: Sequence[Any], number: int) -> Row:
    """Return a row of the values that are not MISSING."""
    found = zip(names, values, strict=True)
    return Row({name: value for name, value in found if value is not MISSING}, number)


def position(value: Any, labels: list[Any]) -> int:
    """Return the index of the first label that equals a value."""
    for index, label in enumerate(labels):
        if equal(value, label):
            return index
    raise AsideError


def unique(items: list[Any]) -> list[Any]:
    """Return a list without repeated items; to manifests, unlike to Python, true is not 1."""
    if set(map(type, items)) <= _UNIQUE_BY_HASH:
        return list(dict.fromkeys(items))
    raise AsideError


def zip_lists(value: Any) -> list[Any]:
    """Return a dict of lists as a list of dicts, or a list of lists transposed.

    Raises:
        AsideError, ValueError: it has others than lists of the same length.
    """
    lists = list(value.values()) if type(value) is dict else value
    if type(lists) is not list or not set(map(type, lists)) <= {list}:
        raise AsideError
    groups = zip(*lists, strict=True)
    if type(value) is dict:
        return [dict(zip(value, group, strict=True)) for group in groups]
    return [list(group) for group in groups]


def digest_function(algorithm: str) -> Callable[[bytes], Any]:
    """Return the fastest function of a digest."""
    if algorithm == "md5":
        try:  # for short texts it takes 0.6 of the time that OpenSSL needs to set up
            return import_module("_md5").md5  # type: ignore[no-any-return]
        except ImportError:  # pragma: no cover (a Python that was built without it)
            pass
    made: Callable[..., Any] = getattr(hashlib, algorithm)
    return lambda data: made(data, usedforsecurity=False)


def json_writer(*, ascii_only: bool, indent: int | None) -> Callable[[Any], str]:
    """Return what writes a value as the operation `dump`."""
    encode = _json_encoder(ascii_only=ascii_only)

    def write(value: Any) -> str:
        check_size(_plain_size(value))
        text = encode(value)
        # `encode_value` tags a dict that has a key with a dollar sign.
        if "$" in text and _has_dollar_key(value):
            raise AsideError
        # Only the whitespace differs; `json` would take ten times as long.
        return text if indent is None else msgspec.json.format(text, indent=indent)

    return write


def _json_encoder(*, ascii_only: bool) -> Callable[[Any], str]:
    """Return a function that writes JSON in one line; it refuses NaN and infinities."""
    create: Any = getattr(encoder, "c_make_encoder", None)
    if create is None:  # pragma: no cover (a Python without the extension module)
        return json.JSONEncoder(ensure_ascii=ascii_only, allow_nan=False).encode
    string: Any = encoder.encode_basestring_ascii if ascii_only else encoder.encode_basestring
    # `JSONEncoder` creates an encoder for each value. It remembers lists in a dict to find cycles,
    # which no record has. Last are: unsorted keys, no keys skipped, no NaN.
    encode = create(None, _refuse, string, None, ": ", ", ", False, False, False)
    return lambda value: "".join(encode(value, 0))


def _refuse(value: Any) -> Any:
    raise AsideError


def _plain_size(value: Any) -> int:
    """Return what `size_of` does; an AsideError for a value of a type that JSON lacks."""
    size, values = 0, [value]
    for item in values:  # which grows by the items of each
        kind = type(item)
        if kind is str:
            size += len(item)
            continue
        size += 8
        if kind is list:
            values += item
        elif kind is dict:
            for key in item:
                if type(key) is not str:
                    raise AsideError
                size += len(key)
            values += item.values()
        elif kind not in _PLAIN:
            raise AsideError
        if len(values) > _MOST_ITEMS:
            raise AsideError
    return size


def _has_dollar_key(value: Any) -> bool:
    if type(value) is dict:
        return any(key.startswith("$") for key in value) or _has_dollar_key(list(value.values()))
    return type(value) is list and any(map(_has_dollar_key, value))
