"""Count what is questionable in samples, by whole columns, while they are written.

`expectations` decides which of the counts are errors or warnings.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from registry.base.arrow import blank_strings, int64_array, list_offsets, to_numpy_int64
from registry.samples.letters import choice_of

__all__ = ["KINDS", "QualityCounter", "unused_columns"]

_SHOWN = 3
_MAX_VALUE = 80
_PART_ROWS = 1 << 12
_COMPARED = 8
"""Choices that are compared with each other; more are sorted."""

Rows = NDArray[np.int64]
"""Positions of rows within a batch, ascending."""
_NONE = np.zeros(0, np.int64)
_Keys = NDArray[np.uint64]
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_MISSING = {"missing_ids": {"id", "id_number"}, "missing_choices": {"choices"}}
"""Kind → the columns that have no value in its samples."""


class QualityCounter:
    """Counts each kind of questionable sample, and keeps the first ones."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._first: dict[str, list[dict[str, Any]]] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        """Count the samples of a batch."""
        several = _Lists.of(batch.column("targets"))
        blank = _blank_targets(batch, several)
        lengths = _choice_counts(batch)
        found = {
            "blank_inputs": blank_strings(batch.column("input")),
            "blank_targets": blank,
            "targets_outside_choices": _targets_outside_choices(batch, several, blank, lengths),
            "missing_ids": _missing_ids(batch),
            "missing_choices": np.flatnonzero(lengths == 0),
            "few_choices": np.flatnonzero(lengths == 1),
            "repeated_choices": _repeated_choices(batch),
        }
        for name, rows in found.items():
            if len(rows):
                self._counts[name] = self._counts.get(name, 0) + len(rows)
                first = self._first.setdefault(name, [])
                first.extend(_examples(batch, rows[: _SHOWN - len(first)].tolist(), name))

    def result(
        self, files: Sequence[tuple[int, str]], columns: Collection[str]
    ) -> dict[str, dict[str, Any]]:
        """Return the counts and first samples by kind, as JSON data.

        Args:
            files: Location of each file, with the number of its first record, ascending.
            columns: Columns with any value. That all samples lack one of them is not repeated.
        """
        starts = [start for start, _ in files]
        for example in (one for first in self._first.values() for one in first):
            _, location = files[bisect_right(starts, example["record"]) - 1]
            example["file"] = _file_name(location)
        return {
            name: {"count": count, "first": self._first[name]}
            for name, count in self._counts.items()
            if name not in _MISSING or not _MISSING[name].isdisjoint(columns)
        }


def _file_name(location: str) -> str:
    """Return the name of a file: the cache contains no path of this machine."""
    # A member of an archive is named before the archive: `zip://a.csv::https://host/b.zip`.
    first = location.partition("::")[0]
    is_path = first.startswith("/") or "://" in first
    return first.rpartition("/")[2] if is_path else first


def unused_columns(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return columns that no field reads in the form of `QualityCounter.result`."""
    first = [{"value": name} for name in sorted(names)]
    return {"unused_columns": {"count": len(first), "first": first}} if first else {}


class _Lists:
    """The strings of a column of lists, and where those of each row are among them."""

    def __init__(self, column: pa.Array) -> None:
        offsets = list_offsets(column)
        self.rows = _valid(column)
        self.starts = offsets - offsets[0]
        self.lengths = np.diff(offsets)
        self.texts = column.values.slice(int(offsets[0]), int(self.starts[-1]))

    @classmethod
    def of(cls, column: pa.Array) -> _Lists | None:
        """Return None if all lists are null."""
        return None if column.null_count == len(column) else cls(column)

    def rows_of(self, places: Rows) -> Rows:
        """Return the row of each of some strings."""
        return np.searchsorted(self.starts, places, side="right") - 1


def _blank_targets(batch: pa.RecordBatch, several: _Lists | None) -> Rows:
    """Return the rows whose target is blank, is empty, or has a blank item."""
    single = blank_strings(batch.column("target"))
    if several is None:
        return single
    is_blank = np.zeros(batch.num_rows, bool)
    is_blank[several.rows] = several.lengths[several.rows] == 0
    is_blank[single] = True
    is_blank[several.rows_of(blank_strings(several.texts))] = True
    return np.flatnonzero(is_blank)


