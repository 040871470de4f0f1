"""Sides of a reviewed state for tests: one dataset, pinned or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from registry.base.materials import Material
from registry.boundary.boundary import Boundary
from registry.diff.review.state import ReviewedSide, side_of
from registry.lockfile.models import Lock, Pin
from registry.lockfile.spec_digest import spec_digest
from registry.manifest.models import DatasetSpec, to_spec
from tests.lockfile.pins import pin_of

__all__ = ["pin", "side", "spec"]


def spec(folder: Path, source: dict[str, Any] | None = None, **more: Any) -> DatasetSpec:
    keys = source or {"type": "csv", "path": [str(folder / "a.csv")]}
    return to_spec({"name": "d", "folder": folder, "source": keys, **more})


def pin(of: DatasetSpec, **more: Any) -> Pin:
    sources = (Material(location="a.csv", size=1, sha256="0" * 64),)
    given: dict[str, Any] = {"spec": spec_digest(of), "sources": sources, "columns": ("q",)}
    return pin_of(**{"samples": 3, "ordered": f"sha256:{'a' * 64}", **given, **more})


def side(one: DatasetSpec, pinned: Pin | None = None, **more: Any) -> ReviewedSide:
    lock = Lock({} if pinned is None else {"d": pinned})
    boundary = Boundary().allowing([str(one.folder)])
    return side_of({"d": one}, lock, more.pop("index", {}), boundary, **more)
