"""Compare the samples of two datasets, matched by id, else by content, and their corrections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from registry.base.escape import start_of
from registry.base.process_state import cached_property
from registry.corrections.file import Correction, Corrections, parse_corrections, shown
from registry.diff.matching import (
    DigestTable,
    Matching,
    Pair,
    Samples,
    digest_table,
    field_bytes,
    field_text,
    match,
    moved,
    target_items,
)
from registry.diff.models import Chunk, CorrectionChange, Example, FieldChange, SampleChange
from registry.diff.words import item_diff, word_diff
from registry.errors import RegistryError
from registry.samples.fields import COMPARED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from registry.boundary.boundary import Boundary
    from registry.manifest.models import DatasetSpec
    from registry.samples.sample import Sample

__all__ = [
    "STATUSES",
    "Compared",
    "Samples",
    "Status",
    "compare_samples",
    "corrections_between",
    "corrections_of",
    "counterpart",
    "equal_samples",
    "field_change",
    "new_samples",
]

Status = Literal["changed", "removed", "added", "equal"]
STATUSES: tuple[Status, ...] = get_args(Status)
"""What becomes of a sample, in the order in which people look."""

_MAX_LABEL = 120
_FIELDS_OF_EXAMPLE = ("input", "choices", "target")


@dataclass(frozen=True)
class Compared:
    """The samples of two datasets: which are one, and which fields of these differ."""

    old: Samples
    new: Samples
    matching: Matching
    added: list[int]
    removed: list[int]
    changed: list[Pair]
    differs: NDArray[np.bool_]
    """Of each changed pair, whether the id and each field differs."""

    @classmethod
    def of(cls, old: Samples, new: Samples, *, edited: bool = True) -> Compared:
        """Compare two datasets; `edited` is as for `match`."""
        before, after = digest_table(old), digest_table(new)
        found = match(old, new, before, after, edited=edited)
        removed, added = found.unmatched(len(before.ids), len(after.ids))
        changed, differs = _changed(
            before, after, found.pairs, with_ids=not (old.auto_id or new.auto_id)
        )
        if not (changed or added or removed or moved(found.pairs)):
            # "No difference" must be exact, as the digests in a lockfile are: row numbers count,
            # and texts whose short digests are equal.
            changed, differs = _unequal(old, new)
        return cls(old, new, found, added, removed, changed, differs)

    @cached_property
    def equal(self) -> list[Pair]:
        """The samples that do not differ."""
        changed = set(self.changed)
        return [pair for pair in self.matching.pairs if pair not in changed]

    def change(self, *, examples: int) -> SampleChange:
        """Return how they differ, with up to `examples` of each kind of difference."""
        counts = zip(("id", *COMPARED), self.differs.sum(axis=0).tolist(), strict=True)
        shown = range(examples)
        return SampleChange(
            old=len(self.old.samples),
            new=len(self.new.samples),
            matched_by="id" if self.matching.by_id else "content",
            similar=self.matching.similar,
            unsearched=self.matching.unsearched,
            added=len(self.added),
            removed=len(self.removed),
            changed=len(self.changed),
            moved=moved(self.matching.pairs),
            fields={field: count for field, count in counts if count},
            examples=(
                *(self.changed_example(n) for n in shown[: len(self.changed)]),
                *(_example_of_one("added", self.new, n) for n in self.added[:examples]),
                *(_example_of_one("removed", self.old, n) for n in self.removed[:examples]),
            ),
            warnings=_new_warnings(self.old.warnings, self.new.warnings),
        )

    def changed_example(self, number: int) -> Example:
        """Return a changed pair, with what differs in it word by word."""
        i, j = self.changed[number]
        before, after = self.old.samples[i], self.new.samples[j]
        fields = (("id", *COMPARED)[n] for n in np.flatnonzero(self.differs[number]).tolist())
        changes = tuple(field_change(before, after, field) for field in fields)
        return Example("changed", _label(after, j, self.new), changes, (before, after))

    def example(self, status: Status, number: int) -> Example:
        """Return one of `changed`, `removed`, `added` or `equal`, by its place among these."""
        match status:
            case "changed":
                return self.changed_example(number)
            case "equal":
                j = self.equal[number].new
                sample = self.new.samples[j]
                return Example(status, _label(sample, j, self.new), (), (sample,))
            case "removed":
                return _example_of_one(status, self.old, self.removed[number])
        return _example_of_one(status, self.new, self.added[number])


def compare_samples(old: Samples, new: Samples, *, examples: int = 3) -> SampleChange:
    """Return how two datasets differ, with up to `examples` of each kind of difference."""
    return Compared.of(old, new).change(examples=examples)


def equal_samples(old: Samples, new: Samples) -> list[tuple[int, int]]:
    """Return the positions in both datasets of the samples that are equal in all but their ids."""
    before, after = digest_table(old), digest_table(new)
    pairs = match(old, new, before, after, edited=False).pairs
    return [(i, j) for i, j in pairs if (before.digests[i] == after.digests[j]).all()]


def counterpart(old: Samples, new: Samples, position: int) -> int | None:
    """Return the position of a new sample in the old ones, as `compare_samples` matches them."""
    if not (old.auto_id or new.auto_id):
        # Most often ids match, and no field needs to be digested.
        ids = [[sample.id for sample in side.samples] for side in (old, new)]
        are_unique = all(len(set(one)) == len(one) and None not in one for one in ids)
        if are_unique and ids[1][position] in set(ids[0]):
            return ids[0].index(ids[1][position])
    pairs = match(old, new, digest_table(old), digest_table(new)).pairs
    return next((i for i, j in pairs if j == position), None)


def field_change(before: Sample, after: Sample, field: str) -> FieldChange:
    """Return how a field that differs between two samples does, word by word."""
    if field == "id":
        texts = [str(before.id), str(after.id)]
        if texts[0] == texts[1]:  # 1 → "1"
            texts = [repr(before.id), repr(after.id)]
        return FieldChange(field, word_diff(*texts))
    values = getattr(before, field), getattr(after, field)
    if field == "target" and all(isinstance(one, list) for one in values):
        return FieldChange(field, item_diff(*map(target_items, values)))
    texts = [field_text(before, field), field_text(after, field)]
    if texts[0] == texts[1]:  # equal as text, such as None and ""
        data = field_bytes(before, field), field_bytes(after, field)
        texts = [one.decode("utf-8", "replace") for one in data]
    return FieldChange(field, word_diff(*texts))


def new_samples(new: Samples, *, examples: int = 3) -> SampleChange:
    """Return the first samples of a new dataset."""
    count = len(new.samples)
    shown = (_example_of_one("added", new, n) for n in range(min(examples, count)))
    warnings = _new_warnings({}, new.warnings)
    return SampleChange(new=count, added=count, examples=tuple(shown), warnings=warnings)


def _new_warnings(
    old: Mapping[str, tuple[int, str]], new: Mapping[str, tuple[int, str]]
) -> tuple[str, ...]:
    """Return what is questionable in more samples than before."""
    # -1: also a kind that has no count, such as an unused `accept`, may be new.
    return tuple(text for kind, (count, text) in new.items() if count > old.get(kind, (-1, ""))[0])


def _changed(
    before: DigestTable, after: DigestTable, pairs: list[Pair], *, with_ids: bool
) -> tuple[list[Pair], NDArray[np.bool_]]:
    """Return the pairs that differ and, a row per pair, whether the id and each field does."""
    positions = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    differs = np.zeros((len(pairs), 1 + len(COMPARED)), dtype=np.bool_)
    differs[:, 1:] = before.digests[positions[:, 0]] != after.digests[positions[:, 1]]
    if with_ids:
        differs[:, 0] = [before.ids[i] != after.ids[j] for i, j in pairs]
    changed = np.flatnonzero(differs.any(axis=1))
    return [pairs[n] for n in changed.tolist()], differs[changed]


def _unequal(old: Samples, new: Samples) -> tuple[list[Pair], NDArray[np.bool_]]:
    """Return what `_changed` does for equally many samples in the same order, compared exactly."""
    rows = [
        [
            one.id != two.id,
            *(field_bytes(one, field) != field_bytes(two, field) for field in COMPARED),
        ]
        for one, two in zip(old.samples, new.samples, strict=True)
    ]
    differs = np.array(rows, dtype=np.bool_).reshape(-1, 1 + len(COMPARED))
    changed = np.flatnonzero(differs.any(axis=1))
    return [Pair(n, n) for n in changed.tolist()], differs[changed]


def _example_of_one(
    status: Literal["added", "removed"], dataset: Samples, position: int
) -> Example:
    sample = dataset.samples[position]
    sign: Literal["+", "-"] = "+" if status == "added" else "-"
    texts = ((field, field_text(sample, field)) for field in _FIELDS_OF_EXAMPLE)
    fields = tuple(FieldChange(field, (Chunk(sign, text),)) for field, text in texts if text)
    return Example(status, _label(sample, position, dataset), fields, (sample,))


def _label(sample: Sample, position: int, dataset: Samples) -> str:
    if sample.id is None or dataset.auto_id:
        return f"sample {position + 1}"
    return f"id {start_of(str(sample.id), _MAX_LABEL)}"


# --- corrections ---


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


def _by_subject(found: Corrections | None) -> Mapping[object, Correction]:
    rows = () if found is None else found.rows
    return {(row.sample, "" if row.drop else row.field): row for row in rows}


def _content(row: Correction) -> tuple[str, ...]:
    return (shown(row.was), shown(row.now), row.field, row.evidence)


def _change(status: Literal["added", "removed", "changed"], row: Correction) -> CorrectionChange:
    names = (one.name for one in fields(CorrectionChange) if one.name != "status")
    return CorrectionChange(status=status, **{name: getattr(row, name) for name in names})
