"""Samples in Arrow files: writing, reading, ordering them by views, digesting them.

Modules that opening a dataset does not need are imported at their first use.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["LazyModule"]


class LazyModule:
    """Stands for a module, which it imports when one of its names is first read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self._name), name)
        # From now on it is an ordinary attribute, which is found as fast as that of a module.
        self.__dict__[name] = value
        return value
