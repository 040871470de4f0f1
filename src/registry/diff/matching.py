"""Pair the samples of two states of a dataset: by id, else by content, place or similarity.

A pair is one sample before and after; a sample without a partner was added or removed. In order:

1. equal ids, where ids identify samples on both sides;
2. all but the id is equal, the first with the first;
3. the input is equal; where there are ids, only if no other sample has this input;
4. the place: between the same neighbors, in equal number, all but the input is equal, most words of
   the input are, and clearly more than those of the samples near it;
5. similarity: most words of input and choices are equal, and clearly more than those of any other
   sample of the old state.

So samples of one template, or on one passage, are not taken for each other.

What none of these pairs was removed, and added. Each step is exact but the last, which is bounded:
it reads each old sample once, and looks for partners of a limited number of samples, whose rest is
counted. Nothing depends on the order of a set, so the same states always have the same pairs.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from registry.base.digest import canonical_json, encode_value
from registry.diff.words import MIN_SIMILARITY, longest_ascent, similarity, word_set
from registry.samples.digest import messages_data
from registry.samples.fields import COMPARED, field_data
from registry.samples.letters import letter_of
from registry.samples.messages import ChatMessage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from registry.samples.sample import Sample

__all__ = [
    "DigestTable",
    "Matching",
    "Pair",
    "Samples",
    "digest_table",
    "field_bytes",
    "field_text",
    "match",
    "moved",
    "target_items",
]

_MOST_SEARCHED = 2_000
"""Samples of each side without a partner among which similar ones are looked for."""
_COMMON = 50, 64
"""A word says nothing of a sample if more than a 50th of all have it, and more than 64."""
_MOST_VISITED = 500
"""Places of words that are visited in search of the partner of one sample."""
_MOST_SCORED = 8
_NEIGHBORS = 3
"""Samples before and after one that it is compared with, as a passage has several questions."""
_CLEARLY = 0.7
"""What the best candidate lacks of equality is at most this part of what the next one lacks."""
# What JSON of another type, or a quoted str, begins with.
_AMBIGUOUS = re.compile(
    r'["\[{]|(?:null|true|false|NaN|-?Infinity|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*$'
)


class Pair(NamedTuple):
    """Positions of one sample in both datasets."""

    old: int
    new: int


@dataclass(frozen=True)
class Samples:
    """The samples of a dataset in one snapshot."""

    samples: Sequence[Sample]
    """As stored: names of files are relative to the source, so no text needs to be changed."""
    auto_id: bool = False
    """Whether ids are row numbers, which don't identify a sample."""
    warnings: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """Kind of what is questionable in them → how many are, and which."""

    def text(self, position: int, name: str) -> str:
        """Return a field of a sample for people to read."""
        return field_text(self.samples[position], name)


@dataclass(frozen=True)
class DigestTable:
    """Ids and digests in place of samples: 8 bytes per field, so 10 MB per 100,000 samples."""

    ids: list[str | int | None]
    digests: NDArray[np.uint64]
    """A row per sample, a column per field."""
    has_unique_ids: bool
    """Whether an id identifies a sample."""


def digest_table(dataset: Samples) -> DigestTable:
    """Return what samples are compared by."""
    ids: list[str | int | None] = []
    digests = bytearray()
    for sample in dataset.samples:
        ids.append(sample.id)
        for name in COMPARED:
            data = field_bytes(sample, name)
            digests += blake2b(data, digest_size=8).digest() if data else bytes(8)
    rows = np.frombuffer(bytes(digests), dtype=np.uint64).reshape(-1, len(COMPARED))
    is_unique = len(set(ids)) == len(ids) and None not in ids
    return DigestTable(ids, rows, is_unique and not dataset.auto_id)


@dataclass(frozen=True)
class Matching:
    """Which samples of two states are one."""

    pairs: list[Pair]
    """In the order of the new state."""
    by_id: bool
    """Whether ids identify samples on both sides."""
    similar: int = 0
    """Pairs that only similarity found."""
    unsearched: int = 0
    """Samples without a partner for which none was looked for by similarity, as there are many."""

    def unmatched(self, old: int, new: int) -> tuple[list[int], list[int]]:
        """Return the positions without a partner, of so many samples on each side."""
        return (
            _unmatched(old, (i for i, _ in self.pairs)),
            _unmatched(new, (j for _, j in self.pairs)),
        )


