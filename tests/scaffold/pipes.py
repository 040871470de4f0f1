"""Expressions with operations, as tables of expected fields have many."""

from __future__ import annotations

from typing import Any

__all__ = ["pipe"]


def pipe(column: Any, *operations: Any) -> dict[str, Any]:
    """Return `{from: column, do: [operations]}`."""
    return {"from": column, "do": list(operations)}
