"""Find files that a change replaces under samples which name them: media, files, sandbox code."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache

from registry.diff.snapshots.contents import (
    Contents,
    changed_files,
    differing_digests,
)
from registry.diff.snapshots.file_names import (
    BUILT,
    MARKS,
    FileNames,
    Listing,
    file_names,
    matches,
    outer_globs,
    words_in,
    words_of,
    words_of_code,
)
from registry.diff.snapshots.mapper_code import python_files_of
from registry.lockfile.models import Pin

__all__ = ["NamedFile", "named_files"]

_CONFIGURATION = re.compile(r"\.ya?ml$|Dockerfile|Containerfile")


@dataclass(frozen=True)
class NamedFile:
    """A file that differs, and that samples of a dataset name or may name."""

    digests: tuple[str | None, str | None]
    """Before and after; None where there is no such file."""
    is_code: bool
    """Whether it may run in the sandbox, or configure it."""


def named_files(base: Contents, head: Contents) -> dict[str, dict[str, NamedFile]]:
    """Return dataset → path from the catalog's folder → a file that its samples name."""
    if base.catalog is None or head.catalog is None:
        return {}
    sides = (base, head)
    listed = base.checkout.paths | head.checkout.paths
    globs = frozenset[str]().union(*(outer_globs(side) for side in sides))
    inside = {path for path in listed if not path.startswith("../") or matches(path, globs)}
    changed = changed_files(base, head, inside)
    if not changed:
        return {}
    wanted = {word for path in listed for name in path.split("/") for word in words_of(name)}
    listing = Listing(listed)
    readers = [_Reader(side, frozenset(wanted | MARKS)) for side in sides]
    code_words = cache(
        lambda mapper: words_of_code(python_files_of(mapper, base.checkout, head.checkout))
    )
    found = {}
    for name in sorted(base.specs.keys() | head.specs.keys()):
        names = [
            file_names(reader.side, name, code_words, reader.words)
            for reader in readers
            if name in reader.side.specs
        ]
        code = _code(names, readers, listing) & changed
        rest = {
            path
            for one in names
            for path in changed.intersection(listing.suspects(one))
            if one.names(path)
        }
        found[name] = _corrected(code, rest, changed, [_pin_of(side, name) for side in sides], base)
    named = {path for pair in found.values() for paths in pair for path in paths}
    digests = differing_digests(base, head, named)
    return {
        name: {path: NamedFile(digests[path], path in code) for path in sorted(of_dataset)}
        for name, (code, rest) in found.items()
        if (of_dataset := (code | rest) & digests.keys())
    }


# --- what the lockfile has of them ---


def _pin_of(side: Contents, name: str) -> Pin | None:
    """Return the pin of a dataset if it has the files that the samples of this side name."""
    pin, spec = side.lock.pins.get(name), side.specs.get(name)
    if pin is None or spec is None or not pin.agrees(spec) or not (pin.files or pin.sandbox):
        return None
    own = {path: one.own for path, one in side.files[name].items()}
    rows = {row.location: f"sha256:{row.sha256}" for row in pin.sources}
    return pin if all(rows.get(path) == digest for path, digest in own.items()) else None


def _corrected(
    code: set[str],
    rest: set[str],
    changed: set[str],
    pins: Collection[Pin | None],
    base: Contents,
) -> tuple[set[str], set[str]]:
    """Return the code and the other files that a dataset names, by the pins of both sides if any.

    A name that had no file was content, and is not pinned: of files that are new, all that may be
    named count.
    """
    if None in pins:
        return code, rest
    new = changed - base.checkout.paths
    named_code, named = (
        {path for path in changed if any(pin and pin.has_file(path, of=(key,)) for pin in pins)}
        for key in ("sandbox", "files")
    )
    return named_code | (code & new), named | (rest & new)


@dataclass(frozen=True)
class _Reader:
    """Reads the words of files of one side, each file once."""

    side: Contents
    wanted: frozenset[str]
    known: dict[str, frozenset[str] | None] = field(default_factory=dict)

    def words(self, path: str) -> frozenset[str] | None:
        """Return the words in a file, at a path from the catalog's folder."""
        if path not in self.known:
            boundary = self.side.boundary.allowing([str(self.side.checkout.top)])
            file = os.path.join(self.side.checkout.folder, path)
            self.known[path] = words_in(file, boundary, self.wanted)
        return self.known[path]


# --- code in the sandbox, which names further files ---


def _code(names: list[FileNames], readers: list[_Reader], listing: Listing) -> set[str]:
    """Return the files that may run in a sandbox, or configure one."""
    if not any(one.code_globs or one.code_words or one.has_code for one in names):
        return set()
    waiting = {path for one in names for path in listing.suspects(one) if one.is_code(path)}
    found = set[str]()
    while waiting:
        found |= waiting
        words, folders = set[str](), set[str]()
        for reader in readers:
            checkout = reader.side.checkout
            checkout.extract(map(checkout.from_top, waiting))
            for path in waiting:
                # What is no text names nothing: an image, an archive.
                named = reader.words(path) or frozenset()
                words |= named
                if _CONFIGURATION.search(path) and not named.isdisjoint(BUILT):
                    folders.add(os.path.dirname(path))
        waiting = {
            path for path in listing.with_words(words) if words_of(os.path.basename(path)) <= words
        }
        waiting |= {path for path in (listing.paths if folders else ()) if _is_in(path, folders)}
        waiting -= found
    return found


def _is_in(path: str, folders: Collection[str]) -> bool:
    return any(not folder or path.startswith(f"{folder}/") for folder in folders)
