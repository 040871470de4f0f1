"""Find what two long lists of words have in common, in bounded time.

difflib takes quadratic time, so long lists are first split at what occurs once in both (as git's
patience diff does), and what has no such place is compared by the number of its edits (Myers 1986).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

__all__ = ["Match", "longest_ascent", "matches"]

# SequenceMatcher compares up to so many pairs of words, of all parts of a text together.
_MAX_PAIRS = 4_000_000
_MAX_STEPS = 1_000_000
"""Steps to find few edits in a part; one with more edits counts as completely different."""
_ANCHOR_WORDS = 8
_MAX_SPLITS = 4
"""Depth to which a part is split again: what is repeated in a text may be unique in its part."""


class Match(NamedTuple):
    """Words that both lists have, at these positions."""

    old: int
    new: int
    size: int


class _Pairs:
    """The pairs of words that SequenceMatcher may still compare."""

    def __init__(self) -> None:
        self._left = _MAX_PAIRS

    def take(self, pairs: int) -> bool:
        """Return whether there are so many left; then they are used."""
        is_enough = pairs <= self._left
        self._left -= pairs if is_enough else 0
        return is_enough


def matches(old: Sequence[str], new: Sequence[str]) -> list[Match]:
    """Return parts that two lists have in common, in order: all of them, if the lists are short."""
    return list(_matches(old, new, _Pairs(), _MAX_SPLITS))


def _matches(old: Sequence[str], new: Sequence[str], pairs: _Pairs, splits: int) -> Iterator[Match]:
    start = _common_start(old, new)
    end = _common_start(old[start:][::-1], new[start:][::-1])
    yield from (Match(0, 0, start),) if start else ()
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    yield from _moved(_inner_matches(before, after, pairs, splits), start, start)
    yield from (Match(len(old) - end, len(new) - end, end),) if end else ()


def _inner_matches(
    old: Sequence[str], new: Sequence[str], pairs: _Pairs, splits: int
) -> Iterator[Match]:
    """Yield the matches of two lists that neither start nor end equally."""
    if not (old and new):
        return
    if pairs.take(len(old) * len(new)):
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        yield from (Match(*block) for block in blocks if block.size)
        return
    anchors = _anchors(old, new) if splits else []
    if not anchors:
        yield from _by_few_edits(old, new)
        return
    i = j = 0
    for anchor_i, anchor_j in [*anchors, (len(old), len(new))]:
        if anchor_i < i or anchor_j < j:  # within the previous match
            continue
        gap = _matches(old[i:anchor_i], new[j:anchor_j], pairs, splits - 1)
        yield from _moved(gap, i, j)
        size = _common_start(old, new, anchor_i, anchor_j)
        yield from (Match(anchor_i, anchor_j, size),) if size else ()
        i, j = anchor_i + size, anchor_j + size


def _moved(found: Iterator[Match], i: int, j: int) -> Iterator[Match]:
    return (Match(one.old + i, one.new + j, one.size) for one in found)


def _common_start(old: Sequence[str], new: Sequence[str], i: int = 0, j: int = 0) -> int:
    """Return how many words are equal from two positions on."""
    length = min(len(old) - i, len(new) - j)
    return next((n for n in range(length) if old[i + n] != new[j + n]), length)


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return positions in both lists of some words in a row that occur once in each, in order."""
    before, after = _unique_places(old), _unique_places(new)
    pairs = [(i, after[words]) for words, i in before.items() if words in after]
    return [pairs[number] for number in longest_ascent([j for _, j in pairs])]


def longest_ascent(numbers: Sequence[int]) -> list[int]:
    """Return the positions of a longest ascending subsequence, by patience sorting."""
    tails: list[int] = []
    ends: list[int] = []
    previous = []
    for place, number in enumerate(numbers):
        length = bisect_left(tails, number)
        tails[length : length + 1] = [number]
        previous.append(ends[length - 1] if length else -1)
        ends[length : length + 1] = [place]
    chain = []
    place = ends[-1] if ends else -1
    while place >= 0:
        chain.append(place)
        place = previous[place]
    return chain[::-1]


def _unique_places(words: Sequence[str]) -> dict[tuple[str, ...], int]:
    found: dict[tuple[str, ...], int] = {}
    repeated = set()
    for i in range(len(words) - _ANCHOR_WORDS + 1):
        key = tuple(words[i : i + _ANCHOR_WORDS])
        if key in found:
            repeated.add(key)
        else:
            found[key] = i
    return {key: i for key, i in found.items() if key not in repeated}


def _by_few_edits(old: Sequence[str], new: Sequence[str]) -> list[Match]:
    """Return the matches that leave the fewest edits; none if finding them takes too long.

    A diagonal is a difference of positions. After some edits, each diagonal from `-edits` to
    `edits` in steps of 2 has a farthest position in `old`: a row of them is kept for each number.
    """
    rows: list[array[int]] = []
    steps = 0
    while steps <= _MAX_STEPS + len(old) + len(new):
        edits, row = len(rows), array("l")
        for place in range(edits + 1):
            diagonal = 2 * place - edits
            i = start = _after_edit(rows, place)[0]
            while i < len(old) and i - diagonal < len(new) and old[i] == new[i - diagonal]:
                i += 1
            row.append(i)
            steps += i - start + 1
            if i >= len(old) and i - diagonal >= len(new):
                return list(_walk_back(rows, place, i))[::-1]
        rows.append(row)
    return []


def _after_edit(rows: Sequence[array[int]], place: int) -> tuple[int, int]:
    """Return where one more edit leads on the diagonal of a place, and the place it is from."""
    if not rows:
        return 0, 0
    row = rows[-1]
    adds = place == 0 or (place < len(row) and row[place - 1] < row[place])
    return (row[place], place) if adds else (row[place - 1] + 1, place - 1)


def _walk_back(rows: list[array[int]], place: int, i: int) -> Iterator[Match]:
    while True:
        start, before = _after_edit(rows, place)
        if i > start:
            yield Match(start, start - (2 * place - len(rows)), i - start)
        if not rows:
            return
        i, place = rows.pop()[before], before
