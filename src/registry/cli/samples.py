"""Samples for people, alone or with the records that they were made of."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from registry.base.escape import escape_control, escape_lines
from registry.cli.terminal import columns_of, console_of
from registry.samples.display.sample import target_choices, text_of_input
from registry.samples.fields import REST, field_data
from registry.samples.letters import letter_of

if TYPE_CHECKING:
    from rich.text import Text

    from registry.samples.sample import Sample

__all__ = ["print_sample", "record_lines", "sample_lines"]

_KEY = re.compile(r"(?m)^ {0,4}[\w.-]+:(?= |$)|^(?:system|user|assistant|tool [^:\n]{1,80}):")
_TARGET = re.compile(r"(?m)^✓ .*|^target    .*")
_BESIDE = 100
"""Columns of a terminal that shows a sample and its record side by side."""
_MOST = 10_000
"""Characters of a value of a record."""


def print_sample(
    sample: Sample, number: int, record: tuple[int, Mapping[str, Any]] | None = None
) -> None:
    """Print a sample, and its record with the record's number if that is given."""
    title = f"sample {number}" + (f" · id {sample.id}" if sample.id is not None else "")
    parts = [(escape_control(title), list(sample_lines(sample)))]
    if record is not None:
        parts.append((f"record {record[0]:,} of the source", list(record_lines(record[1]))))
    if not sys.stdout.isatty():
        for heading, lines in parts:
            print(f"── {heading}", *lines, sep="\n", end="\n\n")
        return
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    panels = [
        Panel(_styled(lines), title=Text(heading, style="bold"), title_align="left")
        for heading, lines in parts
    ]
    console = console_of(sys.stdout)
    if len(panels) > 1 and columns_of(sys.stdout) >= _BESIDE:
        table = Table.grid(expand=True)
        for _ in panels:
            table.add_column(ratio=1)
        table.add_row(*panels)
        console.print(table)
    else:
        console.print(*panels, sep="\n")


def _styled(lines: Sequence[str]) -> Text:
    """Return lines with the colors of `show`: keys and roles in one, what is right in another."""
    from rich.text import Text

    text = Text(escape_lines("\n".join(lines)))
    text.highlight_regex(_KEY, "blue")
    text.highlight_regex(_TARGET, "green")
    return text


def sample_lines(sample: Sample) -> Iterator[str]:
    """Yield the lines of a sample; a choice that is the target has a mark."""
    yield from text_of_input(sample.input).splitlines()
    yield ""
    if choices := sample.choices:
        right = target_choices(sample.target, choices)
        for index, choice in enumerate(choices):
            yield f"{'✓' if index in right else ' '} {letter_of(index)}) {choice}"
        yield ""
    yield f"target    {_one_line(sample.target)}"
    for name in REST:
        if (value := getattr(sample, name)) is not None:
            is_model = hasattr(value, "model_dump")
            data = value.model_dump(mode="json") if is_model else field_data(name, value)
            if isinstance(data, dict) and data:
                yield f"{name}:"
                yield from (f"  {line}" for line in record_lines(data))
            else:
                yield f"{name:<9} {_one_line(data)}"


def record_lines(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a record: each column with its value, as the source has it."""
    for name, value in record.items():
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
    return text if len(text) <= _MOST else f"{text[:_MOST]}… ({len(text) - _MOST:,} more)"


def _shown(value: object) -> str:
    return f"({len(value):,} bytes)" if isinstance(value, bytes) else str(value)


def _one_line(value: Any) -> str:
    if isinstance(value, str):
        return value if "\n" not in value else json.dumps(value, ensure_ascii=False)
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 500 else f"{text[:500]}…"
