"""The shape of a line of JSON: what is left of it without the values of its strings and numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec
import numpy as np

from registry.decode.exact_json import has_unique_keys
from registry.decode.shapes.literals import UnsureError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from registry.decode.shapes.literals import Literals

__all__ = ["Place", "Shape", "match", "shape_of"]

_WORD = 8
_PART_LINES = 1 << 12
_MOST_STRINGS, _MOST_TEXT = 1 << 8, 1 << 12
"""Strings, and bytes beside values, of a shape; of more, comparing costs more than a parser."""
Number = TypeVar("Number", np.int64, np.uint64)
_SCALAR = re.compile(rb"[^\s\[\]{},:]+")
_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True)
class Place:
    """Where the lines have the value of a key."""

    kind: str
    """`string`, `strings` for a list of them, `scalar` (a number, bool or null), `object`, or
    `other`."""
    numbers: tuple[int, ...] = ()
    """Which strings, or which scalar, of the line."""
    children: dict[str, Place] = field(default_factory=dict)
    """Key → its value, of an object."""


# In what follows, an anchor is a place that is known for each line: -1 is its start, an even number
# 2 * n the opening quote of string n, an odd one 2 * n + 1 the end of string n, and the first even
# number after those of all strings the end of the line.


@dataclass(frozen=True)
class _Text:
    """Bytes that all lines of a shape have."""

    text: bytes
    start: int | None
    """Anchor that they start at; None if a scalar precedes them."""
    end: int | None
    """Anchor that they end at; None if a scalar follows them."""


@dataclass(frozen=True)
class _Scalar:
    """A number, bool or null, between texts."""

    before: _Text
    after: _Text


@dataclass
class Shape:
    """A shape: what its lines have in common, and where their values are."""

    texts: list[_Text] = field(default_factory=list)
    scalars: list[_Scalar] = field(default_factory=list)
    record: Place = field(default_factory=lambda: Place("object"))
    """The whole line."""


def shape_of(literals: Literals, line: int) -> Shape:
    """Return the shape of a line.

    Raises:
        UnsureError: it is not an object of JSON, or it is better parsed.
    """
    if literals.counts[line] > _MOST_STRINGS:
        raise UnsureError
    start, end = int(literals.line_starts[line]), int(literals.line_ends[line])
    first, count = int(literals.firsts[line]), int(literals.counts[line])
    quotes = literals.bounds[2 * first : 2 * (first + count)] - start
    quotes[::2] -= 1
    raw = bytes(literals.block[start:end])
    if not raw.startswith(b"{") or not raw.endswith(b"}"):
        raise UnsureError
    shape, model = _parts(raw, quotes.tolist())
    if sum(len(one.text) for one in shape.texts) > _MOST_TEXT:
        raise UnsureError
    try:
        if not has_unique_keys(raw, [_decode(raw)]):
            raise UnsureError
        value = _decode(model)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise UnsureError from error
    shape.record = _place(value)
    return shape


def _parts(raw: bytes, quotes: list[int]) -> tuple[Shape, bytes]:
    """Return the parts of a line, and the line with the number of each value in its place."""
    shape, model = Shape(), b""
    text, anchor = b"", -1  # bytes since the last value, and what they start at
    ends = [0, *(quote + 1 for quote in quotes[1::2])]
    for number, (start, end) in enumerate(zip(ends, [*quotes[::2], len(raw)], strict=True)):
        gap = raw[start:end]
        found = list(_SCALAR.finditer(gap))
        if len(found) > 1:
            raise UnsureError
        if found:
            before = _Text(text + gap[: found[0].start()], anchor, None)
            after = _Text(gap[found[0].end() :], None, 2 * number)
            model += gap[: found[0].start()] + b'"N%d"' % len(shape.scalars) + after.text
            shape.texts += [before, after]
            shape.scalars.append(_Scalar(before, after))
            text, anchor = b"", 2 * number
        else:
            model, text = model + gap, text + gap
        if end == len(raw):
            break
        literal = raw[end : ends[number + 1]]
        if raw[ends[number + 1] :].lstrip(b" ").startswith(b":"):
            if b"\\" in literal:  # another spelling of a key, maybe
                raise UnsureError
            model, text = model + literal, text + literal
        else:
            model += b'"S%d"' % number
            shape.texts.append(_Text(text, anchor, 2 * number))
            text, anchor = b"", 2 * number + 1
    shape.texts.append(_Text(text, anchor, len(quotes)))
    return shape, model


def _place(value: Any) -> Place:
    """Return the place that a value of the model represents."""
    if isinstance(value, str):
        return Place("string" if value[0] == "S" else "scalar", (int(value[1:]),))
    if isinstance(value, dict):
        return Place("object", children={key: _place(one) for key, one in value.items()})
    if isinstance(value, list) and all(isinstance(one, str) and one[0] == "S" for one in value):
        return Place("strings", tuple(int(one[1:]) for one in value))
    return Place("other")


def match(
    shape: Shape, literals: Literals, lines: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], list[tuple[NDArray[np.int64], NDArray[np.int64]]]]:
    """Return which lines have a shape, and the starts and ends of each scalar in all of the lines.

    Args:
        shape: The shape of the first of the lines.
        literals: The strings of the block.
        lines: Numbers of lines with as many strings as the shape, ascending.
    """
    compare = _Comparison(shape, literals)
    # In parts whose arrays fit in the processor's cache.
    parts = [lines[start : start + _PART_LINES] for start in range(0, len(lines), _PART_LINES)]
    found, starts, ends = zip(*map(compare.lines, parts), strict=True)
    is_same = np.concatenate(found)
    is_same[0] = True  # it may be too short to be compared, but has its own shape
    spans = zip(np.concatenate(starts, axis=1), np.concatenate(ends, axis=1), strict=True)
    return is_same, list(spans)


class _Comparison:
    """Compares lines with a shape."""

    def __init__(self, shape: Shape, literals: Literals) -> None:
        """Note which places of lines have to be how far apart, and which words they have."""
        self._literals = literals
        self._used: dict[int, int] = {}
        """Anchor → its row among the places."""
        bounded = [one for one in shape.texts if None not in (one.start, one.end)]
        self._starts = self._rows([one.start for one in bounded])
        self._ends = self._rows([one.end for one in bounded])
        self._sizes = _column([len(one.text) for one in bounded], np.int64)
        words = [word for one in shape.texts for word in _words(one)]
        self._anchors = self._rows([anchor for anchor, _, _ in words])
        self._offsets = _column([offset for _, offset, _ in words], np.int64)
        self._shifts = _column([8 * (_WORD - len(part)) for _, _, part in words], np.uint64)
        numbers = [int.from_bytes(part, "little") for _, _, part in words]
        self._words = _column(numbers, np.uint64)
        before, after = (
            [one.before for one in shape.scalars],
            [one.after for one in shape.scalars],
        )
        self._before = self._rows([one.start for one in before])
        self._prefixes = _column([len(one.text) for one in before], np.int64)
        self._after = self._rows([one.end for one in after])
        self._suffixes = _column([len(one.text) for one in after], np.int64)

    def lines(
        self, lines: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
        """Return which lines have the shape, and a row of starts and of ends for each scalar."""
        places, words = self._places(lines), self._literals.words
        starts, ends = places[self._before] + self._prefixes, places[self._after] - self._suffixes
        found = (ends > starts).all(axis=0)
        found &= (places[self._ends] - places[self._starts] == self._sizes).all(axis=0)
        of_words = places[self._anchors]
        of_words += self._offsets
        # Where a line has other lengths, or the block starts with a few bytes, there is no word at
        # some of its places.
        if of_words[:, 0].min() < 0 or of_words[:, -1].max() >= len(words):
            found &= ((of_words >= 0) & (of_words < len(words))).all(axis=0)
            of_words.clip(0, len(words) - 1, out=of_words)
        read = words[of_words]
        read >>= self._shifts
        found &= (read == self._words).all(axis=0)
        return found, starts, ends

    def _places(self, lines: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a row for each anchor that is used, with its place in each line."""
        literals = self._literals
        first, count = literals.firsts[lines[0]], literals.counts[lines[0]]
        if lines[-1] - lines[0] == len(lines) - 1:  # without others between them
            bounds = literals.bounds[2 * first : 2 * (first + len(lines) * count)]
            of_bounds = bounds.reshape(len(lines), 2 * count).T
        else:
            of_bounds = literals.bounds[2 * literals.firsts[lines] + np.arange(2 * count)[:, None]]
        places = np.empty((len(self._used), len(lines)), np.int64)
        for row, anchor in enumerate(self._used):
            if anchor < 0:
                places[row] = literals.line_starts[lines]
            elif anchor == 2 * count:
                places[row] = literals.line_ends[lines]
            else:
                # The opening quote is before the first byte of a string, its end after the other.
                np.add(of_bounds[anchor], 1 if anchor % 2 else -1, out=places[row])
        return places

    def _rows(self, anchors: Iterable[int | None]) -> NDArray[np.int64]:
        """Return the rows of anchors, which are used from now on."""
        rows = [self._used.setdefault(cast("int", one), len(self._used)) for one in anchors]
        return np.array(rows, np.int64)


def _column(numbers: list[int], kind: type[Number]) -> NDArray[Number]:
    return np.array(numbers, kind)[:, None]


def _words(one: _Text) -> Iterator[tuple[int | None, int, bytes]]:
    """Yield an anchor, how far after it a word starts, and the last bytes of the word."""
    size = len(one.text)
    anchor, start = (one.end, -size) if one.start is None else (one.start, 0)
    # The last word overlaps the one before it; a short text has other bytes before it.
    for place in [*range(0, size - _WORD, _WORD), size - _WORD] if size else []:
        yield anchor, start + place, one.text[max(place, 0) : place + _WORD]
