"""Compare two texts word by word, and reduce the result to an excerpt around the changes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import groupby
from typing import Literal

from registry.base.escape import JOINERS, mark_alike
from registry.diff.models import Chunk
from registry.diff.sequences import Match, matches
from registry.errors import count_text

__all__ = ["ELLIPSIS", "MIN_SIMILARITY", "excerpt", "is_similar", "item_diff", "similarity"]
__all__ += ["word_diff", "word_set"]

ELLIPSIS = " … "
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
    i = j = 0
    for start_i, start_j, size in [*matches(before, after), Match(len(before), len(after), 0)]:
        yield from (Chunk("-", "".join(before[i:start_i])), Chunk("+", "".join(after[j:start_j])))
        i, j = start_i + size, start_j + size
        same = "".join(before[start_i:i])
        if same.strip() or start_i == 0 or i == len(before):
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
    if len(text) <= len(before) + len(after) + len(ELLIPSIS):
        return text
    before = re.sub(r"\s+\S*$", "", before, count=1) or before
    after = re.sub(r"^\S*\s+", "", after, count=1) or after
    if not after:
        return before + ELLIPSIS.rstrip()
    return f"{before}{ELLIPSIS if before else ELLIPSIS.lstrip()}{after}"
