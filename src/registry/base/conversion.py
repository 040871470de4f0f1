"""Convert plain data to msgspec Structs, safely from several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

__all__ = ["convert", "decode_json"]

Model = TypeVar("Model")

# msgspec (0.22) compiles a class on its first conversion, and stores the result on the class before
# it is complete, so that a class may contain itself. A second thread that converts at that moment
# reads a null pointer, which kills the process.
_compiling = threading.RLock()  # reentrant, as a `dec_hook` may also convert
_compiled: set[type] = set()


def convert(
    data: Any, model: type[Model], *, dec_hook: Callable[[type, Any], Any] | None = None
) -> Model:
    """Return data as a Struct.

    Raises:
        msgspec.ValidationError: the data does not match the model; it has the first problem only.
    """
    return _compile_first(model, lambda: msgspec.convert(data, model, dec_hook=dec_hook))


def decode_json(data: bytes, model: type[Model]) -> Model:
    """Return JSON as a Struct.

    Raises:
        msgspec.DecodeError: the data is not JSON, or does not match the model.
    """
    return _compile_first(model, lambda: msgspec.json.decode(data, type=model))


def _compile_first(model: type[Model], run: Callable[[], Model]) -> Model:
    if model in _compiled:
        return run()
    with _compiling:
        result = run()
        _compiled.add(model)
    return result
