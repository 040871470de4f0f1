"""Count what a dataset contains, column by column and batch by batch.

Equal rows are found by digests, so no values are kept; tokens are estimated without a tokenizer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from xxhash import xxh3_128_digest

from registry.base.arrow import int64_array, list_offsets, to_numpy_int64
from registry.samples.frames.description import Description
from registry.samples.frames.layout import COLUMNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Digests", "describe", "estimate_tokens", "row_digests"]

_MOST_TARGETS = 100_000
"""Different targets that are counted one by one."""
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
"""Reads the keys of an object, and leaves their values as text."""
_NULL = msgspec.Raw(b"null")

# Fitted to o200k_base, the vocabulary of OpenAI's models since 2024, over 18 real data sets: maths,
# reading, law, code, chats, and 10 languages. Their sums are within 14%, 12 of them within 6%
# (characters / 4 is between 69% too low and 47% too high); single short texts can be 50% off.
_SPACE = 0.60  # most start a word, which is one token if it is frequent
_LETTER = 0.10  # rare words are several
_DIGIT = 0.61
_PUNCTUATION = 0.87
_TWO_BYTES = 0.21  # Latin with accents, Cyrillic, Greek, Arabic, Hebrew
_INDIC = 0.34  # and other scripts of South and Southeast Asia, of three bytes per character
_IDEOGRAPH = 0.82  # and kana, Hangul
_FOUR_BYTES = 1.5  # emoji; not fitted

_CHUNK = 1 << 16
"""Bytes counted at once: `bincount` makes integers of 8 bytes of them, which fit in the cache."""

_NULL_ROW = (-1).to_bytes(8, "little", signed=True)


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


def _weights() -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the tokens per byte, by its value; only the first byte of a character counts."""
    weights = np.zeros(256)
    weights[ord("!") : 0x7F] = _PUNCTUATION
    weights[ord("A") : ord("Z") + 1] = weights[ord("a") : ord("z") + 1] = _LETTER
    weights[ord("0") : ord("9") + 1] = _DIGIT
    weights[ord(" ")] = _SPACE
    weights[0xC0:0xE0] = _TWO_BYTES
    weights[0xE0:0xE2] = _INDIC
    weights[0xE2] = _PUNCTUATION  # dashes, quotation marks, arrows, mathematical signs
    weights[0xE3:0xF0] = _IDEOGRAPH
    weights[0xF0:] = _FOUR_BYTES
    return weights


_WEIGHTS = _weights()


def estimate_tokens(texts: pa.Array) -> float:
    """Return about how many tokens a column of large strings without nulls has."""
    offsets = list_offsets(texts)
    data = np.frombuffer(texts.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]]
    counts = np.zeros(256, np.int64)
    for start in range(0, len(data), _CHUNK):
        counts += np.bincount(data[start : start + _CHUNK], minlength=256)
    return float(counts @ _WEIGHTS)


class Digests:
    """A collection of digests, 16 bytes each, that counts the different ones."""

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, digests: bytes) -> None:
        """Add digests, one after the other."""
        self._data += digests

    def distinct(self) -> int:
        """Return how many different digests there are."""
        halves = np.frombuffer(self._data, np.uint64).reshape(-1, 2)
        if not len(halves):
            return 0
        ordered = halves[np.lexsort((halves[:, 1], halves[:, 0]))]
        return 1 + int((ordered[1:] != ordered[:-1]).any(axis=1).sum())


def row_digests(columns: Sequence[pa.Array]) -> bytes:
    """Return a digest of each row, one after the other: equal for rows with equal values.

    Args:
        columns: Columns of one length, of large strings, or large lists of them or of structs of
            them.
    """
    # Each text follows its length, each list the number of its items: no two rows have the same
    # bytes unless they have the same values.
    parts = [part for column in columns for part in _row_parts(column)]
    return b"".join(map(xxh3_128_digest, map(b"".join, zip(*parts, strict=True))))


def _row_parts(column: pa.Array) -> Iterator[list[bytes]]:
    """Yield lists of bytes, an item per row, which together determine the values of a column."""
    if column.null_count == len(column):  # as most columns of a dataset
        yield [_NULL_ROW] * len(column)
        return
    starts = np.arange(len(column), dtype=np.int64)
    if not pa.types.is_large_list(column.type):
        yield from _text_parts(column, starts, starts + 1)
        return
    offsets, lengths = list_offsets(column), _lengths(column)
    yield _spans(lengths, starts, starts + 1)
    first, ends = offsets[:-1], np.where(lengths < 0, offsets[:-1], offsets[1:])
    items = column.values
    is_struct = pa.types.is_struct(items.type)
    texts = items.flatten() if is_struct else [items]
    for text in texts:
        yield from _text_parts(text, first, ends)


def _text_parts(
    column: pa.Array, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> Iterator[list[bytes]]:
    """Yield lengths, then bytes, of the texts in each of some ranges."""
    lengths = _lengths(column)
    yield _spans(lengths, starts, ends)
    if column.null_count:  # a null may have bytes
        column = column.fill_null("")
    offsets = list_offsets(column)
    data = np.frombuffer(column.buffers()[2] or b"", np.uint8)
    yield _spans(data, offsets[starts], offsets[ends])


def _lengths(column: pa.Array) -> NDArray[np.int64]:
    """Return the length of each text or list; -1 for null, which is not an empty one."""
    lengths = np.diff(list_offsets(column))
    if column.null_count:
        lengths[column.is_null().to_numpy(zero_copy_only=False)] = -1
    return lengths


def _spans(
    items: NDArray[np.int64] | NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> list[bytes]:
    """Return the bytes of each of some ranges of items."""
    if not len(starts):
        return []
    first, last, size = int(starts.min()), int(ends.max()), items.itemsize
    data = items[first:last].tobytes()  # of `bytes`, slices are faster than of a memoryview
    bounds = zip(((starts - first) * size).tolist(), ((ends - first) * size).tolist(), strict=True)
    return [data[start:end] for start, end in bounds]
