"""Generate the code of a constant."""

from __future__ import annotations

import copy
from typing import Any

from registry.mapping.generated.source import Source, Value

__all__ = ["IMMUTABLE", "constant_text", "emit_constant"]

IMMUTABLE = {str: "str", int: "int", bool: "bool", float: "scalar", type(None): "given"}
"""Type whose values can't be changed → what is known of them in a generated function."""

_LARGEST_DISPLAY = 64
"""Values of a list or dict that is written out; a larger one is copied by `copy.deepcopy`."""


def emit_constant(source: Source, value: Any) -> Value:
    """Add the lines of a constant; each record gets a copy of a list or dict."""
    kind = IMMUTABLE.get(type(value))
    if kind is not None:
        return Value(source.bind(value), kind)
    kind = type(value).__name__ if type(value) in (list, dict) else "given"
    return source.assign(constant_text(source, value), kind)


def constant_text(source: Source, value: Any) -> str:
    """Return a Python expression of a copy of a constant."""
    size = _size(value)
    if size is not None and size <= _LARGEST_DISPLAY:
        return _display(source, value)
    return f"{source.bind(copy.deepcopy)}({source.bind(value)})"


def _size(value: Any, depth: int = 1) -> int | None:
    """Return the number of values in a constant; None if it has other types than JSON has."""
    if type(value) in IMMUTABLE:
        return 1
    if type(value) not in (list, dict) or depth > 8 or len(value) > _LARGEST_DISPLAY:
        return None
    keys = value if type(value) is dict else ()
    if not all(type(key) in IMMUTABLE for key in keys):
        return None
    sizes = [_size(item, depth + 1) for item in (value.values() if keys else value)]
    return None if None in sizes else 1 + sum(size for size in sizes if size is not None)


def _display(source: Source, value: Any) -> str:
    if type(value) is list:
        return f"[{', '.join(_display(source, item) for item in value)}]"
    if type(value) is dict:
        pairs = (f"{source.bind(key)}: {_display(source, item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    return source.bind(value)
