"""Match the globs of `include`, within limits: an index may be written by a stranger."""

from __future__ import annotations

import functools
import glob
import os
from collections.abc import Callable, Iterator, Sequence

from registry.boundary.paths import name_matcher

__all__ = ["EntryCount", "GlobLimitError", "match_glob"]


class GlobLimitError(Exception):
    """A glob takes too much work; the message says which limit it exceeds."""


class EntryCount:
    """Counts the entries of folders that the globs of an index list together."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._listed = 0

    def add(self, entries: int) -> None:
        """Count entries.

        Raises:
            GlobLimitError: there are too many.
        """
        self._listed += entries
        if self._listed > self._most:
            raise GlobLimitError(f"lists more than {self._most:,} files and folders")


def match_glob(
    pattern: str,
    folder: str,
    entries: EntryCount,
    *,
    may_list: Callable[[str], bool] = lambda _: True,
) -> Sequence[str]:
    """Return what `glob.glob` finds with `recursive=True`, relative to `folder` and sorted.

    That function has no limits: with two links to `.` in a folder, `**` would take forever.

    Args:
        pattern: The glob.
        folder: The folder that it is relative to.
        entries: Counts the entries of folders that are listed.
        may_list: Whether a folder may be listed; else nothing in it matches.

    Raises:
        GlobLimitError: it has more than one `**`, or lists too many entries.
    """
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if "\0" in pattern or not parts:  # no name contains NUL, and `os` raises for it
        return []
    if parts.count("**") > 1:
        raise GlobLimitError("more than one `**`")
    if len(parts) == 1 and pattern == parts[0] != "**" and glob.has_magic(pattern):
        return _Walk(folder, entries, may_list).names("", pattern)
    start = "/" if pattern.startswith("/") else ""
    found = set(_Walk(folder, entries, may_list).matches(start, parts))
    if pattern.endswith("/"):
        found = {path for path in found if os.path.isdir(os.path.join(folder, path))}
    return sorted(found)


class _Walk:
    """Lists the folders that a glob leads to."""

    def __init__(self, folder: str, entries: EntryCount, may_list: Callable[[str], bool]) -> None:
        self._folder = folder
        self._entries = entries
        self._may_list = may_list

    def matches(self, base: str, parts: list[str]) -> Iterator[str]:
        """Yield what the parts of a glob match below `base`, which is relative to the folder."""
        part, rest = parts[0], parts[1:]
        if part == "**":
            for below in self._folders(base):
                if not rest and below not in ("", "/"):
                    yield below
                yield from self.matches(below, rest or ["*"])
        elif not glob.has_magic(part):
            path = os.path.join(base, part)
            if rest:
                yield from self.matches(path, rest)
            elif os.path.lexists(os.path.join(self._folder, path)):
                yield path
        elif rest:
            is_match = name_matcher(part)
            for entry in self._list(base):
                if is_match(entry.name) and _is_folder(entry):
                    yield from self.matches(os.path.join(base, entry.name), rest)
        else:
            names = self.names(base, part)
            yield from (os.path.join(base, name) for name in names) if base else names

    def _folders(self, base: str) -> Iterator[str]:
        """Yield `base`, if it is a folder, and the folders below it that are not hidden."""
        waiting = [base] if os.path.isdir(os.path.join(self._folder, base)) else []
        while waiting:
            base = waiting.pop()
            yield base
            waiting += [
                os.path.join(base, entry.name)
                for entry in self._list(base)
                if not entry.name.startswith(".") and _is_folder(entry)
            ]

    def names(self, base: str, pattern: str) -> Sequence[str]:
        """Return the names in a folder that match the last part of a glob, sorted."""
        folder = os.path.join(self._folder, base) or "."
        try:
            names = os.listdir(folder) if self._may_list(folder) else []
        except OSError:
            return ()
        self._entries.add(len(names))
        return _matching(pattern, tuple(names))

    def _list(self, base: str) -> Iterator[os.DirEntry[str]]:
        """Yield the entries of a folder; nothing if it can't be listed."""
        folder = os.path.join(self._folder, base) or "."
        if not self._may_list(folder):
            return
        try:
            entries = os.scandir(folder)
        except OSError:
            return
        with entries:
            for entry in entries:
                self._entries.add(1)
                yield entry


@functools.lru_cache(maxsize=4)  # a catalog lists the same folders each time it is opened
def _matching(pattern: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(filter(name_matcher(pattern), names)))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
