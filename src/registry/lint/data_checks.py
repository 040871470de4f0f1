"""Check a dataset against its local data: the files exist, and have the columns that it names."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain, islice
from typing import Any

from msgspec.structs import replace

from registry.base.local_files import NOT_A_FILE
from registry.base.locations import Location, member_name
from registry.boundary.boundary import Boundary
from registry.boundary.paths import fixed_folder, list_files, path_matcher
from registry.errors import DecodeError, ReachError, SourceError, did_you_mean
from registry.lint.data_files import (
    FileRecords,
    NotUnpackedError,
    local_records,
    member_names,
)
from registry.lint.dataset_checks import PinnedDataset
from registry.lockfile.models import Pin
from registry.lockfile.pinned import unpinned_sources
from registry.manifest.expressions import parse_condition
from registry.manifest.models import DatasetSpec, FieldsSpec
from registry.manifest.source import Source
from registry.manifest.source_models import FileSource
from registry.mapping.evaluate import compile_condition
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.missing_columns import UNKNOWN, missing_columns
from registry.rules import Finding
from registry.yamldoc.reader import DataPath

__all__ = [
    "compilable",
    "missing_data",
    "uncompilable_expression",
    "unknown_column",
    "unknown_pinned_column",
]


_MOST_NAMES = 1_000
"""How many names are compared with one that does not exist."""
_SIMILAR = 0.85
"""How similar a name in another folder must be: only a slip of the hand."""


def missing_data(spec: DatasetSpec) -> Iterator[Finding]:
    """Report local files of a dataset, in the folder of the index, that don't exist."""
    boundary = Boundary().allowing([str(spec.folder)])
    for place, source in _sources(spec):
        for number, location in enumerate(source.paths()):
            if location.is_path:
                inner = ("path",) if len(source.paths()) == 1 else ("path", number)
                path = place if source is spec.corrections else (*place, *inner)
                for message, hint in _missing(location, source, spec, boundary):
                    yield Finding(path, message, hint)


def _sources(spec: DatasetSpec) -> Iterator[tuple[DataPath, Source]]:
    """Yield the sources with their paths in the manifest."""
    if spec.concat:
        yield from ((("concat", number), part) for number, part in enumerate(spec.concat))
    else:
        yield ("source",), spec.source
    if spec.join is not None:
        yield ("join", "source"), spec.join.source
    if spec.corrections is not None:
        yield ("corrections",), spec.corrections


def _missing(
    location: Location, source: Source, spec: DatasetSpec, boundary: Boundary
) -> Iterator[tuple[str, str]]:
    """Yield what is missing, with a hint; nothing about a path that may not be read."""
    path, member = location.local_path(), location.member
    try:
        is_folder = os.path.isdir(boundary.check_path(path))
        exists = is_folder or bool(list_files(path, boundary))
    except SourceError:  # also where a glob takes too long, which the build reports
        return
    shown = os.path.relpath(path, spec.folder)
    if not exists and fixed_folder(path) != path:
        yield f"no file matches '{shown}'", "correct the pattern, or add the files"
    elif not exists and os.path.islink(path):
        hint = "restore that file, or correct the link"
        yield f"'{shown}' is a link to '{os.readlink(path)}', where there is no file", hint
    elif not exists and os.path.exists(path):
        yield f"'{shown}': {NOT_A_FILE}", "copy the data to a file"
    elif not exists:
        hint = _similar_file(path, spec) or "correct the path, or add the file"
        yield f"no file '{shown}'", hint
    elif is_folder and isinstance(source, FileSource):
        yield f"'{shown}' is a folder, not a file", "name a file in it, or several by a glob"
    elif member and member.protocol == "zip" and member.archive == location.file:
        yield from _missing_member(member_name(member.path), path, shown, boundary)


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
            names = list(member_names(archive))
    except (NotUnpackedError, ReachError, OSError):  # the build reports it
        return
    if pattern not in names and not any(map(path_matcher(pattern), names)):
        hint = did_you_mean(pattern, names[:_MOST_NAMES]) or "correct the name of the member"
        yield f"no file '{pattern}' in '{shown}'", hint


