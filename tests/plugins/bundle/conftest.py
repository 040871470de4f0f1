"""Bundles of the datasets of a catalog, and of any files."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import IO, Any

from msgspec.structs import replace

from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.lockfile.models import read_lock
from registry.plugins.bundle.bundle import Bundled, bundle
from registry.plugins.bundle.bundle_file import Contents, Member, read_bundle, write_bundle

Files = dict[str, bytes]


def packed(root: Path, tmp_path: Path, *names: str, **options: Any) -> Bundled:
    """Write a bundle of datasets as `out.tar.zst`, with the pins and a cache of its own."""
    lock = read_lock(root / "datasets.lock")
    pins = {} if lock is None else dict(lock.pins)
    catalog, cache = Catalog.open(root), Cache(tmp_path / "own-cache")
    file = tmp_path / "out.tar.zst"
    return bundle(names, catalog, cache, pins, file, report=lambda *_: None, **options)


def member(name: str, data: bytes) -> Member:
    return Member(name, len(data), hashlib.sha256(data).hexdigest())


def read(path: Path) -> tuple[Contents, Files]:
    """Return what a bundle lists, and its files."""
    sinks: dict[str, io.BytesIO] = {}

    def sink(one: Member) -> IO[bytes]:
        return sinks.setdefault(one.name, io.BytesIO())

    contents = read_bundle(path, sink, lambda _: None)
    return contents, {name: file.getvalue() for name, file in sinks.items()}


def written(path: Path, contents: Contents, files: Files) -> Contents:
    """Write a bundle with other files than its contents list."""
    changed = replace(contents, members=tuple(member(*one) for one in files.items()))
    write_bundle(path, changed, lambda name: io.BytesIO(files[name]), lambda _: None)
    return changed
