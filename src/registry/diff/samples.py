"""Compare the samples of two datasets, matched by id, else by content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from registry.diff.matching import DigestTable, Pair, Samples, digest_table, match, moved
from registry.diff.models import Chunk, Example, FieldChange, SampleChange
from registry.diff.sample_text import field_bytes, field_text, target_items
from registry.diff.words import item_diff, word_diff
from registry.samples.fields import COMPARED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from registry.samples.sample import Sample

__all__ = [
    "Samples",
    "compare_samples",
    "counterpart",
    "equal_samples",
    "field_change",
    "new_samples",
]

_MAX_LABEL = 120
_FIELDS_OF_EXAMPLE = ("input", "choices", "target")


def compare_samples(old: Samples, new: Samples, *, examples: int = 3) -> SampleChange:
    """Return how two datasets differ, with up to `examples` of each kind of difference."""
    before, after = digest_table(old), digest_table(new)
    found = match(old, new, before, after)
    removed, added = found.unmatched(len(before.ids), len(after.ids))
    changed, differs = _changed(
        before, after, found.pairs, with_ids=not _have_row_numbers(old, new)
    )
    if not (changed or added or removed or moved(found.pairs)):
        # "No difference" must be exact, as the digests in a lockfile are: row numbers count, and
        # texts whose short digests are equal.
        changed, differs = _unequal(old, new)
    counts = zip(("id", *COMPARED), differs.sum(axis=0).tolist(), strict=True)
    return SampleChange(
        old=len(before.ids),
        new=len(after.ids),
        matched_by="id" if found.by_id else "content",
        similar=found.similar,
        unsearched=found.unsearched,
        added=len(added),
        removed=len(removed),
        changed=len(changed),
        moved=moved(found.pairs),
        fields={field: count for field, count in counts if count},
        examples=(
            *(
                _changed_example(old, new, *pair, differs[number])
                for number, pair in enumerate(changed[:examples])
            ),
            *(_example_of_one("added", new, n) for n in added[:examples]),
            *(_example_of_one("removed", old, n) for n in removed[:examples]),
        ),
        warnings=_new_warnings(old.warnings, new.warnings),
    )


def equal_samples(old: Samples, new: Samples) -> list[tuple[int, int]]:
    """Return the positions in both datasets of the samples that are equal in all but their ids."""
    before, after = digest_table(old), digest_table(new)
    pairs = match(old, new, before, after, edited=False).pairs
    return [(i, j) for i, j in pairs if (before.digests[i] == after.digests[j]).all()]


def _have_row_numbers(old: Samples, new: Samples) -> bool:
    return old.auto_id or new.auto_id


def counterpart(old: Samples, new: Samples, position: int) -> int | None:
    """Return the position of a new sample in the old ones, as `compare_samples` matches them."""
    if not _have_row_numbers(old, new):
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


def _changed_example(
    old: Samples, new: Samples, i: int, j: int, differs: NDArray[np.bool_]
) -> Example:
    before, after = old.samples[i], new.samples[j]
    fields = (("id", *COMPARED)[n] for n in np.flatnonzero(differs).tolist())
    changes = tuple(field_change(before, after, field) for field in fields)
    return Example("changed", _label(after, j, new), changes)


def _example_of_one(
    status: Literal["added", "removed"], dataset: Samples, position: int
) -> Example:
    sample = dataset.samples[position]
    sign: Literal["+", "-"] = "+" if status == "added" else "-"
    texts = ((field, field_text(sample, field)) for field in _FIELDS_OF_EXAMPLE)
    fields = tuple(FieldChange(field, (Chunk(sign, text),)) for field, text in texts if text)
    return Example(status, _label(sample, position, dataset), fields)


def _label(sample: Sample, position: int, dataset: Samples) -> str:
    if sample.id is None or dataset.auto_id:
        return f"sample {position + 1}"
    label = str(sample.id)
    return f"id {label}" if len(label) <= _MAX_LABEL else f"id {label[:_MAX_LABEL]}…"
