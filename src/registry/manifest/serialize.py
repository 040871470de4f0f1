"""Specs and pins as JSON data, for digests and for people."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any

from msgspec import NODEFAULT, Struct

from registry.manifest.source import Source

__all__ = ["Keep", "data_of", "is_not_default", "is_set", "model_defaults"]

Keep = Callable[[Any, Any], bool]
"""Decides by the value of a key, and its default, whether data has the key."""


@functools.cache
def model_defaults(kind: type[Struct]) -> dict[str, Any]:
    """Return the keys of a model with their defaults; NODEFAULT where one has to be given."""
    keys, defaults = kind.__struct_fields__, kind.__struct_defaults__
    required = (NODEFAULT,) * (len(keys) - len(defaults))
    return dict(zip(keys, map(_made, (*required, *defaults)), strict=True))


def _made(default: Any) -> Any:
    """Return a default; one that could be changed is made anew for each value."""
    make = getattr(default, "factory", None)
    return default if make is None else make()


def is_not_default(value: Any, default: Any) -> bool:
    """Return whether a value is another one than its default."""
    return bool(value != default)


def is_set(value: Any, default: Any) -> bool:
    """Return whether there is a value."""
    return value is not None


def _always(value: Any, default: Any) -> bool:
    return True


def data_of(
    part: Struct | Source, *, without: Collection[str] = (), keep: Keep = _always
) -> dict[str, Any]:
    """Return a spec, a pin or a part of them as JSON data; a source's `type` comes first.

    Args:
        part: What is turned into data.
        without: Keys that are left out, of `part` itself.
        keep: Which keys there are, of `part` and of all within it.
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
        return data_of(value, keep=keep)
    if isinstance(value, list | tuple):
        return [_plain(item, keep) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item, keep) for key, item in value.items()}
    return value
