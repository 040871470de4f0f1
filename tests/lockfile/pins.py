"""A pin for a test that is about a few of its values."""

from __future__ import annotations

from typing import Any

from registry.lockfile.models import PIN_FORMAT, Pin

__all__ = ["DIGEST", "pin_of"]

DIGEST = f"sha256:{'0' * 64}"


def pin_of(samples: int = 1, **keys: Any) -> Pin:
    """Return a pin of no sources and columns; `keys` are the values that count."""
    digests = dict.fromkeys(("spec", "ordered", "unordered"), DIGEST)
    given = {"sources": (), "samples": samples, "columns": (), "format": PIN_FORMAT}
    return Pin(**{**digests, **given, **keys})
