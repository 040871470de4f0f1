"""Bundles of the datasets of a catalog."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.lockfile.models import read_lock
from registry.plugins.bundle.bundle import Bundled, bundle


def packed(root: Path, tmp_path: Path, *names: str, **options: Any) -> Bundled:
    """Write a bundle of datasets as `out.tar.zst`, with the pins and a cache of its own."""
    lock = read_lock(root / "datasets.lock")
    pins = {} if lock is None else dict(lock.pins)
    catalog, cache = Catalog.open(root), Cache(tmp_path / "own-cache")
    file = tmp_path / "out.tar.zst"
    return bundle(names, catalog, cache, pins, file, report=lambda *_: None, **options)
