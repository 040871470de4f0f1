"""Count what a dataset contains, column by column and batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow import int64_array, list_offsets, to_numpy_int64
from registry.samples.frames.description import Description
from registry.samples.frames.layout import COLUMNS
from registry.samples.frames.row_digests import Digests, row_digests
from registry.samples.frames.tokens import estimate_tokens

__all__ = ["describe"]

_MOST_TARGETS = 100_000
"""Different targets that are counted one by one."""
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
"""Reads the keys of an object, and leaves their values as text."""
_NULL = msgspec.Raw(b"null")


def describe(batches: Iterable[pa.RecordBatch], *, name: str | None) -> Description:
    """Return the description of samples, from the columns of their frames."""
    counter = _Counter()
    for batch in batches:
        counter.add(batch)
    return counter.description(name)


class _Counter:
    """Counts batch by batch, so that the texts are never all in memory.

    What it keeps per sample are 32 bytes of digests.
    """

    def __init__(self) -> None:
        self.samples = 0
        self.filled = dict.fromkeys(COLUMNS, 0)
        self.lengths: Counter[int] = Counter()
        self.roles: Counter[str] = Counter()
        self.choices: Counter[int] = Counter()
        self.targets: Counter[str] = Counter()
        self.other_targets = 0
        self.metadata: Counter[str] = Counter()
        self.tokens = 0.0
        self.contents = Digests()
        self.ids = Digests()

    def add(self, batch: pa.RecordBatch) -> None:
        """Count the samples of a batch."""
        self.samples += batch.num_rows
        columns = dict(zip(COLUMNS, batch.columns, strict=True))
        filled = {
            name: column.drop_null() if column.null_count else column
            for name, column in columns.items()
            if column.null_count < len(column)
        }
        for name, column in filled.items():
            self.filled[name] += len(column)
            if add := _COLUMNS.get(name):
                add(self, column)
        content = (columns["input"], _without_ids(columns["messages"]), columns["choices"])
        self.contents.add(row_digests(content))

    def add_inputs(self, texts: pa.Array) -> None:
        """Count texts."""
        self.lengths.update(_counts(pc.utf8_length(texts)))
        self.tokens += estimate_tokens(texts)

    def add_messages(self, conversations: pa.Array) -> None:
        """Count conversations, which are as long as the contents of their messages."""
        messages = conversations.flatten()
        self.roles.update(_counts(messages.field("role")))
        contents = messages.field("content")
        lengths = np.cumsum(to_numpy_int64(pc.utf8_length(contents)))
        offsets = list_offsets(conversations)
        sums = np.append(0, lengths)[offsets - offsets[0]]
        self.lengths.update(_counts(int64_array(np.diff(sums))))
        self.tokens += estimate_tokens(contents)

    def add_choices(self, choices: pa.Array) -> None:
        """Count lists of choices."""
        self.choices.update(_counts(pc.list_value_length(choices)))
        self.tokens += estimate_tokens(choices.flatten())

    def add_target(self, texts: pa.Array) -> None:
        """Count targets; new ones only while there is room."""
        counts = _counts(texts)
        if len(self.targets) + len(counts) > _MOST_TARGETS:
            room = _MOST_TARGETS - len(self.targets)
            new = [value for value in counts if value not in self.targets]
            for value in new[max(room, 0) :]:
                self.other_targets += counts.pop(value)
        self.targets.update(counts)

    def add_metadata(self, texts: pa.Array) -> None:
        """Count the keys with values."""
        # Often few different ones, such as {"subject": …}.
        for text, count in _counts(texts).items():
            for key, value in _OBJECT.decode(text).items():
                if value != _NULL:
                    self.metadata[key] += count

    def add_ids(self, ids: pa.Array) -> None:
        """Remember ids."""
        self.ids.add(row_digests([ids]))

    def description(self, name: str | None) -> Description:
        """Return what was counted."""
        return Description(
            name=name,
            samples=self.samples,
            filled=self.filled,
            length_counts=dict(sorted(self.lengths.items())),
            tokens=round(self.tokens),
            roles=dict(self.roles.most_common()),
            choices=dict(sorted(self.choices.items())),
            targets=dict(self.targets.most_common()),
            other_targets=self.other_targets,
            metadata=dict(self.metadata),
            duplicates=self.samples - self.contents.distinct(),
            duplicate_ids=self.filled["id"] - self.ids.distinct(),
        )


_COLUMNS: dict[str, Callable[[_Counter, pa.Array], None]] = {
    "input": _Counter.add_inputs,
    "messages": _Counter.add_messages,
    "choices": _Counter.add_choices,
    "target": _Counter.add_target,
    "targets": lambda counter, column: counter.add_target(column.flatten()),
    "id": _Counter.add_ids,
    "metadata": _Counter.add_metadata,
}
"""Column → what counts its values that are not null."""


def _counts(column: pa.Array) -> dict[Any, int]:
    """Return the values of a column with their counts, in the order of their first use."""
    found = column.value_counts()
    values, counts = found.field("values"), found.field("counts")
    return dict(zip(values.to_pylist(), counts.to_pylist(), strict=True))


def _without_ids(conversations: pa.Array) -> pa.Array:
    """Return conversations without the ids of messages, which may be random."""
    if conversations.null_count == len(conversations):
        return conversations
    names = ("role", "content", "rest")
    messages = conversations.values
    children = [messages.field(name) for name in names]
    kept = pa.StructArray.from_arrays(children, names)
    return pa.Array.from_buffers(
        pa.large_list(kept.type),
        len(conversations),
        conversations.buffers()[:2],
        offset=conversations.offset,
        children=[kept],
    )
