"""The local files of a dataset: what a review has to have at hand, and their digests."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from pathlib import Path

from registry.base.fs import file_sha256
from registry.base.locations import is_local, local_path
from registry.manifest.models import GENERIC_BUILDERS, DatasetSpec, HfSource, Source

__all__ = ["digest_of_file", "files_of", "local_patterns"]

# A repository may hold this in place of a large file; it names the digest of the bytes.
_LFS_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n"
)
_LONGEST_POINTER = 1024


def local_patterns(spec: DatasetSpec) -> list[str]:
    """Return the absolute paths, globs and folders that a dataset is read from, if any."""
    side = () if spec.join is None else (spec.join.source,)
    found = (path for source in (*spec.sources, *side) for path in _paths(source))
    return list(dict.fromkeys(found))


def _paths(source: Source) -> Iterator[str]:
    if not isinstance(source, HfSource):
        yield from (local_path(path) for path in source.path if is_local(path))
    elif source.path in GENERIC_BUILDERS:
        yield from (local_path(path) for path in _flat(source.data_files) if is_local(path))
    elif source.path.startswith((".", "/", "~")):
        yield local_path(source.path)


def _flat(data_files: object) -> Iterator[str]:
    match data_files:
        case str():
            yield data_files
        case list():
            yield from (path for item in data_files for path in _flat(item))
        case dict():
            yield from (path for item in data_files.values() for path in _flat(item))


def files_of(pattern: str) -> list[str]:
    """Return the files that a path stands for now, sorted."""
    if os.path.isfile(pattern):
        return [pattern]
    if os.path.isdir(pattern):
        return sorted(str(path) for path in Path(pattern).rglob("*") if path.is_file())
    return sorted(name for name in glob.glob(pattern, recursive=True) if os.path.isfile(name))


def digest_of_file(path: Path) -> str:
    """Return `sha256:…` of a file's bytes, also where only Git LFS's pointer to them is there."""
    if path.stat().st_size <= _LONGEST_POINTER:
        pointer = _LFS_POINTER.match(path.read_bytes())
        if pointer is not None:
            return f"sha256:{pointer[1].decode()}"
    return f"sha256:{file_sha256(path)}"
