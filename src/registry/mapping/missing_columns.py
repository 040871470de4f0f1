"""Find the columns that a manifest names and that no record has."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from registry.base.locations import Location
from registry.errors import MappingError, near_or_known
from registry.mapping.columns_used import KeyPath, NamedColumns, named_columns
from registry.mapping.row import column_hint, get_list, path_splits

if TYPE_CHECKING:
    from registry.manifest.models import DatasetSpec, Explode, Join

__all__ = ["UNKNOWN", "Mismatch", "UnseenColumns", "missing_columns"]

Record = Mapping[str, Any]


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()
"""The value of a column of which only the name is known: every path in it may exist."""


class Mismatch(Struct, frozen=True):
    """Something that a manifest says about its records, and that none of them fits."""

    path: KeyPath
    """Where the manifest says it, relative to the dataset."""
    message: str
    hint: str


class _Presence(IntEnum):
    """What a record says about a column or path; the highest of several readings counts."""

    ABSENT = 0
    """Not even the first part of the path is a column."""
    NULL = 1
    """A null is where the path continues, so another record may have an object there."""
    NO_KEY = 2
    """An object, or another value, is where the path continues, without the next key."""
    FOUND = 3


def _presence(record: Any, name: str) -> _Presence:
    """Look a column up as `get_column` does."""
    if record is UNKNOWN or (isinstance(record, Mapping) and name in record):
        return _Presence.FOUND
    if not isinstance(record, Mapping):
        return _Presence.NULL if record is None else _Presence.NO_KEY
    found = (
        _presence(record[head], rest) or _Presence.NO_KEY
        for head, rest in path_splits(name)
        if head in record
    )
    return max(found, default=_Presence.ABSENT)


class UnseenColumns:
    """The named columns that no record has had so far."""

    def __init__(self, uses: Iterable[NamedColumns] = ()) -> None:
        self.uses = list(uses)

    def see(self, record: Record) -> None:
        """Remove the columns that a record has."""
        self.remove_if(lambda name: _presence(record, name) is _Presence.FOUND)

    def remove_if(self, has: Callable[[str], bool]) -> None:
        """Remove the columns for which `has` is true."""
        self.uses = [use for use in self.uses if not any(map(has, use.names))]


def missing_columns(
    spec: DatasetSpec,
    sources: Iterable[tuple[bool, Iterable[Record]]],
    lookup: Callable[[], Iterable[Record]],
) -> list[Mismatch]:
    """Return the columns that a dataset names and no record has; empty if there are no records.

    Args:
        spec: The dataset.
        sources: For each file, whether its records may have different columns, and its records.
            No more of them are read than needed.
        lookup: Returns the records of the lookup table of `join`.
    """
    search, count = _Search(named_columns(spec)), 0
    missing = [] if spec.join is None else _see_lookup(spec.join, spec, search, lookup)
    for columns_vary, records in sources:
        for record in records:
            count += 1
            search.see(record, spec.explode)
            # If all records of a file have the same columns, the first one shows them, but maybe
            # not the keys of its objects.
            if not search.unseen.uses or not (columns_vary or search.is_undecided(spec)):
                break
    found = [*missing, *search.missing(spec)] if count else []
    return found + _missing_metadata_key(spec)


def _missing_metadata_key(spec: DatasetSpec) -> list[Mismatch]:
    """Return the key of `stratify_by` if the fields show that no sample's metadata has it."""
    key = None if spec.sample is None or spec.mapper is not None else spec.sample.stratify_by
    raw = spec.fields.metadata
    if key is None or isinstance(raw, str) or (isinstance(raw, Mapping) and "*" in raw):
        return []
    keys = dict.fromkeys(raw or (), UNKNOWN)
    if _presence(keys, key) is _Presence.FOUND:
        return []
    hint = near_or_known(key, keys, "metadata has")
    return [Mismatch(("sample", "stratify_by"), f"no metadata key '{key}'", hint)]


def _see_lookup(
    join: Join, spec: DatasetSpec, search: _Search, lookup: Callable[[], Iterable[Record]]
) -> list[Mismatch]:
    """Add the column of `join` to a search; return the key of the lookup table if it is missing."""
    place = ("join", "on" if join.key is None else "key")
    named = (
        [] if join.row_number is not None else [NamedColumns(place, (join.key or join.on or "",))]
    )
    keys = _Search(named)
    found = None
    for found in lookup():
        keys.see(found, None)
        search.see({join.into: found}, spec.explode)
        if not keys.unseen.uses and not search.unseen.uses:
            break
    if found is None:  # a table without records joins nulls
        search.see({join.into: None}, spec.explode)
        return []
    source = join.source.location
    table = os.path.relpath(source, spec.folder) if Location(source).is_path else source
    other = "; add `key` if the table has another name for it" if join.key is None else ""
    return [
        replace(one, message=f"{one.message} in the lookup table {table}", hint=one.hint + other)
        for one in keys.missing(spec)
    ]


