"""Keys of a manifest as lines of YAML, and rows of corrections: what is new, and what changed.

Changed keys are removed and added lines, with the equal ones around them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import yaml

from registry.base.escape import escape_control
from registry.corrections.file import shown
from registry.diff.models import Chunk, CorrectionChange, DatasetChange, KeyChange
from registry.diff.summary import SHA256, cut_middle, places, value_text
from registry.diff.words import differences
from registry.errors import count_text
from registry.manifest.origins import Origin
from registry.yamldoc.writer import block_lines

__all__ = ["Edit", "Fact", "correction_lines", "edits", "facts"]

_FIELD = re.compile(r"fields\.[^.\[]+")
_CONTEXT = 2
"""Equal lines that are left before and after a change."""
_MOST_LINES = 60
_MOST_ROWS = 20
"""Rows of corrections that are shown; all are in the file itself, and in `--format json`."""
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}
_SHORT = 60
"""Characters of a list on one line."""
# What a reviewer of a new dataset reads first; the rest follows in the manifest's order.
_FIRST = ("description", "license", "access", "source", "mapper", "fields")
_LAST = ("bytes.", "pin.")


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One key, or all keys of one sample field, whose values changed."""

    key: str
    lines: tuple[Chunk, ...]
    places: str
    inherited_by: tuple[str, ...]

    @property
    def pair(self) -> tuple[str, str] | None:
        """The old and the new value, if each is one line."""
        signs = [one.sign for one in self.lines]
        return (self.lines[0].text, self.lines[1].text) if signs == ["-", "+"] else None


class Fact(NamedTuple):
    """A key of a new dataset."""

    key: str
    text: str
    """Its value on one line."""
    lines: Sequence[str] = ()
    """Its value as YAML, if that is better to read."""


def edits(changes: Iterable[KeyChange]) -> Iterator[Edit]:
    """Yield what changed; the keys of one sample field are one edit."""
    for (key, inherited_by), group in groupby(changes, _identity):
        found = list(group)
        old, new = (_value(key, [getattr(one, side) for one in found]) for side in ("old", "new"))
        if len(found) == 1 and not any(map(_is_block, (old, new))):
            values = (value_text(found[0].old), value_text(found[0].new))
            lines: tuple[Chunk, ...] = (Chunk("-", values[0]), Chunk("+", values[1]))
        else:
            lines = tuple(_diff(_value_lines(old), _value_lines(new)))
        where = dict.fromkeys(place for one in found for place in places(one).split(" → "))
        yield Edit(key=key, lines=lines, places=" → ".join(where), inherited_by=inherited_by)


def facts(change: DatasetChange) -> Iterator[Fact]:
    """Yield the values of a new dataset, the most important first."""

    def importance(key: str) -> int:
        ranks = (n for n, first in enumerate(_FIRST) if key.startswith(first))
        return next(ranks, len(_FIRST) + key.startswith(_LAST))

    for key in sorted(change.facts, key=importance):
        origin = change.facts[key]
        yield Fact(
            key, value_text(origin), _value_lines(origin.value) if _is_block(origin.value) else ()
        )


def _identity(change: KeyChange) -> tuple[str, tuple[str, ...]]:
    field = _FIELD.match(change.key)
    return (field[0] if field else change.key, change.inherited_by)


def _value(key: str, origins: Iterable[Origin | None]) -> Any:
    """Return the value of a key, put together from those of the keys below it."""
    found: dict[str, Any] = {}
    for one in origins:
        if one is None or one.value is None:
            continue
        if one.key == key:
            return one.value
        found[one.key.removeprefix(key).lstrip(".")] = one.value
    return found or None


def _is_block(value: Any) -> bool:
    """Return whether a value is better read as lines of YAML than as JSON on one line."""
    if isinstance(value, list):
        return any(isinstance(one, (dict, list)) for one in value) or len(str(value)) > _SHORT
    return isinstance(value, dict) and value != {}


def _value_lines(value: Any) -> list[str]:
    """Return a value as lines of YAML."""
    if value is None:
        return []
    try:
        return block_lines(value)
    except yaml.YAMLError:  # a value of a package's own type
        return str(value).split("\n")


def _diff(old: list[str], new: list[str]) -> Iterator[Chunk]:
    lines: list[Chunk] = []
    for removed, added, equal in differences(old, new):
        lines += (Chunk("-", line) for line in removed)
        lines += (Chunk("+", line) for line in added)
        lines += (Chunk("=", line) for line in equal)
    near = {
        k
        for n, line in enumerate(lines)
        if line.sign != "="
        for k in range(n - _CONTEXT, n + _CONTEXT + 1)
    }
    kept = [
        chunk
        for is_kept, group in groupby(enumerate(lines), lambda one: one[0] in near)
        for chunk in _folded([line for _, line in group], is_kept=is_kept)
    ]
    for sign, text in kept[:_MOST_LINES]:
        yield Chunk(sign, cut_middle(escape_control(SHA256.sub(r"\1…", text)), 400))
    if len(kept) > _MOST_LINES:
        yield Chunk("=", f"… {count_text(len(kept) - _MOST_LINES, 'more line')}")


def _folded(lines: list[Chunk], *, is_kept: bool) -> list[Chunk]:
    if is_kept or len(lines) == 1:
        return lines
    return [Chunk("=", f"… {count_text(len(lines), 'equal line')}")]


def correction_lines(
    changes: Iterable[CorrectionChange], *, most: int = _MOST_ROWS
) -> Iterator[str]:
    """Yield a line for each of the first changes, with its reason and source."""
    rows = list(changes)
    for row in rows[:most]:
        if row.drop and not row.field:
            what = "left out"
        else:
            now = "left out" if row.drop else shown(row.now)
            what = f"{row.field} {shown(row.was)} → {now}"
        yield f"{_SIGNS[row.status]} {row.label}: {what}: {row.evidence}"
    if len(rows) > most:
        yield f"… and {len(rows) - most:,} more"
