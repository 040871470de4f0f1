"""Samples for people, alone or with the records that they were made of."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from registry.base.cells import cell_len, fit, fold
from registry.base.escape import escape_control, escape_lines, start_of
from registry.cli.terminal import can_draw, columns_of, is_styled, paint, print_styled
from registry.errors import count_text
from registry.samples.fields import REST
from registry.samples.letters import letter_of
from registry.samples.shown_sample import shown_data, target_choices, text_of_input

if TYPE_CHECKING:
    from registry.samples.sample import Sample

__all__ = ["print_sample", "record_lines"]

_ROLE = re.compile(r"(?P<blue>(?:system|user|assistant|tool [^:\n]{1,80}):)")
_CHOICE = re.compile(r"(?P<green>✓ .*)")
_FIELD = re.compile(r"(?P<green>target    .*)|(?P<blue>(?:  )?[\w.-]+:)(?: |$)")
"""Groups have the names of their colors."""
_BESIDE = 100
"""Columns of a terminal that shows a sample and its record side by side."""
_MOST = 10_000
"""Characters of a value of a record."""
_MOST_LINES = 30
"""Of a part of a sample on a terminal."""
_BOX, _ASCII_BOX = "╭╮╰╯─│", "++++-|"
_FRAME = len("│  │")

_Part = tuple[Sequence[str], "re.Pattern[str] | None"]
"""Lines, and what is colored at their starts."""


def print_sample(
    sample: Sample, number: int, record: tuple[int, Mapping[str, Any]] | None = None
) -> None:
    """Print a sample, and its record with the record's number if that is given.

    On a terminal a long part of it is folded, and so are lines; a pipe gets all of them.
    """
    title = f"sample {number}" + (f" · id {sample.id}" if sample.id is not None else "")
    panels = [(escape_control(title), list(_parts(sample)))]
    if record is not None:
        lines = list(record_lines(record[1]))
        panels.append((f"record {record[0]:,} of the source", [(lines, _FIELD)]))
    if not sys.stdout.isatty():
        for heading, parts in panels:
            print(f"── {heading}", *_lines_of(parts), sep="\n", end="\n\n")
        return
    width = columns_of(sys.stdout)
    if len(panels) > 1 and width >= _BESIDE:
        _print_beside(panels, (width // 2, width - width // 2))
        return
    for heading, parts in panels:
        for line in _panel(heading, _folded(parts, width - _FRAME), width, 0):
            print_styled(line, sys.stdout)


def _lines_of(parts: Sequence[_Part]) -> Iterator[str]:
    for number, (lines, _) in enumerate(parts):
        yield from ("",) * bool(number)
        yield from lines


def _print_beside(panels: Sequence[tuple[str, list[_Part]]], widths: tuple[int, int]) -> None:
    folded = [
        (heading, _folded(parts, width - _FRAME))
        for (heading, parts), width in zip(panels, widths, strict=True)
    ]
    height = max(len(lines) for _, lines in folded)
    columns = [
        _panel(heading, [*lines, *[("", "")] * (height - len(lines))], width, start)
        for (heading, lines), width, start in zip(folded, widths, (0, widths[0]), strict=True)
    ]
    for pair in zip(*columns, strict=True):
        print_styled("".join(pair), sys.stdout)


def _panel(heading: str, lines: Iterable[tuple[str, str]], width: int, start: int) -> Iterator[str]:
    """Yield a frame with lines in it, each a text and the same in colors.

    Args:
        heading: The text in its first line.
        lines: What is in it.
        width: Its columns.
        start: The columns before it.
    """
    box = _BOX if can_draw(sys.stdout) else _ASCII_BOX
    shown = fit(heading, width - 6)
    rest = box[4] * (width - 5 - cell_len(shown))
    yield f"{box[0]}{box[4]} {paint(shown, sys.stdout, bold=True)} {rest}{box[1]}"
    for text, painted in lines:
        space = " " * (width - _FRAME + 1 - cell_len(text))
        if not text.isascii() and is_styled(sys.stdout):
            # Terminals differ in the widths of some scripts and emoji; the column is exact.
            space = f"\x1b[{start + width}G"
        yield f"{box[5]} {painted}{space}{box[5]}"
    yield f"{box[2]}{box[4] * (width - 2)}{box[3]}"


def _folded(parts: Sequence[_Part], width: int) -> list[tuple[str, str]]:
    """Return parts in lines of a width, each as text and in colors."""
    found: list[tuple[str, str]] = []
    for lines, pattern in parts:
        shown = [pair for line in lines for pair in _painted(line, pattern, width)]
        if len(shown) > _MOST_LINES + 1:
            more = fit(f"… {len(shown) - _MOST_LINES:,} more lines (`| less` has all)", width)
            shown[_MOST_LINES:] = [(more, paint(more, sys.stdout, dim=True))]
        found += [("", ""), *shown] if found else shown
    return found


def _painted(line: str, pattern: re.Pattern[str] | None, width: int) -> Iterator[tuple[str, str]]:
    line = escape_lines(line).expandtabs()
    found = pattern.match(line) if pattern else None
    color = found.lastgroup if found else None
    colored = 0 if color is None or found is None else found.end(color)
    for text in fold(line, width):
        painted = text
        if colored:
            painted = paint(text[:colored], sys.stdout, fg=color) + text[colored:]
            colored = colored - len(text) if color == "green" else 0
        yield text, painted


def _parts(sample: Sample) -> Iterator[_Part]:
    """Yield the lines of a sample: input, choices and the rest; a right choice has a mark."""
    is_chat = not isinstance(sample.input, str)
    yield text_of_input(sample.input).splitlines(), _ROLE if is_chat else None
    if choices := sample.choices:
        right = target_choices(sample.target, choices)
        lines = [
            f"{'✓' if index in right else ' '} {letter_of(index)}) {choice}"
            for index, choice in enumerate(choices)
        ]
        yield [one for line in lines for one in line.splitlines()], _CHOICE
    yield list(_field_lines(sample)), _FIELD


def _field_lines(sample: Sample) -> Iterator[str]:
    yield f"target    {_one_line(sample.target)}"
    for name in REST:
        if (value := getattr(sample, name)) is not None:
            data = shown_data(name, value)
            if isinstance(data, dict) and data:
                yield f"{name}:"
                yield from (f"  {line}" for line in record_lines(data))
            else:
                yield f"{name:<9} {_one_line(data)}"


def record_lines(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a record: each column with its value, as the source has it."""
    # A line end in a name would look like a line of the record.
    for name, value in zip(map(escape_control, record), record.values(), strict=True):
        first, *more = _record_value(value).splitlines() or [""]
        if more:
            yield f"{name}:"
            yield from (f"  {line}" for line in (first, *more))
        else:
            yield f"{name}: {first}"


def _record_value(value: Any) -> str:
    if isinstance(value, bytes):
        return _shown(value)
    text = (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=_shown)
    )
    more = len(text) - _MOST
    return start_of(text, _MOST) + (f" ({more:,} more)" if more > 0 else "")


def _shown(value: object) -> str:
    return f"({count_text(len(value), 'byte')})" if isinstance(value, bytes) else str(value)


def _one_line(value: Any) -> str:
    if isinstance(value, str):
        # In quotes, too, what would look like several answers.
        is_plain = "\n" not in value and not (value[:1] == "[" and value[-1:] == "]")
        return value if is_plain else json.dumps(value, ensure_ascii=False)
    return start_of(json.dumps(value, ensure_ascii=False, default=str), 500)