def _targets_outside_choices(
    batch: pa.RecordBatch, several: _Lists | None, blank: Rows, counts: Rows
) -> Rows:
    """Return the rows with choices whose target is neither a letter nor the text of one.

    Rows with a blank target are not repeated here. `counts` are those of the choices.
    """
    is_unclear = counts > 0
    if not is_unclear.any():
        return _NONE
    is_unclear[_capitals_of_choices(batch, counts)] = False
    if several is not None:
        is_unclear[_lists_of_capitals(several, counts)] = False
    is_unclear[blank] = False
    unclear = np.flatnonzero(is_unclear)
    if not len(unclear):
        return _NONE
    unclear = unclear[~_equals_a_choice(batch, unclear)]
    names = ("target", "targets", "choices")
    columns = (batch.column(name).take(int64_array(unclear)).to_pylist() for name in names)
    is_outside = [
        None in (choice_of(one, texts) for one in ([target] if targets is None else targets))
        for target, targets, texts in zip(*columns, strict=True)
    ]
    outside: Rows = unclear[np.array(is_outside, bool)]
    return outside


def _equals_a_choice(batch: pa.RecordBatch, rows: Rows) -> NDArray[np.bool_]:
    """Return which of some rows with choices have the text of one of them as their only target."""
    targets = batch.column("target").take(int64_array(rows))
    choices = batch.column("choices").take(int64_array(rows))
    lengths, texts = np.diff(list_offsets(choices)), choices.flatten()
    of_row = int64_array(np.repeat(np.arange(len(rows)), lengths))
    # A list of targets has a null here, which is left out.
    equal = pc.indices_nonzero(pc.equal(texts, targets.take(of_row)))
    found = np.zeros(len(rows), bool)
    found[to_numpy_int64(of_row.take(equal))] = True
    return found


def _capitals_of_choices(batch: pa.RecordBatch, counts: Rows) -> Rows:
    """Return the rows whose target is a single capital letter of their choices."""
    # Reads only bytes and offsets, and decides nearly every row of a multiple-choice dataset.
    target = batch.column("target")
    if target.null_count == len(target):
        return _NONE
    rows = _valid(target)
    return rows[_are_capitals(target, counts)[rows]]


def _lists_of_capitals(several: _Lists, counts: Rows) -> Rows:
    """Return the rows with several targets, each a single capital letter of their choices."""
    of_row = np.repeat(np.arange(len(counts)), several.lengths)
    is_other = np.zeros(len(counts), bool)
    is_other[of_row[~_are_capitals(several.texts, counts[of_row])]] = True
    return several.rows[~is_other[several.rows]]


def _are_capitals(texts: pa.Array, counts: Rows) -> NDArray[np.bool_]:
    """Return which strings are one of the first capital letters; of a null it may be wrong."""
    starts = list_offsets(texts)
    found: NDArray[np.bool_] = np.diff(starts) == 1
    single = np.flatnonzero(found)
    if len(single):
        data = np.frombuffer(texts.buffers()[2], np.uint8)
        letters = data[starts[single]].astype(np.int64) - ord("A")
        found[single] = (letters >= 0) & (letters < np.minimum(counts[single], 26))
    return found


def _missing_ids(batch: pa.RecordBatch) -> Rows:
    columns = [batch.column(name) for name in ("id", "id_number")]
    if not all(column.null_count for column in columns):
        return _NONE
    is_missing = np.ones(batch.num_rows, bool)
    for column in columns:
        is_missing[_valid(column)] = False
    return np.flatnonzero(is_missing)


def _choice_counts(batch: pa.RecordBatch) -> Rows:
    """Return the number of choices of each row; null has none."""
    counts = np.zeros(batch.num_rows, np.int64)
    if (choices := _Lists.of(batch.column("choices"))) is not None:
        counts[choices.rows] = choices.lengths[choices.rows]
    return counts


def _repeated_choices(batch: pa.RecordBatch) -> Rows:
    """Return the rows in which two choices are equal."""
    choices = batch.column("choices")
    if choices.null_count == len(choices):
        return _NONE
    # In parts whose arrays fit in the processor's cache.
    candidates = [
        _with_equal_keys(choices.slice(start, _PART_ROWS), _keys_of_ends) + start
        for start in range(0, len(choices), _PART_ROWS)
    ]
    rows = np.concatenate(candidates)
    if not len(rows):
        return rows
    lists = choices.take(int64_array(rows))
    similar = _with_equal_keys(lists, _keys_of_starts)  # few end alike, and fewer start so too
    rows, texts = rows[similar], lists.take(int64_array(similar)).to_pylist()
    repeated: Rows = rows[np.array([len(set(one)) < len(one) for one in texts], bool)]
    return repeated


def _with_equal_keys(choices: pa.Array, keys_of: Callable[[pa.Array], _Keys]) -> Rows:
    """Return the rows in which two choices have the same key."""
    valid, offsets = _valid(choices), list_offsets(choices)
    first, last = int(offsets[0]), int(offsets[-1])
    keys = keys_of(choices.values.slice(first, last - first))
    starts, lengths = offsets[:-1][valid] - first, np.diff(offsets)[valid]
    candidates = [_NONE]
    for length in np.flatnonzero(np.bincount(lengths)).tolist():
        same = np.flatnonzero(lengths == length)
        table = keys[starts[same] + np.arange(length)[:, None]]
        candidates.append(same[_has_equal_columns(table)])
    rows: Rows = valid[np.sort(np.concatenate(candidates))]
    return rows


