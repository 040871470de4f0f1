"""List the local files of a dataset, and digest them for a comparison."""

from __future__ import annotations

import hashlib
import re

from registry.base.locations import is_local, is_package, local_path
from registry.boundary.boundary import Boundary
from registry.manifest.models import DatasetSpec

__all__ = ["digest_of_file", "local_patterns"]

# Git LFS commits this in place of a large file; it names the digest of the bytes.
_LFS_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n"
)
_LONGEST_POINTER = 1024


def local_patterns(spec: DatasetSpec) -> list[str]:
    """Return the absolute paths, globs and folders that a dataset is read from, if any.

    Files of installed packages are the same for both sides of a comparison, so they are left out.
    """
    paths = (
        path
        for source in spec.all_sources
        for path in source.paths()
        if is_local(path) and not is_package(path)
    )
    return list(dict.fromkeys(map(local_path, paths)))


def digest_of_file(path: str, boundary: Boundary) -> str:
    """Return `sha256:…` of a file's bytes, or the digest that its Git LFS pointer names."""
    with boundary.open_file(path) as file:
        start = file.read(_LONGEST_POINTER + 1)
        pointer = _LFS_POINTER.match(start) if len(start) <= _LONGEST_POINTER else None
        if pointer is not None:
            return f"sha256:{pointer[1].decode()}"
        file.seek(0)
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
