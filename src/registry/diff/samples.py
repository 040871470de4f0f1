"""Compare the samples of two datasets: by id, else by content; only what differs is looked at."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from registry.diff.models import Chunk, Example, FieldChange, SampleChange
from registry.diff.sample_text import FIELDS, field_bytes, field_text
from registry.diff.words import is_alike, word_diff

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from registry.samples.sample import Sample

__all__ = ["Samples", "compare_samples", "new_samples"]

_LONGEST_LABEL = 120
_MOST_LOOKED_AT = 500
_SHOWN_OF_NEW = ("input", "choices", "target")


@dataclass(frozen=True)
class Samples:
    """The samples of one side."""

    samples: Sequence[Sample]
    folder: str = ""
    """The catalog's folder, which says nothing where it stands in a path."""
    numbered: bool = False
    """Whether ids are numbers of rows, which name no sample."""


def compare_samples(old: Samples, new: Samples, *, examples: int = 3) -> SampleChange:
    """Return how two datasets differ, with up to `examples` of each kind of difference."""
    before, after = _table(old), _table(new)
    pairs, by = _pairs(before, after, lambda i, j: is_alike(_input(old, i), _input(new, j)))
    changes = _changes(before, after, pairs)
    gone = _missing(len(before.ids), (i for i, _ in pairs))
    added = _missing(len(after.ids), (j for _, j in pairs))
    shown = [
        *(
            _changed_example(old, new, pair, changes.fields(number))
            for number, pair in enumerate(changes.pairs[:examples])
        ),
        *(_whole_example("added", new, place) for place in added[:examples]),
        *(_whole_example("removed", old, place) for place in gone[:examples]),
    ]
    return SampleChange(
        old=len(before.ids),
        new=len(after.ids),
        matched_by=by,
        added=len(added),
        removed=len(gone),
        changed=len(changes.pairs),
        moved=_moved(pairs),
        fields=changes.counts(),
        examples=tuple(shown),
    )


def new_samples(new: Samples, *, examples: int = 3) -> SampleChange:
    """Return the first samples of a dataset that was not there before."""
    count = len(new.samples)
    shown = (_whole_example("added", new, place) for place in range(min(examples, count)))
    return SampleChange(new=count, added=count, examples=tuple(shown))


# --- a table of digests a side: 8 bytes a field, not the samples, stay in memory ---


@dataclass(frozen=True)
class _Table:
    ids: list[str | int | None]
    digests: NDArray[np.uint64]
    """A row a sample, a column a field."""
    numbered: bool


def _table(side: Samples) -> _Table:
    ids: list[str | int | None] = []
    digests = bytearray()
    for sample in side.samples:
        ids.append(sample.id)
        for field in FIELDS:
            digests += _digest(field_bytes(sample, field, side.folder))
    rows = np.frombuffer(bytes(digests), dtype=np.uint64).reshape(-1, len(FIELDS))
    return _Table(ids, rows, side.numbered)


_NOTHING = bytes(8)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=8).digest() if data else _NOTHING


# --- which sample is which ---

Pair = tuple[int, int]
"""Places of one sample on both sides."""


Alike = Callable[[int, int], bool]
"""Tells whether the inputs of two samples look like two versions of one."""


def _pairs(before: _Table, after: _Table, alike: Alike) -> tuple[list[Pair], Any]:
    """Return the samples of both sides, in the new order, and what they were known by.

    By id where ids are unique; then the rest by its content, so that a sample with a new id is
    found, or by its input where there are no ids; at last by place, where only the input differs.
    """
    left, right = list(range(len(before.ids))), list(range(len(after.ids)))
    by_id = _has_ids(before) and _has_ids(after)
    found: list[Pair] = []
    if by_id:
        found += _matched(before.ids, after.ids, left, right)
    found += _rest(before, after, found, slice(None))
    if not by_id:
        found += _rest(before, after, found, slice(0, 1))
    found += _by_place(before, after, found, alike)
    return sorted(found, key=lambda pair: pair[1]), "id" if by_id else "content"


def _has_ids(table: _Table) -> bool:
    if table.numbered or None in table.ids:
        return False
    return len(set(table.ids)) == len(table.ids)


def _rest(before: _Table, after: _Table, found: list[Pair], part: slice) -> list[Pair]:
    """Match what is not found yet by the digests of some fields."""
    left = _missing(len(before.ids), (i for i, _ in found))
    right = _missing(len(after.ids), (j for _, j in found))
    if not left or not right:
        return []
    keys = [[row.tobytes() for row in table.digests[:, part]] for table in (before, after)]
    return _matched(keys[0], keys[1], left, right)


def _matched(
    old: Sequence[Hashable], new: Sequence[Hashable], left: Iterable[int], right: Iterable[int]
) -> list[Pair]:
    """Pair places with the same key, the first with the first."""
    places: dict[Hashable, list[int]] = defaultdict(list)
    for i in left:
        places[old[i]].append(i)
    for listed in places.values():
        listed.reverse()
    return [(places[new[j]].pop(), j) for j in right if places.get(new[j])]