class _Search:
    """The columns that are not found yet, and what the records have instead."""

    def __init__(self, uses: Iterable[NamedColumns]) -> None:
        self.unseen = UnseenColumns(uses)
        self._columns: dict[str, None] = {}
        self._ranks: dict[str, set[_Presence]] = {}
        """What the records said about each name."""
        self._has_items = False
        self._lists: dict[str, str] = {}
        """For a name, the column whose items have it as a key."""

    def see(self, record: Record, explode: Explode | None) -> None:
        """Look at a record, and at the records that `explode` makes of it."""
        self._see(record)
        if explode is None:
            return
        try:
            items = get_list(record, explode)
        except MappingError:  # the build says so, with the number of the record
            return
        if not isinstance(items, list):
            return
        for item in items:
            self._has_items = explode.then is None or self._has_items
            if not self.unseen.uses:
                break
            counts = filter(None, (explode.index, explode.number))
            self.see({explode.item: item, **dict.fromkeys(counts, 0)}, explode.then)

    def _see(self, record: Record) -> None:
        self._columns.update(dict.fromkeys(map(str, record)))
        for use in self.unseen.uses:
            for name in use.names:
                if (column := _list_with(record, name)) is not None:
                    self._lists[name] = column
                rank = _presence(record, name)
                self._ranks.setdefault(name, set()).add(rank)
                if rank is _Presence.NO_KEY:
                    self._columns.update(dict.fromkeys(_keys_beside(record, name)))
        self.unseen.see(record)

    def is_undecided(self, spec: DatasetSpec) -> bool:
        """Return whether a column that is not found may be in an object not seen yet."""
        return any(self._may_exist(name, spec) for use in self.unseen.uses for name in use.names)

    def missing(self, spec: DatasetSpec) -> list[Mismatch]:
        """Return the columns that no record has."""
        return [
            Mismatch(
                use.path,
                f"no column {_either(use.names)}",
                self._hint(use, spec),
            )
            for use in self.unseen.uses
            if not any(self._may_exist(name, spec) for name in use.names)
        ]

    def _hint(self, use: NamedColumns, spec: DatasetSpec) -> str:
        name = use.names[0]
        if (column := self._lists.get(name)) is not None and spec.explode is None:
            return (
                f"the items of '{column}' have it: `explode: {column}`, then `item.{name}`;"
                f" or, if the file is one object, `records: {column}` under `source`"
            )
        if use.path[0] in ("explode", "join"):  # which take no expression
            return near_or_known(name, self._columns, "columns")
        hint = column_hint(name, self._columns)
        # Where an argument or an item of a list may as well be a text that is always the same.
        is_fixed = "do" in use.path or use.path[:-1] == ("fields", "choices")
        return f"{hint}; a fixed text is `{{const: {json.dumps(name)}}}`" if is_fixed else hint

    def _may_exist(self, name: str, spec: DatasetSpec) -> bool:
        ranks = self._ranks.get(name, set())
        if _Presence.NULL in ranks and _Presence.NO_KEY not in ranks:
            return True  # only nulls where the path continues
        made = () if spec.explode is None else spec.explode.made
        return not self._has_items and _is_within(name, made)


def _list_with(record: Record, name: str) -> str | None:
    """Return the first column that has a list of objects with a key."""
    for column, value in record.items():
        if isinstance(value, list) and value and isinstance(value[0], Mapping) and name in value[0]:
            return column
    return None


def _is_within(path: str, columns: Iterable[str]) -> bool:
    """Return whether a path is one of several columns, or leads into one."""
    return any(path == column or path.startswith(f"{column}.") for column in columns)


def _either(names: tuple[str, ...]) -> str:
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _keys_beside(record: Record, name: str) -> Iterator[str]:
    """Yield the paths of all keys of the objects that the path `name` leads through."""
    for head, rest in path_splits(name):
        inner = record.get(head)
        if isinstance(inner, Mapping):
            yield from (f"{head}.{key}" for key in inner)
            yield from (f"{head}.{found}" for found in _keys_beside(inner, rest))
