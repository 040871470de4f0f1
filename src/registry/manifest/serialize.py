"""Convert specs and pins to JSON data, for digests and for the command line."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from enum import StrEnum
from typing import Any

from msgspec import NODEFAULT, Struct

from registry.manifest.source import Source

__all__ = ["Keep", "data_of", "is_not_default", "is_set", "model_defaults", "with_order"]

Keep = Callable[[Any, Any], bool]
"""Whether to include a key, given its value and its default."""
_IN_ORDER = ("object", "replace")
_CONSTANTS = ("const", "default")


@functools.cache
def model_defaults(kind: type[Struct]) -> dict[str, Any]:
    """Return the keys of a model with their defaults; NODEFAULT for required keys."""
    keys, defaults = kind.__struct_fields__, kind.__struct_defaults__
    required = (NODEFAULT,) * (len(keys) - len(defaults))
    # msgspec stores a factory in place of a mutable default.
    values = [
        getattr(default, "factory", lambda default=default: default)() for default in defaults
    ]
    return dict(zip(keys, (*required, *values), strict=True))


def is_not_default(value: Any, default: Any) -> bool:
    """Return whether a value differs from its default."""
    return bool(value != default)


def is_set(value: Any, default: Any) -> bool:
    """Return whether a value is not None."""
    return value is not None


def data_of(
    part: Struct | Source,
    *,
    without: Collection[str] = (),
    keep: Keep = lambda value, default: True,
) -> dict[str, Any]:
    """Return a spec, a pin or a part of one as JSON data; a source's `type` is its first key.

    Args:
        part: A model.
        without: Keys of `part` itself to leave out.
        keep: Which other keys to include, in `part` and in nested models.
    """
    data: dict[str, Any] = {}
    model: Any = type(part)
    kind = model.__struct_config__.tag
    if kind is not None and "type" not in without and keep(kind, kind):
        data["type"] = kind
    for key, default in model_defaults(model).items():
        value = getattr(part, key)
        if key not in without and keep(value, default):
            data[key] = _plain(value, keep)
    return data


def _plain(value: Any, keep: Keep) -> Any:
    if isinstance(value, Struct):
        # Some have a short form in a manifest.
        short = getattr(value, "as_written", None)
        return data_of(value, keep=keep) if short is None else short()
    if isinstance(value, list | tuple):
        return [_plain(item, keep) for item in value]
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, dict):
        return {key: _plain(item, keep) for key, item in value.items()}
    return value


def with_order(data: Any, key: str = "", *, is_constant: bool = False) -> Any:
    """Return JSON data whose digest depends on the order of keys where that of samples does.

    `replace` works in the order given, and `keys`, `items` and `dump` show that of any dict.
    """
    if isinstance(data, list):
        return [with_order(item, is_constant=is_constant) for item in data]
    if not isinstance(data, dict):
        return data
    found = {
        name: with_order(item, name, is_constant=is_constant or key == "map" or name in _CONSTANTS)
        for name, item in data.items()
    }
    counts = is_constant or key in _IN_ORDER
    return tuple(found.items()) if counts and [*found] != sorted(found) else found
