"""How much work one dataset may cause."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Limits"]


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The budget of one dataset; `limits` of the root index raises it."""
