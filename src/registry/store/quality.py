"""Count what is questionable in samples, by whole columns, while they are written.

`expectations` decides which of the counts are errors or warnings.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from registry.base.arrow import blank_strings, int64_array, list_offsets, to_numpy_int64
from registry.samples.letters import index_of

__all__ = ["QualityCounter", "unused_columns"]

_SHOWN = 3
_MAX_VALUE = 80
_PART_ROWS = 1 << 12
_COMPARED = 8
"""Choices that are compared with each other; more are sorted."""

Rows = NDArray[np.int64]
"""Positions of rows within a batch, ascending."""
_NONE = np.zeros(0, np.int64)
_MISSING = {"missing_ids": {"id", "id_number"}, "missing_choices": {"choices"}}
"""Kind → the columns that have no value in its samples."""


class QualityCounter:
    """Counts each kind of questionable sample, and keeps the first ones."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._first: dict[str, list[dict[str, Any]]] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        """Count the samples of a batch."""
        blank = _blank_targets(batch)
        lengths = _choice_counts(batch)
        found = {
            "blank_inputs": blank_strings(batch.column("input")),
            "blank_targets": blank,
            "targets_outside_choices": _targets_outside_choices(batch, blank),
            "missing_ids": _missing_ids(batch),
            "missing_choices": np.flatnonzero(lengths == 0),
            "few_choices": np.flatnonzero(lengths == 1),
            "repeated_choices": _repeated_choices(batch),
        }
        for name, rows in found.items():
            if len(rows):
                self._counts[name] = self._counts.get(name, 0) + len(rows)
                first = self._first.setdefault(name, [])
                missing = rows[: _SHOWN - len(first)].tolist()
                first.extend(_example(batch, row, _VALUES[name]) for row in missing)

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


def _blank_targets(batch: pa.RecordBatch) -> Rows:
    """Return the rows whose target is blank, is empty, or has a blank item."""
    single = blank_strings(batch.column("target"))
    several = batch.column("targets")
    if several.null_count == len(several):
        return single
    rows = _valid(several)
    lists = several.take(int64_array(rows))
    lengths = np.diff(list_offsets(lists))
    of_list = np.repeat(np.arange(len(rows)), lengths)
    bad = lengths == 0
    bad[of_list[blank_strings(lists.flatten())]] = True
    return np.union1d(single, rows[bad])


def _targets_outside_choices(batch: pa.RecordBatch, blank: Rows) -> Rows:
    """Return the rows with choices whose target is neither a letter nor the text of one.

    Rows with a blank target are not repeated here.
    """
    choices = batch.column("choices")
    if choices.null_count == len(choices):
        return _NONE
    is_unclear = np.ones(batch.num_rows, bool)
    is_unclear[_choice_counts(batch) == 0] = False
    is_unclear[_capitals_of_choices(batch)] = False
    is_unclear[blank] = False
    unclear = np.flatnonzero(is_unclear)
    if not len(unclear):
        return _NONE
    unclear = unclear[~_equals_a_choice(batch, unclear)]
    names = ("target", "targets", "choices")
    columns = (batch.column(name).take(int64_array(unclear)).to_pylist() for name in names)
    is_outside = [
        not all(_is_among(one, texts) for one in ([target] if targets is None else targets))
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
    # A list of targets has a null here, and is not equal to anything.
    equal = pc.indices_nonzero(pc.equal(texts, targets.take(of_row)).fill_null(False))
    found = np.zeros(len(rows), bool)
    found[to_numpy_int64(of_row.take(equal))] = True
    return found


def _is_among(target: str, choices: list[str]) -> bool:
    if target in choices:
        return True
    try:
        return index_of(target) < len(choices)
    except ValueError:
        return False


def _capitals_of_choices(batch: pa.RecordBatch) -> Rows:
    """Return the rows whose target is a single capital letter of their choices."""
    # Reads only bytes and offsets, and decides nearly every row of a multiple-choice dataset.
    target = batch.column("target")
    counts = np.diff(list_offsets(batch.column("choices")))
    starts = list_offsets(target)
    valid = _valid(target)
    single = valid[np.diff(starts)[valid] == 1]
    if not len(single):
        return _NONE
    data = np.frombuffer(target.buffers()[2], np.uint8)
    letters = data[starts[single]].astype(np.int64) - ord("A")
    found: Rows = single[(letters >= 0) & (letters < np.minimum(counts[single], 26))]
    return found


def _missing_ids(batch: pa.RecordBatch) -> Rows:
    is_missing = np.ones(batch.num_rows, bool)
    for name in ("id", "id_number"):
        column = batch.column(name)
        if not column.null_count:
            return _NONE
        is_missing[_valid(column)] = False
    return np.flatnonzero(is_missing)


def _choice_counts(batch: pa.RecordBatch) -> Rows:
    """Return the number of choices of each row; null has none."""
    choices = batch.column("choices")
    counts = np.zeros(batch.num_rows, np.int64)
    if choices.null_count < len(choices):
        valid = _valid(choices)
        counts[valid] = np.diff(list_offsets(choices))[valid]
    return counts


def _repeated_choices(batch: pa.RecordBatch) -> Rows:
    """Return the rows in which two choices are equal."""
    choices = batch.column("choices")
    if choices.null_count == len(choices):
        return _NONE
    # In parts whose arrays fit in the processor's cache.
    candidates = [
        _maybe_repeated(choices.slice(start, _PART_ROWS)) + start
        for start in range(0, len(choices), _PART_ROWS)
    ]
    rows = np.concatenate(candidates)
    texts = choices.take(int64_array(rows)).to_pylist()
    repeated: Rows = rows[np.array([len(set(one)) < len(one) for one in texts], bool)]
    return repeated


def _maybe_repeated(choices: pa.Array) -> Rows:
    """Return the rows in which two choices have the same key."""
    valid, offsets = _valid(choices), list_offsets(choices)
    first, last = int(offsets[0]), int(offsets[-1])
    keys = _rough_keys(choices.values.slice(first, last - first))
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
        return np.any(ordered[1:] == ordered[:-1], axis=0)
    for row in range(1, len(table)):  # faster than to sort few values
        for other in range(row):
            found |= table[row] == table[other]
    return found


def _rough_keys(texts: pa.Array) -> NDArray[np.uint64]:
    """Return a number per string, of its length and its first and last eight bytes."""
    offsets = list_offsets(texts)
    first, size = int(offsets[0]), int(offsets[-1] - offsets[0])
    padded = np.zeros(size + 16, np.uint8)
    if size:
        padded[8:-8] = np.frombuffer(texts.buffers()[2], np.uint8, size, first)
    # The eight bytes from each position on, as one number.
    words = np.ndarray((size + 9,), "<u8", padded, strides=(1,))
    lengths = np.diff(offsets)
    # Of a shorter string, the bytes of its neighbours are shifted out; 64 bits can't be, at once.
    foreign = ((8 - np.clip(lengths, 1, 8)) * 8).astype(np.uint64)
    starts, ends = words[offsets[:-1] - first + 8] << foreign, words[offsets[1:] - first] >> foreign
    keys = starts * np.uint64(0x9E3779B97F4A7C15) + ends * np.uint64(31)
    keys[lengths == 0] = 0
    result: NDArray[np.uint64] = keys + lengths.astype(np.uint64)
    return result


def _valid(column: pa.Array) -> Rows:
    """Return the rows with a value."""
    if not column.null_count:
        return np.arange(len(column))
    return to_numpy_int64(pc.indices_nonzero(column.is_valid()))


def _example(
    batch: pa.RecordBatch, row: int, value_of: Callable[[dict[str, Any]], Any]
) -> dict[str, Any]:
    names = ("record", "id", "id_number", "input", "target", "targets", "choices")
    values = {name: batch.column(name)[row].as_py() for name in names}
    identifier = values["id"] if values["id_number"] is None else values["id_number"]
    return {"record": values["record"], "id": _cut(identifier), "value": _cut(value_of(values))}


def _cut(value: Any) -> Any:
    """Return a value of at most a line."""
    if isinstance(value, list):
        return [_cut(item) for item in value[:_SHOWN]] + ["…"] * (len(value) > _SHOWN)
    is_long = isinstance(value, str) and len(value) > _MAX_VALUE
    return f"{value[: _MAX_VALUE - 1]}…" if is_long else value


def _target(values: dict[str, Any]) -> Any:
    return values["target"] if values["targets"] is None else values["targets"]


def _repeated(values: dict[str, Any]) -> str:
    choices: list[str] = values["choices"]
    return next(one for place, one in enumerate(choices) if one in choices[:place])


_VALUES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "blank_inputs": lambda values: values["input"],
    "blank_targets": _target,
    "targets_outside_choices": _target,
    "missing_ids": lambda values: None,
    "missing_choices": lambda values: None,
    "few_choices": lambda values: values["choices"],
    "repeated_choices": _repeated,
}
"""Kind → the value that its examples show."""
