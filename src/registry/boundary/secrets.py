"""Read the environment variables that options name, and keep their values out of messages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from registry.base.locations import Location
from registry.errors import AccessError

__all__ = ["leaves", "read_secrets", "redact", "variable_of"]

# What a client says about an error may contain a value that it was given, in any form of words.
# So every value that was read is known here, for as long as the process runs.
_READ: set[str] = set()
# A shorter value can't be told from ordinary text.
_SHORTEST = 4
_URL = re.compile(r"https?://[^\s'\"<>]+")

OptionPath = tuple[str | int, ...]


def variable_of(value: Any) -> str | None:
    """Return NAME of `{env: NAME}`; None for anything else."""
    if isinstance(value, dict) and set(value) == {"env"} and isinstance(value["env"], str):
        return str(value["env"])
    return None


def leaves(value: Any, path: OptionPath = ()) -> Iterator[tuple[OptionPath, Any]]:
    """Yield the scalars and the references to variables within options, with their paths."""
    if isinstance(value, Mapping) and variable_of(value) is None:
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value


def read_secrets(options: Mapping[str, Any], *, location: Location) -> dict[str, Any]:
    """Return options with every `{env: NAME}` replaced by that variable's value.

    Raises:
        AccessError: a variable is not set.
    """
    return {key: _read(item, location, str(key)) for key, item in options.items()}


def _read(value: Any, location: Location, place: str) -> Any:
    name = variable_of(value)
    if name is not None:
        if name not in os.environ:
            message = f"the environment variable {name} is not set"
            raise AccessError(f"{location.public}: {message} (fs_options.{place})")
        _READ.add(os.environ[name])
        return os.environ[name]
    if isinstance(value, dict):
        return {key: _read(item, location, f"{place}.{key}") for key, item in value.items()}
    if isinstance(value, list):
        return [_read(item, location, f"{place}[{index}]") for index, item in enumerate(value)]
    return value


def redact(text: str) -> str:
    """Return a text without the values of variables that were read, and queries of URLs."""
    # A server may redirect to a URL with a signature that nobody named.
    text = _URL.sub(lambda found: Location(found[0]).public, text)
    for value in sorted(_READ, key=len, reverse=True):
        if len(value) >= _SHORTEST:
            text = text.replace(value, "…")
    return text
