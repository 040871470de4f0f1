"""Check that the local files that a dataset names exist."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice

from registry.base.locations import archive_of, is_path, split_member
from registry.boundary.boundary import Boundary
from registry.boundary.paths import fixed_folder, list_files, path_matcher
from registry.errors import ReachError, did_you_mean
from registry.lint.data_files import path_of
from registry.lint.unpacked import NotUnpackedError, member_names
from registry.manifest.models import DatasetSpec
from registry.manifest.source import Source
from registry.rules import Finding
from registry.yamldoc.reader import DataPath

__all__ = ["missing_data"]

_MOST_NAMES = 1_000
"""How many names are compared with one that does not exist."""
_SIMILAR = 0.85
"""How similar a name in another folder must be: only a slip of the hand."""


def missing_data(spec: DatasetSpec) -> Iterator[Finding]:
    """Report local files of a dataset, in the folder of the index, that don't exist."""
    boundary = Boundary().allowing([str(spec.folder)])
    for place, source in _sources(spec):
        for number, location in enumerate(source.paths()):
            if is_path(location):
                path = (*place, "path") if len(source.paths()) == 1 else (*place, "path", number)
                for message, hint in _missing(location, spec, boundary):
                    yield Finding(path, message, hint)


def _sources(spec: DatasetSpec) -> Iterator[tuple[DataPath, Source]]:
    """Yield the sources with their paths in the manifest."""
    if spec.concat:
        yield from ((("concat", number), part) for number, part in enumerate(spec.concat))
    else:
        yield ("source",), spec.source
    if spec.join is not None:
        yield ("join", "source"), spec.join.source


def _missing(location: str, spec: DatasetSpec, boundary: Boundary) -> Iterator[tuple[str, str]]:
    """Yield what is missing, with a hint; nothing about a path that may not be read."""
    path = path_of(archive_of(location))
    try:
        exists = os.path.isdir(boundary.check_path(path)) or bool(list_files(path, boundary))
    except ReachError:
        return
    shown = os.path.relpath(path, spec.folder)
    if not exists and fixed_folder(path) != path:
        yield f"no file matches '{shown}'", "correct the pattern, or add the files"
    elif not exists:
        hint = _similar_file(path, spec) or "correct the path, or add the file"
        yield f"no file '{shown}'", hint
    elif (parts := split_member(location)) and parts[0] == "zip":
        yield from _missing_member(parts[1], path, shown, boundary)


def _similar_file(path: str, spec: DatasetSpec) -> str:
    """Return a hint with the most similar file: below the catalog's folder, or near the path."""
    name = os.path.basename(path)
    below: dict[str, str] = {}
    for one in _files_below(str(spec.folder)):
        below.setdefault(os.path.basename(one), os.path.relpath(one, spec.folder))
    # Such as beside the manifest: it is easy to think that paths are relative to that.
    if name in below:
        return f"did you mean '{below[name]}'? Paths are relative to the index"
    if hint := _similar_name(path, spec):
        return hint
    near = get_close_matches(name, below, 1, _SIMILAR)
    return f"did you mean '{below[near[0]]}'?" if near else ""


def _files_below(folder: str) -> Iterator[str]:
    """Yield the files below a folder, those of a folder before those of the folders in it."""
    folders, left = deque([folder]), _MOST_NAMES
    while folders and left > 0:
        try:
            with os.scandir(folders.popleft()) as found:
                entries = sorted(islice(found, left), key=lambda entry: entry.name)
        except OSError:
            continue
        left -= len(entries)  # folders too: a tree of them may have no file, and no end
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith("."):
                    folders.append(entry.path)
            else:
                yield entry.path


def _similar_name(path: str, spec: DatasetSpec) -> str:
    """Return a hint with the most similar name in the nearest folder that exists."""
    folder, name = os.path.split(path)
    while folder != str(spec.folder) and not os.path.isdir(folder):
        folder, name = os.path.split(folder)
    try:
        names = os.listdir(folder)[:_MOST_NAMES]
    except OSError:
        return ""
    place = os.path.relpath(folder, spec.folder)
    near = {os.path.normpath(os.path.join(place, one)): None for one in names}
    return did_you_mean(os.path.normpath(os.path.join(place, name)), near)


def _missing_member(
    pattern: str, path: str, shown: str, boundary: Boundary
) -> Iterator[tuple[str, str]]:
    try:
        with boundary.open_file(path) as archive:
            names = member_names(archive)
    except (NotUnpackedError, ReachError, OSError):  # the build reports it
        return
    if pattern not in names and not any(map(path_matcher(pattern), names)):
        hint = did_you_mean(pattern, names[:_MOST_NAMES]) or "correct the name of the member"
        yield f"no file '{pattern}' in '{shown}'", hint
