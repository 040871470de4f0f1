"""Compare two texts word by word, and keep what is around the changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from registry.diff.models import Chunk

__all__ = ["CUT", "cut", "is_alike", "word_diff"]

CUT = " … "
"""Stands for what is left out."""

_WORD = re.compile(r"\s+|\w+|[^\w\s]")
_ALIKE = 0.6
_LOOKED_AT = 200
# difflib takes quadratic time: beyond this many pairs of words the texts count as all different.
_MOST_PAIRS = 4_000_000


def word_diff(old: str, new: str) -> tuple[Chunk, ...]:
    """Return what of two texts is the same, gone and new, in order."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    inner = before[start : len(before) - end], after[start : len(after) - end]
    head, tail = before[:start], before[len(before) - end :]
    chunks = [Chunk("=", "".join(head)), *_inner(*inner), Chunk("=", "".join(tail))]
    return tuple(_joined(chunk for chunk in chunks if chunk.text))


def is_alike(old: str, new: str) -> bool:
    """Return whether most words of two texts, as far as they are looked at, are the same."""
    before, after = (re.findall(r"\w+", text)[:_LOOKED_AT] for text in (old, new))
    return SequenceMatcher(None, before, after, autojunk=False).ratio() >= _ALIKE


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    """Return how many words both begin with."""
    most = min(len(before), len(after))
    return next((n for n in range(most) if before[n] != after[n]), most)


def _inner(before: list[str], after: list[str]) -> Iterator[Chunk]:
    if len(before) * len(after) > _MOST_PAIRS:
        yield from (Chunk("-", "".join(before)), Chunk("+", "".join(after)))
        return
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for operation, i1, i2, j1, j2 in matcher.get_opcodes():
        same = "".join(before[i1:i2])
        if operation == "equal" and (same.strip() or i1 == 0 or i2 == len(before)):
            yield Chunk("=", same)
        else:  # a blank between two changes belongs to them
            yield from (Chunk("-", same), Chunk("+", "".join(after[j1:j2])))


def _joined(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """Put changes that follow each other together: what is gone, then what is new."""
    gone, new = "", ""
    same = ""
    for chunk in chunks:
        if chunk.sign == "=":
            yield from _changed(gone, new)
            gone, new = "", ""
            same += chunk.text
            continue
        if same:
            yield Chunk("=", same)
            same = ""
        gone, new = (gone + chunk.text, new) if chunk.sign == "-" else (gone, new + chunk.text)
    yield from _changed(gone, new)
    if same:
        yield Chunk("=", same)


def _changed(gone: str, new: str) -> Iterator[Chunk]:
    if gone:
        yield Chunk("-", gone)
    if new:
        yield Chunk("+", new)


def cut(chunks: Sequence[Chunk], *, around: int = 40, most: int = 240) -> tuple[Chunk, ...]:
    """Return the chunks with long texts cut.

    Args:
        chunks: What `word_diff` gave.
        around: Characters that are kept on each side of a change.
        most: Characters that are kept of a change.
    """
    last = len(chunks) - 1
    return tuple(
        Chunk(chunk.sign, _middle_out(chunk.text, most, most // 3))
        if chunk.sign != "="
        else Chunk("=", _between(chunk.text, around, is_first=n == 0, is_last=n == last))
        for n, chunk in enumerate(chunks)
    )


def _middle_out(text: str, most: int, end: int) -> str:
    if len(text) <= most:
        return text
    return text[: most - end].rstrip() + CUT + text[len(text) - end :].lstrip()


def _between(text: str, around: int, *, is_first: bool, is_last: bool) -> str:
    """Keep the ends of an unchanged text that are next to a change."""
    before = "" if is_first else text[:around]
    after = "" if is_last else text[-around:]
    if len(text) <= len(before) + len(after) + len(CUT):
        return text
    before, after = _whole_words(before, cut_end=True), _whole_words(after, cut_end=False)
    return f"{before}{CUT if before else CUT.lstrip()}{after}" if after else before + CUT.rstrip()


def _whole_words(text: str, *, cut_end: bool) -> str:
    """Drop the part of a word where the text was cut, unless nothing would be left."""
    if cut_end:
        return re.sub(r"\s+\S*$", "", text, count=1) or text
    return re.sub(r"^\S*\s+", "", text, count=1) or text
