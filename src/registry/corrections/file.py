"""Read and write a corrections file.

It is read strictly, with the position of each problem. Rows are written for one sample, or for all
that a corrected copy of a dataset changes.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from registry.base.digest import canonical_json, encode_value
from registry.errors import ManifestError, Problem
from registry.manifest.validation import validate
from registry.yamldoc.reader import DataPath, Document, parse_bytes, read_yaml
from registry.yamldoc.writer import quoted_text

if TYPE_CHECKING:
    from registry.samples.sample import Sample
    from registry.store.arrow_dataset import ArrowDataset

__all__ = [
    "ABSENT",
    "EVIDENCE",
    "Correction",
    "Corrections",
    "Inferred",
    "SampleName",
    "file_text",
    "infer_rows",
    "is_corrections",
    "metadata_key",
    "parse_corrections",
    "read_problems",
    "report_rows",
    "report_text",
    "row_text",
    "same_value",
    "shown",
    "value_of",
]

EVIDENCE = ("verdict", "reason", "source", "by")
"""Keys of a row that say why, and that `defaults` may give."""
_METADATA = "metadata."
_FIELDS = ("input", "target", "choices")
_MAX_SHOWN = 160

SampleName = tuple[Literal["id", "record"], str | int]
"""How a row names its sample: by its id, or by the number of its record."""

ABSENT: Any = object()
"""The value of a field that a sample does not have."""


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


# --- writing rows ---


class Inferred(Struct, frozen=True):
    """What a corrected copy changes in a dataset."""

    rows: tuple[str, ...]
    """The text of each row."""
    changed: int
    """Number of samples with another value."""
    dropped: int
    """Number of samples that the copy lacks."""
    added: tuple[str, ...]
    """Samples of the copy that the dataset lacks: no row can add them."""


def value_of(sample: Sample, field: str) -> Any:
    """Return the value of a field, or of a key of the metadata, as a row writes it."""
    key = metadata_key(field)
    if key is None:
        value = getattr(sample, field)
        if field == "input" and not isinstance(value, str):
            dumped = (one.model_dump(exclude={"id", "source"}, exclude_none=True) for one in value)
            return [encode_value(one) for one in dumped]
        return value
    found: Any = sample.metadata or {}
    while isinstance(found, dict) and key not in found and "." in key:
        step, _, key = key.partition(".")
        found = found.get(step)
    return found[key] if isinstance(found, dict) and key in found else ABSENT


def row_text(
    name: SampleName,
    evidence: Mapping[str, str],
    *,
    comments: Mapping[str, str] | None = None,
    **keys: Any,
) -> str:
    """Return a row as YAML, indented as in the list.

    The evidence is verdict, reason, source and reviewer; what is missing is left out. `comments`
    are remarks behind the values, by key; `keys` are `field`, `was`, `now` and `drop`.
    """
    values = {name[0]: name[1], **keys}
    values |= {key: evidence[key] for key in EVIDENCE if key in evidence}
    lines = [
        f"{key}: {quoted_text(value)}"
        + (f"  # {comments[key]}" if comments and key in comments else "")
        for key, value in values.items()
    ]
    return "  - " + "\n    ".join(lines) + "\n"


def report_text(
    sample: Sample, record: int, *, auto_id: bool = False, with_choices: bool = False
) -> str:
    """Return the row that reports a wrong target, to be completed by hand.

    `with_choices` adds the choices, as a remark, where those that are shown have another order.
    """
    name: SampleName = ("record", record)
    if sample.id is not None and not auto_id:
        name = ("id", sample.id)
    value = sample.target
    comments = {"now": "the correct value; or `drop: true` in its place", "reason": "why"}
    if with_choices:
        comments["was"] = f"of the choices {quoted_text(sample.choices)}"
    row = row_text(name, {"reason": ""}, comments=comments, field="target", was=value, now=value)
    return f"{row}    # source: where it was reported\n    # by: who reviewed it\n"


def report_rows(
    shown: Iterable[tuple[Sample, int]], original: ArrowDataset, *, auto_id: bool
) -> Iterator[str]:
    """Yield the row that reports a fault of each sample, by what its source gives.

    Args:
        shown: Samples as they are shown: corrected, with examples, with shuffled choices; each
            with the number of its record.
        original: The samples of `as_mapped`, in the order of their records.
        auto_id: Whether the samples are numbered.
    """
    rows = range(len(original))
    for sample, record in shown:
        at = bisect_left(rows, record, key=lambda row: original.records_at([row])[0])
        same = [original[at]]
        for row in rows[at + 1 :]:  # a record may give several samples
            if original.records_at([row]) != [record]:
                break
            same.append(original[row])
        own = (one for one in same if not auto_id and one.id == sample.id)
        source = next(own, same[0])
        is_moved = source.choices != sample.choices
        yield report_text(source, record, auto_id=auto_id, with_choices=is_moved)


def file_text(
    rows: Iterable[str], evidence: Mapping[str, str], license: str | None, *, schema: str
) -> str:
    """Return a corrections file with what is the same for all rows at its top."""
    head = f"# yaml-language-server: $schema={schema}\n"
    head += f"license: {quoted_text(license)}\n" if license else ""
    defaults = "".join(f"  {key}: {quoted_text(value)}\n" for key, value in evidence.items())
    return head + (f"defaults:\n{defaults}" if defaults else "") + "corrections:\n" + "".join(rows)


def infer_rows(
    original: Mapping[SampleName, Sample], corrected: Mapping[SampleName, Sample]
) -> Inferred:
    """Return the rows that make the samples of a corrected copy of a dataset."""
    rows: list[str] = []
    changed = dropped = 0
    for name, sample in original.items():
        if name not in corrected:
            dropped += 1
            rows.append(row_text(name, {}, drop=True))
            continue
        before = len(rows)
        for field in (*_FIELDS, *(f"metadata.{key}" for key in sample.metadata or {})):
            was, now = value_of(sample, field), value_of(corrected[name], field)
            if now is not ABSENT and not same_value(was, now):
                values = {"was": encode_value(was), "now": encode_value(now)}
                rows.append(row_text(name, {}, field=field, **values))
        changed += len(rows) > before
    added = tuple(f"{kind} {value!r}" for kind, value in corrected.keys() - original.keys())
    return Inferred(tuple(rows), changed, dropped, tuple(sorted(added)))