def _by_place(before: _Table, after: _Table, found: list[Pair], alike: Alike) -> list[Pair]:
    """Pair samples between the same neighbours that differ in their input only, and not much."""
    if _moved(sorted(found, key=lambda pair: pair[1])):
        return []
    old = _gaps(len(before.ids), {i for i, _ in found})
    new = _gaps(len(after.ids), {j for _, j in found})
    pairs = [
        (i, j)
        for gap, left in old.items()
        if len(left) == len(new.get(gap, ()))
        for i, j in zip(left, new[gap], strict=True)
        if (before.digests[i, 1:] == after.digests[j, 1:]).all()
    ]
    if len(pairs) <= _MOST_LOOKED_AT:
        return [pair for pair in pairs if alike(*pair)]
    # As after a change of a prompt's wording; some of them speak for all.
    looked_at = pairs[:: len(pairs) // _MOST_LOOKED_AT]
    return pairs if all(alike(*pair) for pair in looked_at) else []


def _gaps(count: int, found: set[int]) -> dict[int, list[int]]:
    """Return the places that are not found, by how many before them are."""
    gaps: dict[int, list[int]] = defaultdict(list)
    passed = 0
    for place in range(count):
        if place in found:
            passed += 1
        else:
            gaps[passed].append(place)
    return gaps


def _input(side: Samples, place: int) -> str:
    return field_text(side.samples[place], "input", side.folder)


def _missing(count: int, found: Iterable[int]) -> list[int]:
    return sorted(set(range(count)).difference(found))


def _moved(pairs: Sequence[Pair]) -> int:
    """Return how many must be taken out for the rest to be in the same order on both sides."""
    tails: list[int] = []  # of the longest increasing runs, by their length
    for i, _ in pairs:
        place = bisect_left(tails, i)
        tails[place : place + 1] = [i]
    return len(pairs) - len(tails)


# --- what is different in them ---


@dataclass(frozen=True)
class _Changes:
    """The pairs that differ, and in what."""

    pairs: list[Pair]
    flags: NDArray[np.bool_]
    """A row a pair, a column of `_COMPARED`."""

    def fields(self, number: int) -> list[str]:
        """Return the fields in which a pair differs."""
        return [_COMPARED[n] for n in np.flatnonzero(self.flags[number]).tolist()]

    def counts(self) -> dict[str, int]:
        """Return in how many pairs each field differs, without those that never do."""
        counts = zip(_COMPARED, self.flags.sum(axis=0).tolist(), strict=True)
        return {field: count for field, count in counts if count}


_COMPARED = ("id", *FIELDS)


def _changes(before: _Table, after: _Table, pairs: list[Pair]) -> _Changes:
    places = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    flags = np.zeros((len(pairs), len(_COMPARED)), dtype=np.bool_)
    flags[:, 1:] = before.digests[places[:, 0]] != after.digests[places[:, 1]]
    if not (before.numbered or after.numbered):
        flags[:, 0] = [before.ids[i] != after.ids[j] for i, j in pairs]
    kept = np.flatnonzero(flags.any(axis=1))
    return _Changes([pairs[n] for n in kept.tolist()], flags[kept])


def _changed_example(old: Samples, new: Samples, pair: Pair, fields: list[str]) -> Example:
    one, other = old.samples[pair[0]], new.samples[pair[1]]
    changes = []
    for field in fields:
        texts = _text(one, field, old.folder), _text(other, field, new.folder)
        if texts[0] == texts[1]:  # it is in what is not shown for people
            texts = _exact(one, field, old.folder), _exact(other, field, new.folder)
        changes.append(FieldChange(field, word_diff(*texts)))
    return Example("changed", _label(other, pair[1], new), tuple(changes))


def _text(sample: Sample, field: str, folder: str) -> str:
    return str(sample.id) if field == "id" else field_text(sample, field, folder)


def _exact(sample: Sample, field: str, folder: str) -> str:
    if field == "id":
        return repr(sample.id)
    return field_bytes(sample, field, folder).decode("utf-8", "replace")


def _whole_example(status: Any, side: Samples, place: int) -> Example:
    sample = side.samples[place]
    sign: Any = "+" if status == "added" else "-"
    texts = ((field, field_text(sample, field, side.folder)) for field in _SHOWN_OF_NEW)
    fields = tuple(FieldChange(field, (Chunk(sign, text),)) for field, text in texts if text)
    return Example(status, _label(sample, place, side), fields)


def _label(sample: Sample, place: int, side: Samples) -> str:
    """Return how people call a sample."""
    if sample.id is None or side.numbered:
        return f"sample {place + 1}"
    shown = str(sample.id)
    return f"id {shown}" if len(shown) <= _LONGEST_LABEL else f"id {shown[:_LONGEST_LABEL]}…"