def match(
    old: Samples, new: Samples, before: DigestTable, after: DigestTable, *, edited: bool = True
) -> Matching:
    """Return which samples both states have.

    Args:
        old: The old state.
        new: The new state.
        before: The digests of the old state.
        after: The digests of the new state.
        edited: Whether samples are also paired by place and similarity.
    """
    by_id = before.has_unique_ids and after.has_unique_ids
    pairs = _match_keys(before.ids, after.ids, []) if by_id else []
    pairs += _match_digests(before, after, pairs, slice(None))
    pairs += _match_digests(before, after, pairs, slice(0, 1), once=by_id)
    similar: list[Pair] = []
    unsearched = 0
    if edited:
        pairs += _match_gaps(old, new, before, after, pairs)
        found = Matching(pairs, by_id).unmatched(len(before.ids), len(after.ids))
        gone, come = (side[:_MOST_SEARCHED] for side in found)
        if gone and come:
            similar = _match_similar(old, new, gone, come)
            unsearched = sum(map(len, found)) - len(gone) - len(come)
    in_order = sorted((*pairs, *similar), key=lambda pair: pair.new)
    return Matching(in_order, by_id, len(similar), unsearched)


def moved(pairs: Sequence[Pair]) -> int:
    """Return the smallest number of samples without which both orders are equal."""
    return len(pairs) - len(longest_ascent([pair.old for pair in pairs]))


def _unmatched(count: int, matched: Iterable[int]) -> list[int]:
    return sorted(set(range(count)).difference(matched))


# --- by ids and digests ---


def _match_digests(
    before: DigestTable,
    after: DigestTable,
    pairs: list[Pair],
    columns: slice,
    *,
    once: bool = False,
) -> list[Pair]:
    if len(pairs) == min(len(before.ids), len(after.ids)):
        return []
    # Bytes of a row are hashable; equal 8-byte digests of different fields are too rare to matter.
    keys = [[row.tobytes() for row in table.digests[:, columns]] for table in (before, after)]
    return _match_keys(keys[0], keys[1], pairs, once=once)


def _match_keys(
    old: Sequence[Hashable], new: Sequence[Hashable], pairs: list[Pair], *, once: bool = False
) -> list[Pair]:
    """Pair unmatched positions with equal keys, the first with the first."""
    positions: dict[Hashable, list[int]] = defaultdict(list)
    for i in reversed(_unmatched(len(old), (i for i, _ in pairs))):
        positions[old[i]].append(i)
    unmatched = _unmatched(len(new), (j for _, j in pairs))
    if once:
        counts = [Counter(side) for side in (old, new)]
        unmatched = [j for j in unmatched if counts[0][new[j]] == counts[1][new[j]] == 1]
    return [Pair(positions[new[j]].pop(), j) for j in unmatched if positions.get(new[j])]


# --- by place ---


def _match_gaps(
    old: Samples, new: Samples, before: DigestTable, after: DigestTable, pairs: list[Pair]
) -> list[Pair]:
    """Pair samples between the same neighbors if only their inputs differ, and not by much."""
    # Neighbors are the samples with equal inputs that did not move. Those with other inputs keep
    # their place, as short ids may also be equal by chance.
    same = [
        pair
        for pair in sorted(pairs, key=lambda pair: pair.new)
        if before.digests[pair.old, 0] == after.digests[pair.new, 0]
    ]
    kept = [same[n] for n in longest_ascent([pair.old for pair in same])]
    gaps = _gaps(len(before.ids), {i for i, _ in same}, {i for i, _ in kept})
    others = _gaps(len(after.ids), {j for _, j in same}, {j for _, j in kept})
    paired = [{pair[side] for pair in pairs} for side in (0, 1)]
    words = lru_cache(4 * _NEIGHBORS)(lambda i: word_set(old.text(i, "input")))

    def is_edit(i: int, j: int) -> bool:
        edited = word_set(new.text(j, "input"))
        near = (*range(max(i - _NEIGHBORS, 0), i), *range(i + 1, i + 1 + _NEIGHBORS))
        rivals = (similarity(words(k), edited) for k in near if k < len(before.ids))
        return _is_clear(similarity(words(i), edited), max(rivals, default=0.0))

    return [
        Pair(i, j)
        for gap, positions in gaps.items()
        if len(positions) == len(others.get(gap, ()))
        for i, j in zip(positions, others[gap], strict=True)
        if i not in paired[0]
        and j not in paired[1]
        and (before.digests[i, 1:] == after.digests[j, 1:]).all()
        and is_edit(i, j)
    ]


def _is_clear(score: float, rival: float) -> bool:
    """Return whether a similarity is high, and leaves no doubt of which sample it is."""
    return score >= MIN_SIMILARITY and score > rival and 1 - score <= _CLEARLY * (1 - rival)


def _gaps(count: int, same: set[int], neighbors: set[int]) -> dict[int, list[int]]:
    """Return all positions but those of `same` by the number of neighbors before them."""
    gaps: dict[int, list[int]] = defaultdict(list)
    before = 0
    for position in range(count):
        before += position in neighbors
        if position not in same:
            gaps[before].append(position)
    return gaps


# --- by similarity ---


