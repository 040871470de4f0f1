"""A pin whose digests are of nothing: what the checks read is given."""

from __future__ import annotations

from typing import Any

from registry.base.materials import Material
from registry.lockfile.models import PIN_FORMAT, Pin

__all__ = ["DIGEST", "pin"]

DIGEST = "sha256:" + "0" * 64


def pin(source: Material, **fields: Any) -> Pin:
    """Return a pin of one source and one sample; the digests are zeros unless given."""
    digests = dict.fromkeys(["spec", "ordered", "unordered"], DIGEST)
    defaults: dict[str, Any] = {"samples": 1, "columns": ("q",), "format": PIN_FORMAT, **digests}
    return Pin(sources=(source,), **{**defaults, **fields})
