"""A review as text: for a terminal, which it does not steer, or a pipe."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from click import style

from registry.diff.escape import visible
from registry.diff.models import Chunk, DatasetChange, Example, KeyChange, Review
from registry.diff.summary import (
    headline,
    inherited_lines,
    places,
    sample_line,
    some,
    told_fact,
    value_text,
    verdict,
)
from registry.diff.words import cut

__all__ = ["as_text"]

_WIDTH = 100
_COLOURS = {"-": "red", "+": "green", "~": "yellow"}
_SIGNS = {"changed": "~", "added": "+", "removed": "-", "renamed": "→"}


@dataclass(frozen=True)
class _Printer:
    """What the place that is printed to can show."""

    width: int
    colour: bool
    wraps: bool
    """Whether long lines are broken; not in a pipe, where lines are searched for."""

    def paint(self, text: str, sign: str) -> str:
        return style(text, fg=_COLOURS[sign]) if self.colour and sign in _COLOURS else text

    def bold(self, text: str) -> str:
        return style(text, bold=True) if self.colour else text

    def wrap(self, text: str, indent: int, sign: str = "") -> Iterator[str]:
        """Yield a text in lines of the width."""
        if not self.wraps:
            yield " " * indent + self.paint(text, sign)
            return
        width = max(self.width - indent, 20)
        for line in textwrap.wrap(text, width, break_on_hyphens=False) or [""]:
            yield " " * indent + self.paint(line, sign)


def as_text(review: Review, *, terminal: bool) -> Iterator[str]:
    """Yield the lines of a review."""
    size = shutil.get_terminal_size((_WIDTH, 24)).columns if terminal else _WIDTH
    printer = _Printer(size, terminal and not os.environ.get("NO_COLOR"), terminal)
    yield from printer.wrap(visible(f"{review.base} → {review.head}"), 0)
    yield from (printer.bold(line) for line in printer.wrap(headline(review), 0))
    for label, problem in review.problems:
        yield from printer.wrap(visible(f"problem in {label}: {problem}"), 0, "-")
    if review.not_compared:
        yield from printer.wrap(f"not compared: {_names(review.not_compared)}", 0)
    if review.shared:
        yield from ("", printer.bold("index"))
        yield from _keys(review.shared, printer)
    for change in review.changes:
        yield ""
        yield from _change(change, printer)


def _change(change: DatasetChange, printer: _Printer) -> Iterator[str]:
    sign = _SIGNS[change.status]
    title = f"{printer.paint(sign, sign)} {printer.bold(visible(change.name))}"
    rest = visible(f": {verdict(change)}  {change.place}".rstrip())
    if len(change.name) + 2 + len(rest) <= printer.width:
        yield title + rest
    else:
        yield title
        yield from printer.wrap(rest.removeprefix(": "), 2)
    yield from _keys(change.keys, printer)
    for keys, dataset in inherited_lines(change):
        yield from printer.wrap(visible(f"{keys}: same change as in {dataset}"), 2)
    for key, origin in told_fact(change):
        yield from printer.wrap(f"{visible(key)}: {value_text(origin)}", 2)
    if change.samples is not None:
        yield from printer.wrap(visible(f"samples: {sample_line(change.samples)}"), 2)
        for example in change.samples.examples:
            yield from _example(example, printer)


def _keys(changes: Iterable[KeyChange], printer: _Printer) -> Iterator[str]:
    for change in changes:
        key, old, new = visible(change.key), value_text(change.old), value_text(change.new)
        line = f"  {key}: {old} → {new}"
        if len(line) + 2 + len(places(change)) <= printer.width:
            painted = f"{printer.paint(old, '-')} → {printer.paint(new, '+')}"
            yield f"  {key}: {painted}  {places(change)}"
        else:
            yield from printer.wrap(f"{key}:", 2)
            yield from printer.wrap(f"- {old}", 4, "-")
            yield from printer.wrap(f"+ {new}", 4, "+")
            yield from printer.wrap(places(change), 4)
        if change.inherited_by:
            yield from printer.wrap(f"inherited by {_names(change.inherited_by)}", 4)


def _names(names: Sequence[str]) -> str:
    shown, rest = some(names)
    return visible(", ".join(shown)) + rest


def _example(example: Example, printer: _Printer) -> Iterator[str]:
    sign = _SIGNS[example.status]
    yield from printer.wrap(f"{sign} {visible(example.label)}", 4, sign)
    for change in example.fields:
        marked = example.status == "changed"
        text = "".join(_chunk(one, marked=marked) for one in cut(change.chunks))
        for line in printer.wrap(f"{change.field}: {text}", 8):
            yield _painted(line, printer) if marked else line


def _chunk(chunk: Chunk, *, marked: bool) -> str:
    text = visible(chunk.text)
    forms = {"-": f"[-{text}-]", "+": f"{{+{text}+}}", "=": text}
    return forms[chunk.sign] if marked else text


def _painted(line: str, printer: _Printer) -> str:
    """Colour the marks, which are said in signs as well."""
    if not printer.colour:
        return line
    for start, end, sign in (("[-", "-]", "-"), ("{+", "+}", "+")):
        line = line.replace(start, style(start, fg=_COLOURS[sign], reset=False))
        line = line.replace(end, end + style("", reset=True))
    return line + style("", reset=True)