def _match_similar(old: Samples, new: Samples, gone: list[int], come: list[int]) -> list[Pair]:
    """Pair samples of which most words are equal, and no other old sample is nearly as similar."""
    after = {j: _words(new, j) for j in come}
    index = _Index.of(old, frozenset[str]().union(*after.values()))
    free = set(gone)
    scored = []
    for j in come:
        found = list(index.candidates(after[j], free))
        scores = [(index.score(old, i, after[j]), i) for i in found]
        for score, i in scores:
            rival = max((other for other, k in scores if k != i), default=0.0)
            if i in free and _is_clear(score, rival):
                scored.append((-score, j, i))
    pairs = []
    for _, j, i in sorted(scored):
        if i in free:
            pairs.append(Pair(i, j))
            free.discard(i)
    return pairs


def _words(dataset: Samples, position: int) -> frozenset[str]:
    return word_set(f"{dataset.text(position, 'input')}\n{dataset.text(position, 'choices')}")


@dataclass(frozen=True)
class _Index:
    """Where the words of some samples are in the old state."""

    places: Mapping[str, list[int]]
    """Word → positions; of words that are common, more than `most`."""
    most: int

    @classmethod
    def of(cls, old: Samples, wanted: frozenset[str]) -> _Index:
        share, least = _COMMON
        most = max(len(old.samples) // share, least)
        places: dict[str, list[int]] = {word: [] for word in wanted}
        common = set[str]()
        for i in range(len(old.samples)):
            for word in _words(old, i).intersection(places) - common:
                places[word].append(i)
                if len(places[word]) > most:
                    common.add(word)
        return cls(places, most)

    def _telling(self, words: frozenset[str]) -> frozenset[str]:
        """Return the words that are not common."""
        return frozenset(word for word in words if len(self.places.get(word, ())) <= self.most)

    def candidates(self, words: frozenset[str], free: set[int]) -> Iterator[int]:
        """Yield the old samples that share most of the rarest words: some free, some not."""
        rarest = sorted(self._telling(words), key=lambda word: (len(self.places[word]), word))
        votes = Counter[int]()
        for word in rarest:
            votes.update(self.places[word])
            if votes.total() > _MOST_VISITED:
                break
        ranked = sorted(votes, key=lambda i: (-votes[i], i))
        yield from [i for i in ranked if i in free][:_MOST_SCORED]
        yield from [i for i in ranked if i not in free][:_MOST_SCORED]

    def score(self, old: Samples, i: int, words: frozenset[str]) -> float:
        """Return how similar an old sample is, by the words that are not common."""
        return similarity(self._telling(_words(old, i)), self._telling(words))


# --- fields, as stored: bytes to compare and text to read ---


def field_bytes(sample: Sample, field: str) -> bytes:
    """Return bytes that are equal for two samples exactly if the field is; empty for None."""
    value = getattr(sample, field)
    if value is None:
        return b""
    if isinstance(value, str):
        # A prefix that no JSON begins with, so that the str "[1]" differs from the list.
        return b"=" + value.encode("utf-8", "surrogatepass")
    if field == "input":
        return canonical_json(messages_data(value))
    return canonical_json(field_data(field, value))


def field_text(sample: Sample, field: str) -> str:
    """Return a field for people to read."""
    value = getattr(sample, field)
    match field:
        case _ if value is None or isinstance(value, str):
            return value or ""
        case "input":
            return "\n".join(map(_message_text, value))
        case "choices":
            return "\n".join(f"{letter_of(n)}) {choice}" for n, choice in enumerate(value))
        case "target":
            return "\n".join(target_items(value))
    data = field_data(field, value)
    if isinstance(data, dict):
        return "\n".join(
            f"{_plain(key)}: {_value_text(item)}" for key, item in sorted(data.items())
        )
    return _sorted_json(data)


def target_items(targets: Sequence[str]) -> list[str]:
    """Return the targets of a sample with several, each as a line of its own."""
    return [_plain(one) for one in targets]


def _plain(text: str) -> str:
    """Return a text that is one line and looks like no other value, or its JSON."""
    is_plain = text.strip() == text != "" and _AMBIGUOUS.match(text) is None and "\n" not in text
    return text if is_plain else _sorted_json(text)


def _value_text(value: Any) -> str:
    """Return a value as text that no other value has: lines below the first are indented."""
    if not isinstance(value, str) or not value.strip() or _AMBIGUOUS.match(value):
        return _sorted_json(value)
    return value.replace("\n", "\n  ")


def _message_text(message: ChatMessage) -> str:
    data = message.model_dump(exclude={"id", "role", "source"}, exclude_none=True)
    if not isinstance(message.content, str):
        return f"{message.role}: {_sorted_json(data)}"
    del data["content"]
    return f"{message.role}: {message.content}{f' {_sorted_json(data)}' if data else ''}"


def _sorted_json(value: Any) -> str:
    # Sorted, as the order of keys does not matter; not escaped to ASCII, as people read it.
    return json.dumps(encode_value(value), ensure_ascii=False, sort_keys=True)
