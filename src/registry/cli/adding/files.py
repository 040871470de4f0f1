"""Which files `add` means: those of a folder, the members of an archive, or two to join."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED
from registry.boundary.paths import list_files
from registry.cli.adding.request import SourceOptions, allowing, file_keys, shown_progress
from registry.cli.adding.sources import sniff_file
from registry.errors import RegistryError, SourceError, count_text, list_names
from registry.manifest.resolve import spec_of_source
from registry.manifest.source_models import infer_source_keys
from registry.pipeline.preview import inspect_source
from registry.scaffold.columns import INPUTS, Ask, Guess, Question, option_text, refuse
from registry.scaffold.layout import Layout, infer_join, infer_layout, nearest_join
from registry.sources.pins import SourceContext
from registry.sources.source_type import reader_of

__all__ = ["ChosenFiles", "choose_files", "propose_join"]

_MOST_COMPARED = 12
"""Files whose columns are compared."""
_MOST_OFFERED = 8
_MOST_NAMES = 5


@dataclass(frozen=True)
class ChosenFiles:
    """What is read, and what the manifest says of it."""

    options: SourceOptions
    """With the file, or the path of the default split."""
    layout: Layout | None = None
    path: str = ""
    """The path with all that the layout names, for the manifest."""
    guesses: Sequence[Guess] = ()


@dataclass(frozen=True)
class _Place:
    """A folder or an archive."""

    name: str
    names: Sequence[str]
    """The files that a source can read, relative to it."""
    location: Callable[[str], str] = field(repr=False)
    """Returns how a file in it is named on the command line."""


def choose_files(
    options: SourceOptions, folder: Path, context: SourceContext, ask: Ask
) -> ChosenFiles:
    """Return the file that is meant, or all files of a folder or an archive under one path.

    Raises:
        click.UsageError: no source can read any file in it.
        DecodeError: several files may be meant, and nobody can be asked.
    """
    place = _place(str(options.file), folder, context)
    if place is None:
        return ChosenFiles(options)
    suffixes = [_suffix(name) for name in place.names]
    most = max(dict.fromkeys(suffixes), key=suffixes.count)
    names = [name for name in place.names if _suffix(name) == most]
    layout = infer_layout(names)
    columns = _Columns(options, place, folder, context)
    if layout is None or not (layout.splits or len(names) == 1 or columns.are_equal(names)):
        layout = None
    # Two files with the same columns, such as a second one in another format, can't be joined.
    is_pair = len(place.names) == 2 and not columns.are_equal(place.names)
    if is_pair and options.join is None and not (layout is not None and layout.splits):
        main, other = sorted(place.names, key=lambda one: not columns.have_input(one))
        options = replace(options, file=place.location(main), join=place.location(other))
        return ChosenFiles(options, guesses=[Guess("file", options.file, "it has the questions")])
    if layout is None or len(names) == 1:
        chosen = names[0] if len(names) == 1 else _ask_for(place, ask)
        options = replace(options, file=place.location(chosen))
        left = [name for name in place.names if name != chosen]
        reason = f"of {place.name}" + (f", not {list_names(left, _MOST_NAMES)}" if left else "")
        return ChosenFiles(options, guesses=[Guess("file", chosen, reason)])
    guesses = [Guess("path", layout.path, f"the names of {count_text(len(names), 'file')}")]
    if layout.splits:
        default = f"the default one of {list_names(layout.splits, _MOST_NAMES)}"
        guesses.append(Guess("split", layout.splits[0], default))
    options = replace(options, file=place.location(layout.default_path))
    path = file_keys(replace(options, file=place.location(layout.path)), folder)["path"]
    return ChosenFiles(options, layout, path, guesses)


def _ask_for(place: _Place, ask: Ask) -> str:
    """Return the file that the user chooses."""
    ways = {
        option_text("--file", place.location(name)): name for name in place.names[:_MOST_OFFERED]
    }
    more = len(place.names) - len(ways)
    what = f"file of {place.name}" + (f" ({more:,} more not shown)" if more > 0 else "")
    return ways[ask(Question(place.name, what, dict.fromkeys(ways, "this file")))]


def _suffix(name: str) -> str:
    suffixes = Path(name).suffixes
    return "".join(suffixes[-2:] if Location(name).packed_suffix else suffixes[-1:])


def _place(file: str, folder: Path, context: SourceContext) -> _Place | None:
    """Return the files of a folder or an archive; None for any other location."""
    if os.path.isdir(file):
        root = os.path.expanduser(file)
        found = [os.path.relpath(one, root) for one in list_files(root, UNBOUNDED)]
        return _readable(file, found, lambda name: os.path.join(file, name))
    protocol = Location(file).archive_protocol
    if not protocol or Location(file).member is not None:
        return None
    # The type is of no use for a list of members, and any source has one.
    keys = file_keys(SourceOptions(file=f"{protocol}://**::{file}", type="csv"), folder)
    reader = reader_of(spec_of_source(keys, folder))
    with shown_progress(allowing(context, keys, folder)) as reporting:
        files = reader.fetch(reader.pin(reporting), reporting)
    members = [one.location.member.path for one in files if one.location.member is not None]
    return _readable(file, members, lambda name: f"{protocol}://{name}::{file}")


def _readable(file: str, names: Sequence[str], location: Callable[[str], str]) -> _Place:
    # macOS puts a second file beside each one into an archive.
    own = sorted(name for name in names if not name.startswith("__MACOSX/"))
    found = [name for name in own if infer_source_keys(name)]
    if not found:
        what = f"it has {list_names(own, _MOST_NAMES)}" if own else "it is empty"
        raise click.UsageError(
            f"{file} has no file that ends in .csv, .tsv, .json, .jsonl or .parquet ({what})"
        )
    return _Place(file, found, location)


@dataclass
class _Columns:
    """The columns of files, from their first records."""

    options: SourceOptions
    place: _Place
    folder: Path
    context: SourceContext
    _known: dict[str, frozenset[str]] = field(default_factory=dict)

    def are_equal(self, names: Sequence[str]) -> bool:
        """Return whether files have the same columns; the first of many stand for all."""
        return len({self._of(name) for name in names[:_MOST_COMPARED]}) == 1

    def have_input(self, name: str) -> bool:
        """Return whether a file has a column that an input is made of."""
        return not {one.casefold() for one in self._of(name)}.isdisjoint(INPUTS)

    def _of(self, name: str) -> frozenset[str]:
        if name not in self._known:
            try:
                options = replace(self.options, file=self.place.location(name), join=None)
                _, _, records = _read(options, self.folder, self.context, refuse, 1)
                self._known[name] = frozenset(key for one in records for key in one)
            except RegistryError:  # whoever reads the file says what is wrong
                self._known[name] = frozenset()
        return self._known[name]


def propose_join(
    file: str, records: Sequence[Mapping[str, Any]], folder: Path, context: SourceContext, ask: Ask
) -> tuple[dict[str, Any], Sequence[Mapping[str, Any]], list[Guess]]:
    """Return the keys of `join` for a second file, its rows, and what of them is guessed.

    Raises:
        SourceError: no column of the file has the values of a column of the records.
    """
    source, guesses, table = _read(SourceOptions(file=file), folder, context, ask, None)
    found = infer_join(records, table)
    if found is None:
        names = [
            list_names(list(rows[0]) if rows else [], _MOST_NAMES) for rows in (records, table)
        ]
        near = nearest_join(records, table) or f"columns: {names[0]}; of {file}: {names[1]}"
        raise SourceError(
            f"{file}: no column has one row for each value of a column of the records, of the same"
            f" type ({near})"
        )
    own, key = found
    into = "".join(one if one.isalnum() else "_" for one in Path(file).name.partition(".")[0])
    into = into if into not in records[0] else f"{into}_row"
    other = {} if key == own else {"key": key}
    join = {"source": source, "on": own, **other, "into": into}
    reason = f"each of {count_text(len(records), 'record')} has a row of {file}"
    how = own if own == key else f"{own} = {key}"
    return join, table, [*guesses, Guess("join", how, reason)]


def _read(
    options: SourceOptions, folder: Path, context: SourceContext, ask: Ask, most: int | None
) -> tuple[dict[str, Any], list[Guess], Sequence[Mapping[str, Any]]]:
    context = allowing(context, file_keys(options, folder), folder)
    source, guesses = sniff_file(options, folder, context, ask)
    with shown_progress(context) as reporting:
        _, records = inspect_source(source, folder, reporting, most)
    return source, guesses, records
