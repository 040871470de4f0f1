"""List the local files of a dataset, and digest them for a comparison."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from registry.base.fs import stream_sha256
from registry.base.local_files import LFS_POINTER
from registry.boundary.boundary import Boundary
from registry.boundary.paths import fixed_folder, list_files
from registry.manifest.models import DatasetSpec

__all__ = [
    "FileDigest",
    "common_digests",
    "digest_of_file",
    "files_of",
    "local_patterns",
    "moved_files",
]

_LONGEST_POINTER = 1024


@dataclass(frozen=True)
class FileDigest:
    """The digest of a file's bytes."""

    own: str
    """`sha256:…` of the file as it is."""
    pointed: str = ""
    """The digest that it names, if it is a pointer of Git LFS."""


def local_patterns(spec: DatasetSpec) -> list[str]:
    """Return the absolute paths, globs and folders that a dataset is read from, if any.

    Files of installed packages are the same for both sides of a comparison, so they are left out.
    """
    paths = (path for source in spec.all_sources for path in source.paths() if path.is_path)
    return list(dict.fromkeys(one.local_path() for one in paths))


def files_of(pattern: str, boundary: Boundary) -> list[str]:
    """Return the files that a path, folder or glob names; none that may not be read.

    Raises:
        ReachError: a file in a folder or glob is a link that leads outside.
    """
    if not boundary.contains(fixed_folder(pattern)):
        return []  # not even listed
    return list_files(pattern, boundary)


def digest_of_file(path: str, boundary: Boundary) -> FileDigest:
    """Return the digest of a file's bytes."""
    with boundary.open_file(path) as file:
        start = file.read(_LONGEST_POINTER + 1)
        file.seek(0)
        own = f"sha256:{stream_sha256(file)}"
    pointer = LFS_POINTER.fullmatch(start)
    return FileDigest(own, f"sha256:{pointer[1].decode()}" if pointer else "")


def common_digests(
    base: Mapping[str, FileDigest], head: Mapping[str, FileDigest]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the digests of both sides' files, by their names, such that equal data is equal.

    A pointer counts as the data that it names, unless the base has the data itself: then the
    change replaces the data by a text that only looks like it.
    """
    old = {name: digest.pointed or digest.own for name, digest in base.items()}
    new = {
        name: digest.own
        if name in base and not base[name].pointed
        else digest.pointed or digest.own
        for name, digest in head.items()
    }
    return old, new


def moved_files(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Return new name → old name of the files that only one side has, with the same bytes."""
    removed = defaultdict(list)
    for name in sorted(old.keys() - new.keys(), reverse=True):
        removed[old[name]].append(name)
    added = sorted(new.keys() - old.keys())
    return {name: removed[new[name]].pop() for name in added if removed[new[name]]}
