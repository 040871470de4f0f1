"""Write rows of a corrections file: for one sample, or for all that a corrected copy changes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from registry.base.digest import encode_value
from registry.corrections.file import EVIDENCE, SampleName, metadata_key, same_value
from registry.yamldoc.writer import quoted_text

if TYPE_CHECKING:
    from registry.samples.sample import Sample
    from registry.store.arrow_dataset import ArrowDataset

__all__ = [
    "ABSENT",
    "Inferred",
    "file_text",
    "infer_rows",
    "report_rows",
    "report_text",
    "row_text",
    "value_of",
]

ABSENT: Any = object()
"""The value of a field that a sample does not have."""
_FIELDS = ("input", "target", "choices")


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