def unknown_column(spec: DatasetSpec) -> Iterator[Finding]:
    """Report columns that are neither in the manifest's list of columns nor in a local file."""
    files = _known_records(spec)
    if files is not None:
        yield from _findings(spec, files)


def unknown_pinned_column(pinned: PinnedDataset) -> Iterator[Finding]:
    """Report columns that the records, whose columns the lockfile lists, don't have."""
    spec, pin = pinned.spec, pinned.pin
    # A pin lists the columns of the first source.
    if spec is None or not isinstance(pin, Pin) or len(spec.sources) > 1:
        return
    if _known_records(spec) is not None or unpinned_sources(spec, pin):
        return
    record = {**dict.fromkeys(pin.columns, UNKNOWN), **spec.source.columns}
    record |= dict.fromkeys(spec.source.captures, UNKNOWN)
    repin = f"`registry lock {pinned.name}` looks again"
    for found in _findings(spec, [(False, iter([record]))]):
        message = f"{found.message} in the records that datasets.lock pins"
        yield replace(found, message=message, hint=f"{found.hint}; {repin}")


def _findings(spec: DatasetSpec, files: Sequence[FileRecords]) -> Iterator[Finding]:
    try:
        found = missing_columns(compilable(spec), files, lambda: _lookup_records(spec))
    except (DecodeError, OSError):  # the build reports a file that can't be read
        return
    for one in found:
        yield Finding(one.path, one.message, one.hint)


def _known_records(spec: DatasetSpec) -> list[FileRecords] | None:
    """Return the records of a dataset, or one that stands for all; None if none are known."""
    known: list[FileRecords] = []
    for source in spec.sources:
        if source.column_names is not None:
            names = [*source.column_names, *source.columns, *source.captures]
            known.append((False, iter([dict.fromkeys(names, UNKNOWN)])))
        elif (files := local_records(source, spec.folder)) is not None:
            known += files
        else:
            return None
    return known


def _lookup_records(spec: DatasetSpec) -> Iterable[Mapping[str, Any]]:
    """Return the records of the lookup table of `join`; empty if they are not known."""
    files = None if spec.join is None else local_records(spec.join.source, spec.folder)
    return chain.from_iterable(records for _, records in files or ())


def uncompilable_expression(spec: DatasetSpec) -> Iterator[Finding]:
    """Report fields, and a condition, that don't compile."""
    # The mapper stops at its first error. Compiling each field alone finds all errors but takes
    # longer, so it is done only if there is an error.
    if _compile_error(spec.fields):
        for name in FieldsSpec.__struct_fields__:
            if error := _compile_error(_only(spec, name)):
                yield Finding(("fields", name), error.removeprefix(f"field {name}: "))
    if error := _condition_error(spec):
        yield Finding(("where",), error)


def compilable(spec: DatasetSpec) -> DatasetSpec:
    """Return a dataset without the fields, and without the condition, that don't compile."""
    if _compile_error(spec.fields):
        kept = {
            name: None if _compile_error(_only(spec, name)) else getattr(spec.fields, name)
            for name in FieldsSpec.__struct_fields__
        }
        spec = replace(spec, fields=FieldsSpec(**kept))
    return replace(spec, where=None) if _condition_error(spec) else spec


def _compile_error(fields: FieldsSpec) -> str:
    """Return the first error in fields, or ""."""
    try:
        FieldMapper(fields)
    except ValueError as error:
        return str(error)
    return ""


def _only(spec: DatasetSpec, name: str) -> FieldsSpec:
    """Return the fields of a dataset with all but one set to None."""
    others: dict[str, Any] = dict.fromkeys(FieldsSpec.__struct_fields__)
    return FieldsSpec(**{**others, name: getattr(spec.fields, name)})


def _condition_error(spec: DatasetSpec) -> str:
    """Return the first error in the condition, or ""."""
    try:
        if spec.where is not None:
            compile_condition(parse_condition(spec.where))
    except ValueError as error:
        return str(error)
    return ""
