"""Compare the corrections of two states of a dataset, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Literal

from registry.corrections.file import Correction, Corrections, parse_corrections, shown
from registry.diff.models import CorrectionChange
from registry.errors import RegistryError

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary
    from registry.manifest.models import DatasetSpec

__all__ = ["correction_lines", "corrections_between", "corrections_of"]

_SHOWN = 20
"""Rows that a report shows; all are in the file itself, and in `--format json`."""
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def corrections_of(spec: DatasetSpec, boundary: Boundary) -> Corrections | None:
    """Return the corrections of a dataset; None if it has none, or they can't be read."""
    if spec.corrections is None:
        return None
    try:
        with boundary.open_file(spec.corrections.path[0]) as file:
            return parse_corrections(file.read(), file=spec.corrections.path[0])
    except (RegistryError, OSError):  # a problem of its snapshot
        return None


def corrections_between(
    old: Corrections | None, new: Corrections | None
) -> tuple[CorrectionChange, ...]:
    """Return the rows that differ, in the order of the new file."""
    before, after = _by_subject(old), _by_subject(new)
    return (
        *(
            _change("added" if key not in before else "changed", row)
            for key, row in after.items()
            if key not in before or _content(before[key]) != _content(row)
        ),
        *(_change("removed", row) for key, row in before.items() if key not in after),
    )


def correction_lines(changes: Iterable[CorrectionChange], *, most: int = _SHOWN) -> Iterator[str]:
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


def _by_subject(found: Corrections | None) -> Mapping[object, Correction]:
    rows = () if found is None else found.rows
    return {(row.sample, "" if row.drop else row.field): row for row in rows}


def _content(row: Correction) -> tuple[str, ...]:
    return (shown(row.was), shown(row.now), row.field, row.evidence)


def _change(status: Literal["added", "removed", "changed"], row: Correction) -> CorrectionChange:
    names = (one.name for one in fields(CorrectionChange) if one.name != "status")
    return CorrectionChange(status=status, **{name: getattr(row, name) for name in names})
