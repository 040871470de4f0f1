"""Check the samples of a file against `expect` of their manifest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from registry.base.arrow import list_offsets, starts_with_visible_ascii
from registry.errors import ExpectationError
from registry.samples.letters import index_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from registry.manifest.models import Expect
    from registry.store.reader import SampleFile

__all__ = ["check_samples"]

_SHOWN = 3

Offenders = Iterator[int]
"""Positions of rows within a batch that fail an expectation, ascending."""


def check_samples(
    file: SampleFile, expect: Expect, repeated: frozenset[str | int], *, dataset: str
) -> None:
    """Raise an ExpectationError with the number and names of the samples that fail.

    Args:
        file: The samples.
        expect: What every sample must meet.
        repeated: Ids of more than one sample.
        dataset: Name in the message.
    """
    table: dict[str, tuple[bool, Callable[[pa.RecordBatch], Offenders]]] = {
        "unique_ids": (expect.unique_ids, _unique_ids(repeated)),
        "target_in_choices": (expect.target_in_choices, _targets_outside_choices),
        "nonempty_targets": (expect.nonempty_targets, _empty_targets),
    }
    checks = {name: check for name, (wanted, check) in table.items() if wanted}
    offenders: dict[str, list[str]] = {name: [] for name in checks}
    for number in range(file.batch_count if checks else 0):
        batch = file.full_batch(number)
        for name, find in checks.items():
            for place in find(batch):
                row = _row(batch, place)
                sample = f"record {row['record']} (id {row['id']!r}, target {row['target']!r})"
                offenders[name].append(sample)
    problems = []
    for name, found in offenders.items():
        if found:
            more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            shown = ", ".join(found[:_SHOWN])
            problems.append(f"{dataset}: expect.{name} fails for {shown}{more}")
    if problems:
        raise ExpectationError("; ".join(problems))


def _row(batch: pa.RecordBatch, place: int) -> dict[str, Any]:
    names = ("record", "id", "id_number", "target", "targets", "choices")
    row: dict[str, Any] = batch.slice(place, 1).select(names).to_pylist()[0]
    row["id"] = row["id"] if row["id_number"] is None else row["id_number"]
    row["target"] = row["target"] if row["targets"] is None else row["targets"]
    return row


def _unique_ids(repeated: frozenset[str | int]) -> Callable[[pa.RecordBatch], Offenders]:
    seen: set[str | int] = set()

    def find(batch: pa.RecordBatch) -> Offenders:
        texts, numbers = batch.column("id"), batch.column("id_number")
        if not repeated and batch.num_rows in (
            len(texts) - texts.null_count,
            len(numbers) - numbers.null_count,
        ):
            return
        for place, pair in enumerate(zip(texts.to_pylist(), numbers.to_pylist(), strict=True)):
            one = pair[0] if pair[1] is None else pair[1]
            if one is None or one in seen:
                yield place
            if one in repeated:
                seen.add(one)

    return find


def _targets_outside_choices(batch: pa.RecordBatch) -> Offenders:
    for place in np.flatnonzero(~_is_capital_of_choices(batch)).tolist():
        row = _row(batch, place)
        choices = row["choices"] or []
        if not all(one in choices or _is_letter(one, len(choices)) for one in _targets(row)):
            yield place


def _is_capital_of_choices(batch: pa.RecordBatch) -> NDArray[np.bool_]:
    """Return which rows have a single capital letter of their choices as the target."""
    # Reads only bytes and offsets, and decides nearly every row of a multiple-choice dataset.
    target, choices = batch.column("target"), batch.column("choices")
    if target.null_count or choices.null_count:
        return np.zeros(batch.num_rows, bool)
    counts = np.diff(list_offsets(choices))
    starts = list_offsets(target)
    single = np.diff(starts) == 1
    letters = np.full(batch.num_rows, -1)
    if single.any():
        data = np.frombuffer(target.buffers()[2], np.uint8)
        letters[single] = data[starts[:-1][single]].astype(np.int64) - ord("A")
    found: NDArray[np.bool_] = single & (letters >= 0) & (letters < np.minimum(counts, 26))
    return found


def _targets(row: dict[str, Any]) -> list[str]:
    return row["target"] if isinstance(row["target"], list) else [row["target"]]


def _is_letter(target: str, count: int) -> bool:
    try:
        return index_of(target) < count
    except ValueError:
        return False


def _empty_targets(batch: pa.RecordBatch) -> Offenders:
    column = batch.column("target")
    plain = (
        np.zeros(batch.num_rows, bool) if column.null_count else starts_with_visible_ascii(column)
    )
    for place in np.flatnonzero(~plain).tolist():
        targets = _targets(_row(batch, place))
        if not targets or not all(target.strip() for target in targets):
            yield place
