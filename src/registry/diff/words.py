"""Compare two texts word by word, and reduce the result to an excerpt around the changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

from registry.diff.models import Chunk

__all__ = ["ELLIPSIS", "excerpt", "is_similar", "word_diff"]

ELLIPSIS = " … "
"""Replaces omitted text."""

# Whitespace counts as a word: then both texts can be read from the diff without loss.
_WORD = re.compile(r"\s+|\w+|[^\w\s]")
_MIN_SIMILARITY = 0.6
# SequenceMatcher takes quadratic time, so similarity is measured on the first words alone, and
# texts with more pairs of words than this count as completely different.
_SIMILARITY_WORDS = 200
_MAX_PAIRS = 4_000_000


def word_diff(old: str, new: str) -> tuple[Chunk, ...]:
    """Return the equal, removed and added parts of two texts, in order."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    # Most edits are small: removing equal ends first leaves little for SequenceMatcher.
    start = _common_prefix(before, after)
    end = _common_prefix(before[start:][::-1], after[start:][::-1])
    head, tail = before[:start], before[len(before) - end :]
    middle = _diff(before[start : len(before) - end], after[start : len(after) - end])
    found = [Chunk("=", "".join(head)), *middle, Chunk("=", "".join(tail))]
    # Merge neighbors: equal chunks, and changes with the removed text first.
    chunks = []
    for is_equal, group in groupby((one for one in found if one.text), lambda one: one.sign == "="):
        parts = list(group)
        signs: tuple[Literal["=", "-", "+"], ...] = ("=",) if is_equal else ("-", "+")
        texts = ((sign, "".join(text for one, text in parts if one == sign)) for sign in signs)
        chunks += [Chunk(sign, text) for sign, text in texts if text]
    return tuple(chunks)


def is_similar(old: str, new: str) -> bool:
    """Return whether most words of two texts are equal, measured on the first 200."""
    before, after = (re.findall(r"\w+", text)[:_SIMILARITY_WORDS] for text in (old, new))
    return SequenceMatcher(None, before, after, autojunk=False).ratio() >= _MIN_SIMILARITY


def _common_prefix(before: Sequence[str], after: Sequence[str]) -> int:
    length = min(len(before), len(after))
    return next((n for n in range(length) if before[n] != after[n]), length)


def _diff(before: list[str], after: list[str]) -> Iterator[Chunk]:
    if len(before) * len(after) > _MAX_PAIRS:
        yield from (Chunk("-", "".join(before)), Chunk("+", "".join(after)))
        return
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for operation, i1, i2, j1, j2 in matcher.get_opcodes():
        old = "".join(before[i1:i2])
        if operation == "equal" and (old.strip() or i1 == 0 or i2 == len(before)):
            yield Chunk("=", old)
        else:  # whitespace between two changes is part of them: `a b` → `x y` is one change
            yield from (Chunk("-", old), Chunk("+", "".join(after[j1:j2])))


def excerpt(chunks: Sequence[Chunk], *, context: int = 40, longest: int = 240) -> tuple[Chunk, ...]:
    """Return the chunks with long texts shortened.

    Args:
        chunks: The result of `word_diff`.
        context: Characters that are left on each side of a change.
        longest: Characters that are left of a change: two thirds at its start, one at its end.
    """
    last = len(chunks) - 1
    shortened = []
    for n, (sign, text) in enumerate(chunks):
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
            shortened.append(Chunk(sign, f"{start.rstrip()}{ELLIPSIS}{end.lstrip()}"))
    return tuple(shortened)


def _between(text: str, before: str, after: str) -> str:
    """Return an unchanged text reduced to its two ends, each cut at the end of a word."""
    if len(text) <= len(before) + len(after) + len(ELLIPSIS):
        return text
    before = re.sub(r"\s+\S*$", "", before, count=1) or before
    after = re.sub(r"^\S*\s+", "", after, count=1) or after
    if not after:
        return before + ELLIPSIS.rstrip()
    return f"{before}{ELLIPSIS if before else ELLIPSIS.lstrip()}{after}"
