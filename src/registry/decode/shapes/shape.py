"""The shape of a line of JSON: what is left of it without the values of its strings and numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from registry.decode.exact_json import has_unique_keys
from registry.decode.shapes.literals import UnsureError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from registry.decode.shapes.literals import Literals

__all__ = ["Place", "Shape", "match", "shape_of"]

_WORD = 8
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
    start, end = int(literals.line_starts[line]), int(literals.line_ends[line])
    first, count = int(literals.firsts[line]), int(literals.counts[line])
    quotes = literals.quotes[2 * first : 2 * (first + count)] - start
    raw = bytes(literals.block[start:end])
    if not raw.startswith(b"{") or not raw.endswith(b"}"):
        raise UnsureError
    shape, model = _parts(raw, quotes.tolist())
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
        lines: Numbers of lines with as many strings as the shape.
    """
    anchors = _Anchors(literals, lines)
    found = np.ones(len(lines), bool)
    for one in shape.texts:
        size = len(one.text)
        starts = anchors.of(one.end) - size if one.start is None else anchors.of(one.start)
        if one.start is not None and one.end is not None:
            found &= anchors.of(one.end) - starts == size
        _compare(literals.words, starts, one.text, found)
    scalars = [
        (
            anchors.of(one.before.start) + len(one.before.text),
            anchors.of(one.after.end) - len(one.after.text),
        )
        for one in shape.scalars
    ]
    for starts, ends in scalars:
        found &= ends > starts
    # There may be no word of eight bytes where the block starts; the first line has its own shape.
    found[0] = True
    return found, scalars


class _Anchors:
    """Places that are known for each of some lines with the same number of strings."""

    def __init__(self, literals: Literals, lines: NDArray[np.int64]) -> None:
        self._literals, self._lines = literals, lines
        self._count = 2 * int(literals.counts[lines[0]])
        if len(lines) == len(literals.counts):
            self._quotes = literals.quotes.reshape(-1, self._count)
        else:
            firsts = 2 * literals.firsts[lines]
            self._quotes = literals.quotes[firsts[:, None] + np.arange(self._count)]

    def of(self, anchor: int | None) -> NDArray[np.int64]:
        """Return the places of an anchor."""
        if anchor is None or anchor < 0:
            return self._literals.line_starts[self._lines]
        if anchor == self._count:
            return self._literals.line_ends[self._lines]
        places: NDArray[np.int64] = self._quotes[:, anchor]
        return places + 1 if anchor % 2 else places


def _compare(
    words: NDArray[np.uint64], starts: NDArray[np.int64], text: bytes, found: NDArray[np.bool_]
) -> None:
    """Set `found` to False for the lines that do not have a text at its place."""
    size = len(text)
    # The last word overlaps the one before it; a short text has other bytes before it.
    for place in [*range(0, size - _WORD, _WORD), size - _WORD] if size else []:
        part = text[max(place, 0) : place + _WORD]
        shift = np.uint64(8 * (_WORD - len(part)))
        places = starts + place  # ascending
        if places[0] < 0 or places[-1] >= len(words):  # of a line of another shape, or the first
            places = places.clip(0, len(words) - 1)
        word = words[places]
        found &= (word >> shift if shift else word) == int.from_bytes(part, "little")