def _has_equal_columns(table: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which columns of a table have a value twice."""
    found = np.zeros(table.shape[1], bool)
    if len(table) > _COMPARED:
        ordered = np.sort(table, axis=0)
        found |= np.any(ordered[1:] == ordered[:-1], axis=0)
        return found
    for row in range(1, len(table)):  # faster than to sort few values
        for other in range(row):
            found |= table[row] == table[other]
    return found


def _keys_of_ends(texts: pa.Array) -> _Keys:
    """Return a number per string, of its length and its last eight bytes."""
    words, offsets = _words(texts)
    return _keys(words[offsets[1:]], np.diff(offsets), np.right_shift)


def _keys_of_starts(texts: pa.Array) -> _Keys:
    """Return a number per string, of its length and its first eight bytes."""
    words, offsets = _words(texts)
    return _keys(words[offsets[:-1] + 8], np.diff(offsets), np.left_shift)


def _words(texts: pa.Array) -> tuple[_Keys, Rows]:
    """Return the eight bytes before each byte of strings, as a number, and where these start."""
    offsets = list_offsets(texts)
    first, size = int(offsets[0]), int(offsets[-1] - offsets[0])
    padded = np.zeros(size + 16, np.uint8)
    if size:
        padded[8:-8] = np.frombuffer(texts.buffers()[2], np.uint8, size, first)
    return np.ndarray((size + 9,), "<u8", padded, strides=(1,)), offsets - first


def _keys(words: _Keys, lengths: Rows, shift: Callable[[_Keys, _Keys], _Keys]) -> _Keys:
    """Return a key per string; of a short one, the bytes of its neighbours are shifted out."""
    if lengths.min(initial=8) < 8:
        # 64 bits can't be shifted out at once, and an empty string has a length of its own.
        words = shift(words, (8 * np.clip(8 - lengths, 0, 7)).astype(np.uint64))
        words[lengths == 0] = 0
    words *= _FACTOR
    words += lengths.view(np.uint64)
    return words


def _valid(column: pa.Array) -> Rows:
    """Return the rows with a value."""
    if not column.null_count:
        return np.arange(len(column))
    return to_numpy_int64(pc.indices_nonzero(column.is_valid()))


def _examples(batch: pa.RecordBatch, rows: Sequence[int], kind: str) -> Iterator[dict[str, Any]]:
    """Yield what messages show of samples of a kind."""
    names, value_of = _VALUES[kind]
    columns = {name: batch.column(name) for name in (*_NAMES, *names)}
    for row in rows:
        values = {name: column[row].as_py() for name, column in columns.items()}
        identifier = values["id"] if values["id_number"] is None else values["id_number"]
        yield {
            "record": values["record"],
            "id": _cut(identifier),
            "value": _cut(value_of(values)),
        }


def _cut(value: Any) -> Any:
    """Return a value of at most a line."""
    if isinstance(value, list):
        return [_cut(item) for item in value[:_SHOWN]] + ["…"] * (len(value) > _SHOWN)
    is_long = isinstance(value, str) and len(value) > _MAX_VALUE
    return f"{value[: _MAX_VALUE - 1]}…" if is_long else value


def _target(values: dict[str, Any]) -> Any:
    return values["target"] if values["targets"] is None else values["targets"]


def _outside(values: dict[str, Any]) -> Any:
    if values["targets"] is None:
        return values["target"]
    return [one for one in values["targets"] if choice_of(one, values["choices"]) is None]


def _repeated(values: dict[str, Any]) -> str:
    choices: list[str] = values["choices"]
    return next(one for place, one in enumerate(choices) if one in choices[:place])


_TARGETS = ("target", "targets")
_NAMES = ("record", "id", "id_number")
"""Columns that name a sample."""
_VALUES: dict[str, tuple[tuple[str, ...], Callable[[dict[str, Any]], Any]]] = {
    "blank_inputs": (("input",), lambda values: values["input"]),
    "blank_targets": (_TARGETS, _target),
    "targets_outside_choices": ((*_TARGETS, "choices"), _outside),
    "missing_ids": ((), lambda values: None),
    "missing_choices": ((), lambda values: None),
    "few_choices": (("choices",), lambda values: values["choices"]),
    "repeated_choices": (("choices",), _repeated),
}
"""Kind → the columns, and the value of theirs that its examples show."""
KINDS = frozenset(_VALUES)
"""Kinds of questionable samples."""
