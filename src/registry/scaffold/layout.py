"""Where the records are: in several files, in two with the same keys, or inside a JSON document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from registry.errors import DecodeError, count_text
from registry.mapping.conditions import equal
from registry.scaffold.columns import (
    IDS,
    INPUTS,
    MESSAGES,
    Ask,
    Guess,
    Question,
    option_text,
    refuse,
)

__all__ = [
    "Layout",
    "infer_join",
    "infer_layout",
    "joined_records",
    "nearest_join",
    "sniff_records",
]

Records = Sequence[Mapping[str, Any]]

_SPLITS = (
    *("test", "testing", "eval", "evaluation", "validation", "valid", "val", "dev", "devel"),
    *("development", "train", "training"),
)
"""Names of splits; the first that there is becomes the default."""
_SEPARATORS = (r"([/._-])", r"([/.])")
_LANGUAGE = re.compile(r"[a-z]{2,3}([-_][A-Za-z]{2,4})?")
_MOST_CAPTURES = 2
_DEEPEST, _OFFERED = 3, 10


def infer_join(records: Records, table: Records) -> tuple[str, str] | None:
    """Return the column of the records and that of the table whose keys are equal, or None.

    Each row of the table has a key of its own, and each record a row.
    """
    found = []
    for key in _columns(table):
        rows = [_hashable(row.get(key)) for row in table]
        if None in rows or len(set(rows)) < len(rows):
            continue
        found += [
            (own, key)
            for own in _columns(records)
            if {_hashable(record.get(own)) for record in records} <= set(rows)
        ]
    # Equal names say more than names of ids, and both more than values that happen to be equal.
    return max(found, key=lambda one: (one[0] == one[1], *map(_is_id, one)), default=None)


def nearest_join(records: Records, table: Records) -> str:
    """Return what is wrong with the keys that come nearest to a join; "" if none are alike."""
    found: list[tuple[int, str]] = []
    for own in _columns(records):
        asked = dict.fromkeys(filter(None, (_hashable(one.get(own)) for one in records)))
        for key in _columns(table):
            keys = Counter(filter(None, (_hashable(row.get(key)) for row in table)))
            texts = {str(value) for _, value in keys}
            same = sum(one in keys for one in asked)
            alike = sum(str(value) in texts for _, value in asked)
            if alike * 2 < len(asked) or not asked:
                continue
            names = f"'{own}' of the records and '{key}'"
            missing = [value for kind, value in asked if (kind, value) not in keys]
            twice = [value for (_, value), count in keys.items() if count > 1]
            if not same:
                kinds = (type(next(iter(one))[1]).__name__ for one in (asked, keys))
                fault = f"have the same values, but of the types {' and '.join(kinds)}"
            elif missing:
                values = count_text(len(asked), "value")
                fault = f"share {same:,} of {values} ({missing[0]!r} has no row)"
            else:
                fault = f"match, but the rows repeat {count_text(len(twice), 'key')} ({twice[0]!r})"
            found.append((max(same, alike), f"{names} {fault}"))
    return max(found, default=(0, ""), key=lambda one: one[0])[1]


def joined_records(records: Records, table: Records, join: Mapping[str, Any]) -> Records:
    """Return the records with the columns of their rows, as dotted paths; `join` has its keys."""
    on, into = join["on"], join["into"]
    key = join.get("key", on)
    rows = {_hashable(row.get(key)): row for row in table}
    return [
        {
            **record,
            **{
                f"{into}.{name}": value
                for name, value in rows.get(_hashable(record.get(on)), {}).items()
                if name != key
            },
        }
        for record in records
    ]


def _columns(records: Records) -> list[str]:
    return list(dict.fromkeys(name for record in records[:1000] for name in record if name))


def _hashable(value: Any) -> Any:
    """Return a key that equals those that `join` takes for equal; None for what is no key."""
    is_key = isinstance(value, str | int | float) and value != "" and equal(value, value)
    return (isinstance(value, bool), value) if is_key else None


def _is_id(name: str) -> bool:
    return name.casefold() in IDS or name.casefold().endswith("id")


@dataclass(frozen=True)
class Layout:
    """One path for several files."""

    path: str
    """The path, with `{split}`, other names in braces, and `*` for numbers."""
    splits: tuple[str, ...] = ()
    """The splits, the default one first."""
    captures: Mapping[str, str] = field(default_factory=dict)
    """Names in braces other than `split`, each with one of its values."""

    @property
    def default_path(self) -> str:
        """The path of the default split."""
        return self.path.replace("{split}", self.splits[0]) if self.splits else self.path


def infer_layout(names: Sequence[str]) -> Layout | None:
    """Return the path that the names of files have in common; None if they have no common form."""
    found = [layout for one in _SEPARATORS if (layout := _aligned(names, one)) is not None]
    # Splits are the surest; otherwise the fewest parts that vary.
    return min(found, key=lambda one: (not one.splits, len(one.captures)), default=None)


def _aligned(names: Sequence[str], separators: str) -> Layout | None:
    rows = [re.split(separators, name) for name in names]
    if len({len(row) for row in rows}) > 1:
        return None
    path, splits, captures = "", (), dict[str, str]()
    for number, values in enumerate(zip(*rows, strict=True)):
        if len(set(values)) == 1:
            path += values[0]
        elif number % 2:  # separators
            return None
        elif not splits and {one.casefold() for one in values} <= set(_SPLITS):
            ordered = sorted(set(values), key=lambda one: _SPLITS.index(one.casefold()))
            path, splits = f"{path}{{split}}", tuple(ordered)
        elif all(map(str.isdigit, values)):
            path += "*"
        else:
            is_language = "lang" not in captures and all(map(_LANGUAGE.fullmatch, values))
            name = "lang" if is_language else f"part_{len(captures) + 1}" if captures else "part"
            path += f"{{{name}}}"
            captures[name] = values[0]
    return Layout(path, splits, captures) if len(captures) <= _MOST_CAPTURES else None


def sniff_records(document: Any, *, file: str, ask: Ask = refuse) -> Guess | None:
    """Return a guess of `records` or `item`; None if the document is an array of records, or one.

    Where several arrays could be meant, `ask` decides.

    Raises:
        DecodeError: the document has a list or a map of row numbers for each column.
    """
    if isinstance(document, list):
        if document and not any(isinstance(one, dict) for one in document):
            reason = "the items of the array are not objects, so they get a column"
            is_list = any(isinstance(one, list) for one in document)
            return Guess("item", "item" if is_list else "input", reason)
        return None
    if not isinstance(document, dict) or _is_record(document):
        return None
    if _is_by_columns(document):
        message = (
            "this is a table by columns, not records (write it anew: in pandas"
            " to_json(orient='records'))"
        )
        raise DecodeError(message, file=file)
    found, values = dict(_arrays(document, "")), list(document.values())
    are_objects = len(values) > 1 and all(isinstance(one, dict) and one for one in values)
    if not found and are_objects and set.intersection(*map(set, values)):  # with a common key
        reason = f"the values of all {len(document):,} keys are records; the keys are lost"
        return Guess("records", "*", reason)
    if not found:
        return None
    path = next(iter(found))
    if len(found) > 1:
        paths = {option_text("--records", path): path for path in list(found)[:_OFFERED]}
        options = {way: count_text(found[path], "record") for way, path in paths.items()}
        more = f" (the first {_OFFERED} of {len(found):,})" if len(found) > _OFFERED else ""
        path = paths[ask(Question(file, f"list of records{more}", options))]
    reason = f"the list of {count_text(found[path], 'object')} in the document"
    return Guess("records", path, reason)


def _is_record(document: dict[str, Any]) -> bool:
    """Return whether the document itself is a record: it has an input."""
    return any(
        key.casefold() in (*INPUTS, *MESSAGES) and isinstance(value, str | list)
        for key, value in document.items()
        if isinstance(value, str) or key.casefold() in MESSAGES
    )


def _is_by_columns(document: dict[str, Any]) -> bool:
    """Return whether each value has the cells of one column, as pandas writes it by default."""
    values = list(document.values())
    if not values:
        return False
    if all(isinstance(one, dict) for one in values):
        rows = [str(number) for number in range(len(values[0]))]
        return bool(rows) and all(list(one) == rows for one in values)
    sizes = {len(one) if isinstance(one, list) else -1 for one in values}
    cells = (cell for one in values if isinstance(one, list) for cell in one)
    are_flat = not any(isinstance(one, dict | list) for one in cells)
    return len(values) > 1 and len(sizes) == 1 and min(sizes) > 0 and are_flat


def _arrays(value: dict[str, Any], prefix: str) -> Iterator[tuple[str, int]]:
    """Yield the dotted path and the size of every list of objects.

    Below other keys, a single object is a part of a record that the document itself is.
    """
    for key, one in value.items():
        if "." in key and prefix:  # no path can name it
            continue
        if isinstance(one, list) and all(isinstance(item, dict) for item in one):
            if len(one) > (1 if prefix else 0):
                yield prefix + key, len(one)
        elif isinstance(one, dict) and prefix.count(".") < _DEEPEST and "." not in key:
            yield from _arrays(one, f"{prefix}{key}.")
