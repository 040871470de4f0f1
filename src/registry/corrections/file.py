"""Read a corrections file: strictly, with the position of each problem."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from registry.base.digest import canonical_json
from registry.errors import ManifestError, Problem
from registry.manifest.validation import validate
from registry.yamldoc.reader import DataPath, Document, parse_bytes, read_yaml

__all__ = [
    "EVIDENCE",
    "Correction",
    "Corrections",
    "SampleName",
    "is_corrections",
    "metadata_key",
    "parse_corrections",
    "read_problems",
    "same_value",
    "shown",
]

EVIDENCE = ("verdict", "reason", "source", "by")
"""Keys of a row that say why, and that `defaults` may give."""
_METADATA = "metadata."
_MAX_SHOWN = 160

SampleName = tuple[Literal["id", "record"], str | int]
"""How a row names its sample: by its id, or by the number of its record."""


class Correction(Struct, frozen=True, kw_only=True):
    """One row: a field of a sample that is wrong, or a sample that is left out."""

    index: int
    """Its place in the file, from 0."""
    sample: SampleName
    field: str = ""
    """Empty for a sample that is left out whatever it has."""
    was: Any = None
    now: Any = None
    drop: bool = False
    """Whether the sample is left out."""
    verdict: str = ""
    """What kind of fault it is."""
    reason: str = ""
    """Why it is wrong."""
    source: str = ""
    """Where the fault was reported or proved."""
    by: str = ""
    """Who reviewed it."""

    @property
    def label(self) -> str:
        """The sample in words: `id 'q-17'`, `record 3`."""
        kind, value = self.sample
        return f"id {value!r}" if kind == "id" else f"record {value}"

    @property
    def evidence(self) -> str:
        """Verdict, reason, source and reviewer, as far as they are known, in one line."""
        about = f"{self.verdict}: {self.reason}" if self.verdict else self.reason
        rest = ", ".join(filter(None, [self.source, self.by and f"reviewed by {self.by}"]))
        return f"{about} ({rest})" if rest else about


class Corrections(Struct, frozen=True):
    """The rows of a file, and where each is."""

    document: Document
    rows: tuple[Correction, ...]

    def fault(
        self, row: Correction, message: str, hint: str = "", *, key: str = "", rule: str = ""
    ) -> Problem:
        """Return a problem at a row, or at one of its keys."""
        place: DataPath = ("corrections", row.index)
        path = (*place, key) if key else place
        return self.document.problem(path, message, hint, rule=rule or "bad-correction")

    def line(self, row: Correction) -> int:
        """Return the line of a row."""
        return self.document.position(("corrections", row.index)).line


def parse_corrections(data: bytes, *, file: str) -> Corrections:
    """Parse the bytes of a corrections file; `file` is its name in messages.

    Raises:
        ManifestError: with all problems, sorted by position.
    """
    return _checked(parse_bytes(data, file=file))


def read_problems(path: Path, *, shown_as: str) -> tuple[Problem, ...]:
    """Return the problems of a corrections file that exists."""
    try:
        _checked(read_yaml(path, shown_as=shown_as))
    except ManifestError as error:
        return error.problems
    return ()


def _checked(document: Document) -> Corrections:
    problems = validate(document, "corrections")
    if not problems:
        found = Corrections(document, tuple(_rows(document.value)))
        problems = sorted(_row_problems(found), key=lambda one: (one.line, one.column))
        if not problems:
            return found
    raise ManifestError(problems)


def is_corrections(document: Document | None) -> bool:
    """Return whether a YAML file has corrections, not datasets."""
    value = None if document is None else document.value
    return isinstance(value, dict) and "corrections" in value and "datasets" not in value


def metadata_key(field: str) -> str | None:
    """Return the key of a field of the metadata; None for another field."""
    return field.removeprefix(_METADATA) if field.startswith(_METADATA) else None


def shown(value: Any) -> str:
    """Return a value as messages show it, as JSON, so that '1' differs from 1."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    if len(text) <= _MAX_SHOWN:
        return text
    half = _MAX_SHOWN // 2
    return f"{text[:half]}…{text[-half:]}"


def same_value(one: Any, other: Any) -> bool:
    """Return whether two values are equal, in their types too: 1 is neither '1' nor true."""
    try:
        return canonical_json(one) == canonical_json(other)
    except TypeError:
        return False


def _rows(value: dict[str, Any]) -> Iterator[Correction]:
    defaults = value.get("defaults", {})
    for index, row in enumerate(value["corrections"]):
        keys = {**defaults, **row}
        name: SampleName = ("record", keys["record"]) if "record" in row else ("id", keys["id"])
        kept = {key: keys[key] for key in ("field", "was", "now", "drop", *EVIDENCE) if key in keys}
        yield Correction(index=index, sample=name, **kept)


def _row_problems(found: Corrections) -> Iterator[Problem]:
    """Yield what the schema can't tell: keys that exclude each other, and rows that do."""
    first: dict[tuple[SampleName, str], Correction] = {}
    dropped = {row.sample: row for row in found.rows if row.drop}
    for row in found.rows:
        raw = found.document.value["corrections"][row.index]
        yield from _key_problems(found, row, raw)
        field = "" if row.drop else row.field
        other = first.setdefault((row.sample, field), row)
        drop = dropped.get(row.sample)
        if other is not row:
            what = "left out" if row.drop else f"corrected in its {row.field}"
            message = f"{row.label} is {what} already, in line {found.line(other)}"
            yield found.fault(row, message, "keep one of the two rows")
        elif drop is not None and not row.drop:
            message = f"{row.label} is left out, in line {found.line(drop)}"
            yield found.fault(row, message, "keep one of the two rows")


def _key_problems(found: Corrections, row: Correction, raw: dict[str, Any]) -> Iterator[Problem]:
    if {"id", "record"} <= raw.keys():
        yield found.fault(row, "both `id` and `record`", "write one of them", key="record")
    if not row.reason:
        hint = "a reviewer must know why; `defaults` may give it for all rows"
        yield found.fault(row, "the key 'reason' is missing", hint, rule="missing-key")
    if row.drop:
        if "now" in raw:
            message = "`drop: true` leaves the sample out, so it has no `now`"
            yield found.fault(row, message, "remove one of the two", key="now")
        if ("field" in raw) != ("was" in raw):
            key = "field" if "field" in raw else "was"
            hint = "write both, or neither"
            yield found.fault(row, "`field` and `was` belong together", hint, key=key)
    elif same_value(row.was, row.now):
        yield found.fault(row, "`now` is what it was", "remove the row", key="now")
