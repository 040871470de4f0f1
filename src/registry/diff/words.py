"""Compare two sequences in bounded time, and texts word by word; reduce the result to an excerpt.

difflib takes quadratic time, so long lists are first split at what occurs once in both (as git's
patience diff does), and what has no such place is compared by the number of its edits (Myers 1986).
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher
from functools import cache
from itertools import groupby
from typing import Literal, NamedTuple

from registry.base.escape import JOINERS, mark_alike
from registry.diff.models import Chunk
from registry.errors import count_text

__all__ = [
    "MIN_SIMILARITY",
    "differences",
    "excerpt",
    "is_similar",
    "item_diff",
    "longest_ascent",
    "matches",
    "similarity",
    "word_diff",
    "word_set",
]

_ELLIPSIS = " … "
"""Replaces omitted text that has not changed."""
MIN_SIMILARITY = 0.6
"""Two texts are similar if at least so many of their words are equal."""

# Whitespace counts as a word: then both texts can be read from the diff without loss.
_WORD = re.compile(r"\s+|\w+|[^\w\s]")
_LETTERS = re.compile(r"\w+")
# Han, Kana, Thai, Lao, Myanmar, Khmer: written without spaces, so each letter counts as a word.
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_SPACELESS += "\U00020000-\U0003ffff"
_MARKS_END = 0x1F000
_LONGEST = 20_000
"""Characters of a text, half at each end, that its set of words is made of."""

# SequenceMatcher compares up to so many pairs of words, of all parts of a text together.
_MAX_PAIRS = 4_000_000
_MAX_STEPS = 1_000_000
"""Steps to find few edits in a part; one with more edits counts as completely different."""
_ANCHOR_WORDS = 8
_MAX_SPLITS = 4
"""Depth to which a part is split again: what is repeated in a text may be unique in its part."""


def word_diff(old: str, new: str) -> tuple[Chunk, ...]:
    """Return the equal, removed and added parts of two texts, in order."""
    return _merged(_diff(_words(old), _words(new)))


def item_diff(old: Sequence[str], new: Sequence[str]) -> tuple[Chunk, ...]:
    """Return the equal, removed and added items of two lists, each on a line of its own."""
    chunks = list(_merged(_diff(*([f"{item}\n" for item in side] for side in (old, new)))))
    # No line ends the text; of a removed and an added end, neither.
    ends = 2 if [one.sign for one in chunks[-2:]] == ["-", "+"] else 1
    last = [one._replace(text=one.text[:-1]) for one in chunks[-ends:]]
    return (*chunks[:-ends], *(one for one in last if one.text))


def _merged(found: Iterable[Chunk]) -> tuple[Chunk, ...]:
    """Return chunks with neighbors as one: equal ones, and changes with the removed text first."""
    chunks = []
    for is_equal, group in groupby((one for one in found if one.text), lambda one: one.sign == "="):
        parts = list(group)
        signs: tuple[Literal["=", "-", "+"], ...] = ("=",) if is_equal else ("-", "+")
        texts = ((sign, "".join(text for one, text in parts if one == sign)) for sign in signs)
        chunks += [Chunk(sign, text) for sign, text in texts if text]
    return tuple(chunks)


def is_similar(old: str, new: str) -> bool:
    """Return whether most words of two texts are equal."""
    return similarity(word_set(old), word_set(new)) >= MIN_SIMILARITY


def similarity(old: AbstractSet[str], new: AbstractSet[str]) -> float:
    """Return which part of the words of two texts are in both (Dice's coefficient)."""
    return 2 * len(old & new) / (len(old) + len(new)) if old or new else 1.0


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, without spaces and signs; of a long one, those of its ends."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"
    if text.isascii():
        return frozenset(_LETTERS.findall(text))
    return frozenset(word for word in _words(text) if word[0].isalnum())


def _words(text: str) -> list[str]:
    return (_WORD if text.isascii() else _word_of_any_script()).findall(text)


@cache
def _word_of_any_script() -> re.Pattern[str]:
    """Return what matches a word of any script, with the marks in it, which are no letters."""
    marks = [
        one for one in map(chr, range(0x300, _MARKS_END)) if unicodedata.category(one)[0] == "M"
    ]
    joined = f"[{''.join(marks)}{JOINERS}]"
    letter = rf"(?:(?![{_SPACELESS}])\w)"
    return re.compile(
        rf"\s+|[{_SPACELESS}]{joined}*|{letter}(?:{letter}|{joined})*|[^\w\s]{joined}*"
    )


def _diff(before: Sequence[str], after: Sequence[str]) -> Iterator[Chunk]:
    read = 0
    for removed, added, equal in differences(before, after):
        yield from (Chunk("-", "".join(removed)), Chunk("+", "".join(added)))
        read += len(removed) + len(equal)
        same = "".join(equal)
        if same.strip() or read == len(equal) or read == len(before):
            yield Chunk("=", same)
        else:  # whitespace between two changes is part of them: `a b` → `x y` is one change
            yield from (Chunk("-", same), Chunk("+", same))


def excerpt(chunks: Sequence[Chunk], *, context: int = 40, longest: int = 240) -> tuple[Chunk, ...]:
    """Return the chunks with long texts shortened.

    Args:
        chunks: The result of `word_diff`.
        context: Characters that are left on each side of a change.
        longest: Characters that are left of a change: two thirds at its start, one at its end.
    """
    last = len(chunks) - 1
    shortened = []
    for n, (sign, text) in enumerate(_marked(chunks)):
        if sign == "=":
            before, after = (
                ("" if n == 0 else text[:context]),
                ("" if n == last else text[-context:]),
            )
            shortened.append(Chunk("=", _between(text, before, after)))
        elif len(text) <= longest:
            shortened.append(Chunk(sign, text))
        else:
            start, end = text[: longest - longest // 3], text[len(text) - longest // 3 :]
            # Counted, so that nobody takes what is left for all that changed.
            left = count_text(len(text) - len(start) - len(end), "more character")
            shortened.append(Chunk(sign, f"{start.rstrip()} …{left}… {end.lstrip()}"))
    return tuple(shortened)


def _marked(chunks: Sequence[Chunk]) -> Iterator[Chunk]:
    """Yield the chunks with codes for what makes two sides of a change look alike."""
    for n, (sign, text) in enumerate(chunks):
        partner = {"-": n + 1, "+": n - 1}.get(sign, -1)
        is_pair = 0 <= partner < len(chunks) and {sign, chunks[partner].sign} == {"-", "+"}
        if sign != "=" and not text.strip(" "):  # nobody sees a space come or go
            yield Chunk(sign, text.replace(" ", "␣"))
        else:
            yield Chunk(sign, mark_alike(text, chunks[partner].text if is_pair else ""))


def _between(text: str, before: str, after: str) -> str:
    """Return an unchanged text reduced to its two ends, each cut at the end of a word."""
    if len(text) <= len(before) + len(after) + len(_ELLIPSIS):
        return text
    before = re.sub(r"\s+\S*$", "", before, count=1) or before
    after = re.sub(r"^\S*\s+", "", after, count=1) or after
    if not after:
        return before + _ELLIPSIS.rstrip()
    return f"{before}{_ELLIPSIS if before else _ELLIPSIS.lstrip()}{after}"


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


def differences(
    old: Sequence[str], new: Sequence[str]
) -> Iterator[tuple[Sequence[str], Sequence[str], Sequence[str]]]:
    """Yield what was removed, what was added in its place, and what follows in both lists."""
    i = j = 0
    for start_i, start_j, size in (*matches(old, new), Match(len(old), len(new), 0)):
        yield old[i:start_i], new[j:start_j], old[start_i : start_i + size]
        i, j = start_i + size, start_j + size


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
