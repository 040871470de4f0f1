"""A description of a dataset: how many samples, how long, how balanced, how often repeated."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import asdict

from registry.samples.frames.layout import COLUMNS

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Description", "Lengths", "describe"]

_LISTED = 10
"""Values that the text names."""
_FREQUENT = 3
"""Targets that it names if there are more than that."""
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
            return f"{self.least:,} characters"
        return f"{self.least:,} to {self.most:,} characters, median {self.median:,.0f}"


class Description(Struct, frozen=True, kw_only=True):
    """What a dataset contains; `str` is a text of a line per column."""

    name: str | None
    """Name of the dataset."""
    samples: int
    """Number of samples."""
    filled: dict[str, int]
    """Column → number of samples that have a value."""
    input_lengths: Lengths | None
    """Lengths of the inputs; that of a conversation is the sum of its messages."""
    roles: dict[str, int]
    """Role → number of messages."""
    choices: dict[int, int]
    """Number of choices → number of samples; samples without choices are not counted."""
    targets: dict[str, int]
    """Target → how often, the most frequent first; each of several targets counts."""
    metadata: dict[str, int]
    """Key → number of samples that have a value."""
    duplicates: int
    """Samples whose input and choices are those of an earlier one."""
    duplicate_ids: int
    """Samples whose id is that of an earlier one."""

    def to_dict(self) -> dict[str, Any]:
        """Return the description as JSON data."""
        lengths = self.input_lengths
        return {**asdict(self), "input_lengths": None if lengths is None else asdict(lengths)}

    def __str__(self) -> str:
        title = f"{self.name or 'dataset'}: {self.samples:,} sample{'s' * (self.samples != 1)}"
        width = max(map(len, COLUMNS))
        return "\n".join([title, *(f"{name:{width}}  {text}" for name, text in self._lines())])

    def _lines(self) -> Iterator[tuple[str, str]]:
        details = {
            "input": str(self.input_lengths or ""),
            "messages": _counts(self.roles),
            "choices": _counts({f"{number} choices": n for number, n in self.choices.items()}),
            # Of both columns, in the first that has any.
            "target" if self.filled["target"] else "targets": _balance(self.targets),
            "metadata": _counts(self.metadata),
        }
        for name, count in self.filled.items():
            if count:
                share = "all" if count == self.samples else f"{count:,}"
                yield name, "  ".join(filter(None, (f"{share:>7}", details.get(name, ""))))
        for name, count in (("duplicates", self.duplicates), ("equal ids", self.duplicate_ids)):
            if count:
                yield name, f"{count:>7,}"


def _balance(counts: dict[str, int]) -> str:
    """Return all targets if they are few, such as letters, else how many and the most frequent."""
    if len(counts) <= _LISTED:
        return _counts(counts)
    frequent = {value: n for value, n in list(counts.items())[:_FREQUENT] if n > 1}
    return f"{len(counts):,} different" + (f", {_counts(frequent)}" if frequent else "")


def _counts(counts: dict[str, int]) -> str:
    named = [f"{_shown(value)} {count:,}" for value, count in list(counts.items())[:_LISTED]]
    more = len(counts) - len(named)
    return ", ".join(named) + (f" and {more:,} more" if more > 0 else "")


def _shown(value: str) -> str:
    """Return a value on one line."""
    line = " ".join(value.split())
    line = "".join(one if one.isprintable() else "�" for one in line)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def describe(batches: Iterable[pa.RecordBatch], *, name: str | None) -> Description:
    """Return the description of samples, from the columns of their frames."""
    counter = _Counter()
    for batch in batches:
        counter.add(batch)
    return counter.description(name)


class _Counter:
    """Counts batch by batch, so that the texts are never all in memory."""

    def __init__(self) -> None:
        self.samples = 0
        self.filled = dict.fromkeys(COLUMNS, 0)
        self.lengths: list[int] = []
        self.roles: Counter[str] = Counter()
        self.choices: Counter[int] = Counter()
        self.targets: Counter[str] = Counter()
        self.metadata: Counter[str] = Counter()
        self.contents: set[bytes] = set()
        self.ids: set[str] = set()

    def add(self, batch: pa.RecordBatch) -> None:
        count = batch.num_rows
        self.samples += count
        columns = {}
        for name, column in zip(COLUMNS, batch.columns, strict=True):
            self.filled[name] += count - column.null_count
            empty = column.null_count == count
            columns[name] = [None] * count if empty else column.to_pylist()
        self._add_targets(columns)
        self.ids.update(one for one in columns["id"] if one is not None)
        self.choices.update(len(one) for one in columns["choices"] if one is not None)
        for text in columns["metadata"]:
            data = json.loads(text) if text is not None else {}
            self.metadata.update(key for key, value in data.items() if value is not None)
        for row in zip(columns["input"], columns["messages"], columns["choices"], strict=True):
            self._add_content(*row)

    def _add_targets(self, columns: dict[str, list[Any]]) -> None:
        self.targets.update(one for one in columns["target"] if one is not None)
        for several in columns["targets"]:
            self.targets.update(several or ())

    def _add_content(
        self, text: str | None, messages: list[dict[str, str]] | None, choices: list[str] | None
    ) -> None:
        self.roles.update(one["role"] for one in messages or ())
        if messages is None:
            self.lengths.append(len(text or ""))
        else:
            self.lengths.append(sum(len(one["content"]) for one in messages))
        # Ids of messages may be random.
        said = [(one["role"], one["content"], one["rest"]) for one in messages or ()]
        content = json.dumps([text, said, choices]).encode()
        self.contents.add(blake2b(content, digest_size=16).digest())

    def description(self, name: str | None) -> Description:
        return Description(
            name=name,
            samples=self.samples,
            filled=self.filled,
            input_lengths=_lengths(self.lengths),
            roles=dict(self.roles.most_common()),
            choices=dict(sorted(self.choices.items())),
            targets=dict(self.targets.most_common()),
            metadata=dict(self.metadata),
            duplicates=self.samples - len(self.contents),
            duplicate_ids=self.filled["id"] - len(self.ids),
        )


def _lengths(lengths: list[int]) -> Lengths | None:
    if not lengths:
        return None
    return Lengths(min(lengths), median(lengths), fmean(lengths), max(lengths))
