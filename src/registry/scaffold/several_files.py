"""What several files are to each other: splits, numbered parts, or two with the same keys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from registry.errors import count_text
from registry.mapping.conditions import equal
from registry.scaffold.guess import IDS

__all__ = ["Layout", "infer_join", "infer_layout", "joined_records", "nearest_join"]

Records = Sequence[Mapping[str, Any]]

_SPLITS = (
    *("test", "testing", "eval", "evaluation", "validation", "valid", "val", "dev", "devel"),
    *("development", "train", "training"),
)
"""Names of splits; the first that there is becomes the default."""
_SEPARATORS = (r"([/._-])", r"([/.])")
_LANGUAGE = re.compile(r"[a-z]{2,3}([-_][A-Za-z]{2,4})?")
_MOST_CAPTURES = 2


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
