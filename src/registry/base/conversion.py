"""Conversion of plain data to Structs of msgspec that any number of threads may start at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from registry.base.process_state import ForkSafeLock

__all__ = ["Count", "Text", "convert", "decode_json"]

Text = Annotated[str, Meta(min_length=1)]
"""Type of a field: a string that is not empty."""
Count = Annotated[int, Meta(ge=0)]
"""Type of a field: a number of things."""

_Model = TypeVar("_Model")

# msgspec (0.22) compiles a class when it is first converted to, and stores the result on the class
# before it is complete, so that a class may contain itself. A second thread that converts in that
# moment reads a null pointer, which kills the process.
_compiling = ForkSafeLock(threading.RLock)  # reentrant: a `dec_hook` converts, too
_compiled: set[type] = set()


def convert(
    data: Any, model: type[_Model], *, dec_hook: Callable[[type, Any], Any] | None = None
) -> _Model:
    """Return the Struct that data describes.

    Raises:
        msgspec.ValidationError: it does not fit the model; only the first problem is reported.
    """
    return _compile_first(model, lambda: msgspec.convert(data, model, dec_hook=dec_hook))


def decode_json(data: bytes | memoryview | msgspec.Raw, model: type[_Model]) -> _Model:
    """Return the Struct that JSON describes.

    Raises:
        msgspec.DecodeError: it is not JSON, or does not fit the model.
    """
    return _compile_first(model, lambda: msgspec.json.decode(data, type=model))


def _compile_first(model: type[_Model], run: Callable[[], _Model]) -> _Model:
    if model in _compiled:
        return run()
    with _compiling():
        result = run()
        _compiled.add(model)
    return result
