"""A description of a dataset: how many samples, how long, how balanced, how often repeated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from registry.errors import count_text, list_names
from registry.plots import Bar, Plot, frequencies, histogram_of_counts, label_line, median_of
from registry.samples.frames.layout import COLUMNS

__all__ = ["Description", "Lengths"]

_LISTED = 10
"""Values that the text names."""
_FREQUENT = 3
"""Targets that it names if there are more than that."""
_HTML_BYTES, _CELL_BYTES = 11_000, 500
_LONGEST = 40
"""Characters of a value in the text."""


class Lengths(Struct, frozen=True):
    """Lengths of texts, in characters."""

    least: int
    median: float
    mean: float
    most: int

    def __str__(self) -> str:
        if self.least == self.most:
            return count_text(self.least, "character")
        median = f"{self.median:,.1f}".removesuffix(".0")  # as the plot has it
        return f"{self.least:,} to {self.most:,} characters, median {median}"


class Description(Struct, frozen=True, kw_only=True):
    """What a dataset contains; `str` is a text of a line per column."""

    name: str | None
    """Name of the dataset."""
    samples: int
    """Number of samples."""
    filled: dict[str, int]
    """Column → number of samples that have a value."""
    length_counts: dict[int, int]
    """Length of an input → number of samples; that of a conversation is the sum of its messages."""
    tokens: int
    """About how many tokens inputs, messages and choices have together (`estimate_tokens`)."""
    roles: dict[str, int]
    """Role → number of messages."""
    choices: dict[int, int]
    """Number of choices → number of samples; samples without choices are not counted."""
    targets: dict[str, int]
    """Target → how often, the most frequent first; each of several targets counts.

    At most 100,000 different ones.
    """
    other_targets: int
    """How many targets are none of these."""
    metadata: dict[str, int]
    """Key → number of samples that have a value."""
    duplicates: int
    """Samples whose input and choices are those of an earlier one."""
    duplicate_ids: int
    """Samples whose id is that of an earlier one."""

    def to_dict(self) -> dict[str, Any]:
        """Return the description as JSON data."""
        data = asdict(self)
        del data["length_counts"]
        lengths = self.input_lengths
        return {
            **data,
            "input_lengths": None if lengths is None else asdict(lengths),
            "plots": [_plot_data(plot) for plot in self.plots()],
        }

    @property
    def input_lengths(self) -> Lengths | None:
        """Lengths of the inputs; None without samples."""
        counts = self.length_counts
        if not counts:
            return None
        mean = sum(length * count for length, count in counts.items()) / sum(counts.values())
        return Lengths(min(counts), median_of(counts), mean, max(counts))

    def plots(self) -> tuple[Plot, ...]:
        """Return the plots of what the samples have: lengths, targets, choices, duplicates."""
        return tuple(self._plots())

    def _plots(self) -> Iterator[Plot]:
        if self.length_counts:
            yield histogram_of_counts("Input length", self.length_counts, unit="character")
        if self.targets:
            yield _target_plot(self.targets, self.other_targets)
        if self.choices:
            yield histogram_of_counts("Number of choices", self.choices, unit="choice")
        if self.duplicates:
            first = Bar(label="different", count=self.samples - self.duplicates)
            again = Bar(label="repeated", count=self.duplicates, marked=True)
            yield Plot(title="Duplicates", bars=(first, again))

    @property
    def title(self) -> str:
        """Name, and number of samples."""
        return f"{self.name or 'dataset'}: {count_text(self.samples, 'sample')}"

    def __str__(self) -> str:
        width = max(map(len, COLUMNS))
        rows = (f"{name:{width}}  {count:>7}  {text}".rstrip() for name, count, text in self.rows())
        return "\n".join([self.title, *rows])

    def _repr_html_(self) -> str:
        """Return a table of the columns, and plots, as HTML for a notebook."""
        from registry.display.html import MOST_BYTES, Allowance, block, plots_html, table

        room = Allowance(_HTML_BYTES)
        rows = [[room.line(cell, _CELL_BYTES) for cell in row] for row in self.rows()]
        parts = [
            f"<b>{room.line(self.title, _CELL_BYTES)}</b>",
            table(rows, headers=("column", "samples", "content")) if rows else "",
        ]
        left = MOST_BYTES - len(block(*parts).encode())
        return block(*parts, plots_html(self.plots(), "", most=left))

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, count and details of each column that has values, then of all samples."""
        details = {
            "input": str(self.input_lengths or ""),
            "messages": _counts(self.roles),
            "choices": _counts(
                {count_text(number, "choice"): n for number, n in self.choices.items()}
            ),
            # Of both columns, in the first that has any.
            "target" if self.filled["target"] else "targets": _balance(
                self.targets, self.other_targets
            ),
            "metadata": _counts(self.metadata),
        }
        for name, count in self.filled.items():
            if count:
                share = "all" if count == self.samples else f"{count:,}"
                yield name, share, details.get(name, "")
        if self.samples:
            yield "tokens", _rounded(self.tokens), "estimate, for input, messages and choices"
        for name, count in (("duplicates", self.duplicates), ("equal ids", self.duplicate_ids)):
            if count:
                yield name, f"{count:,}", ""


def _rounded(number: int) -> str:
    """Return a number with two digits, as an estimate has: about 1,300."""
    zeros = 10 ** max(len(str(number)) - 2, 0)
    return f"~{round(number / zeros) * zeros:,}"


def _target_plot(counts: dict[str, int], others: int) -> Plot:
    """Return the balance of targets; only their number if each has its own, as free text has."""
    title = "Targets"
    if len(counts) > _LISTED and max(counts.values()) == 1:
        return Plot(title=title, bars=(), note=_different(counts, others))
    plot = frequencies(title, counts, most=_LISTED)
    return plot if not others else replace(plot, note=_different(counts, others))


def _different(counts: dict[str, int], others: int) -> str:
    return f"{'more than ' if others else ''}{len(counts):,} different"


def _plot_data(plot: Plot) -> dict[str, Any]:
    bars = [{"label": bar.label, "count": bar.count} for bar in plot.bars]
    return {"title": plot.title, "bars": bars, "note": plot.note}


def _balance(counts: dict[str, int], others: int) -> str:
    """Return all targets if they are few, such as letters, else how many and the most frequent."""
    if len(counts) <= _LISTED:
        return _counts(counts)
    frequent = {value: n for value, n in list(counts.items())[:_FREQUENT] if n > 1}
    return _different(counts, others) + (f", {_counts(frequent)}" if frequent else "")


def _counts(counts: dict[str, int]) -> str:
    named = [f"{label_line(value, most=_LONGEST)} {count:,}" for value, count in counts.items()]
    return list_names(named, _LISTED)
