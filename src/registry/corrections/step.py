"""The key `corrections`: replace values of samples, and leave samples out, as reviewed rows say.

It works on the written samples, after duplicates are resolved, so that an id names one sample.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from registry.corrections.file import (
    ABSENT,
    Correction,
    Corrections,
    metadata_key,
    same_value,
    shown,
    value_of,
)
from registry.errors import (
    ManifestError,
    MappingError,
    Problem,
    did_you_mean,
    list_names,
    types_and_values,
)
from registry.mapping.coerce import to_input
from registry.store.columns import batch_of, fields_of
from registry.store.rows import ids_of, samples_of_batch
from registry.store.schema import with_all_columns

if TYPE_CHECKING:
    from registry.samples.frames.layout import MetadataType
    from registry.samples.sample import Sample
    from registry.store.reader import SampleFile

__all__ = ["CorrectionStep"]

_SHOWN = 3


class CorrectionStep:
    """Corrects the samples of a file, batch by batch, and notes every row that does not fit."""

    def __init__(self, corrections: Corrections, *, auto_id: bool) -> None:
        self._all = corrections
        self._by_name: dict[tuple[str, str | int], list[Correction]] = defaultdict(list)
        for row in corrections.rows:
            self._by_name[row.sample].append(row)
        self._kinds = {row.sample[0] for row in corrections.rows}
        self._auto_id = auto_id
        self._first_ids: list[str | int | None] = []
        self._samples: dict[tuple[str, str | int], int] = defaultdict(int)
        """How many samples each name has."""
        self._problems: list[Problem] = []
        self.changed = 0
        """How many samples were changed."""
        self.dropped = 0
        """How many samples were left out."""

    def batches(
        self, file: SampleFile, metadata_types: Mapping[str, MetadataType]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the corrected rows of a file.

        Raises:
            ManifestError: at the end, with all rows that don't fit the samples.
            MetadataTypeMismatchError: metadata is of another type now.
        """
        if self._auto_id and "id" in self._kinds:
            raise ManifestError(self._numbered())
        for batch in file.full_batches():
            yield self._batch(batch, metadata_types)
        self._problems += self._unused()
        if self._problems:
            raise ManifestError(sorted(self._problems, key=lambda one: (one.line, one.column)))

    def _batch(
        self, batch: pa.RecordBatch, metadata_types: Mapping[str, MetadataType]
    ) -> pa.RecordBatch:
        wanted = self._rows_of(batch)
        if not wanted:
            return batch
        places = sorted(wanted)
        taken = batch.take(pa.array(places, pa.int64()))
        samples = list(samples_of_batch(taken))
        records = taken.column("record").to_pylist()
        dropped = set()
        for place, sample, record in zip(places, samples, records, strict=True):
            if self._apply(sample, wanted[place], record):
                dropped.add(place)
        values = [fields_of(sample) for sample in samples]
        fields = {name: [one[name] for one in values] for name in values[0]}
        # The corrected rows stand behind the others, and are taken from there.
        changed = with_all_columns(batch_of(fields, records, metadata_types), batch.schema)
        at = {place: batch.num_rows + row for row, place in enumerate(places)}
        order = [at.get(row, row) for row in range(batch.num_rows) if row not in dropped]
        table = pa.Table.from_batches([batch, changed]).take(pa.array(order, pa.int64()))
        self.dropped += len(dropped)
        self.changed += len(places) - len(dropped)
        (result,) = table.combine_chunks().to_batches() or [batch.slice(0, 0)]
        return result

    def _rows_of(self, batch: pa.RecordBatch) -> dict[int, list[Correction]]:
        """Return the rows for the samples of a batch, by their places in it."""
        names: list[tuple[str, Sequence[Any]]] = [("record", batch.column("record").to_pylist())]
        names.append(("id", ids_of(batch)))
        if len(self._first_ids) < _SHOWN:
            self._first_ids += islice(names[1][1], _SHOWN - len(self._first_ids))
        found: dict[int, list[Correction]] = defaultdict(list)
        for kind, values in names:
            if kind not in self._kinds:
                continue
            for place, value in enumerate(values):
                name = (kind, value)
                if value is None or name not in self._by_name:
                    continue
                self._samples[name] += 1
                if self._samples[name] == 1:
                    found[place] += self._by_name[name]
        return found

    def _apply(self, sample: Sample, rows: Sequence[Correction], record: int) -> bool:
        """Correct a sample; return whether it is left out."""
        done: dict[str, Correction] = {}
        for row in rows:
            other = done.setdefault("" if row.drop else row.field, row)
            if other is not row:
                message = f"{row.label} is the sample of line {self._all.line(other)}"
                self._note(row, message, "keep one of the two rows")
            elif row.field and self._fits(sample, row, record) and not row.drop:
                self._set(sample, row)
        return any(row.drop for row in rows)

    def _fits(self, sample: Sample, row: Correction, record: int) -> bool:
        """Return whether a sample has what a row says; note a problem if not."""
        found = value_of(sample, row.field)
        place = f"{row.field} of {row.label}" + (
            f" (record {record})" if row.sample[0] == "id" else ""
        )
        if found is ABSENT:
            keys = sample.metadata or {}
            hint = did_you_mean(metadata_key(row.field) or "", keys)
            known = f"its metadata has {list_names([*map(str, keys)]) or 'no key'}"
            self._note(row, f"there is no {place}", hint or known, key="field")
            return False
        if same_value(found, row.was):
            return True
        now = "it is left out" if row.drop else f"`now` is {shown(row.now)}"
        message = f"{place} is {shown(found)}, `was` is {shown(row.was)}, {now}"
        if str(found) == str(row.was):
            hint = "the same text, but another type: quote it, or leave the quotes out"
        elif not row.drop and same_value(found, row.now):
            hint = "the source has the correct value now: remove the row"
        else:
            hint = (
                "look at the source: is the correction still right? Then write what it has as `was`"
            )
        self._note(row, message, hint, key="was")
        return False

    def _set(self, sample: Sample, row: Correction) -> None:
        key = metadata_key(row.field)
        now = copy.deepcopy(row.now)
        if key is not None:
            metadata = copy.deepcopy(sample.metadata) or {}
            target, last = metadata, key
            while last not in target:
                step, _, last = last.partition(".")
                target = target[step]
            target[last] = now
            sample.__dict__["metadata"] = metadata
            return
        try:
            sample.__dict__[row.field] = to_input(now) if row.field == "input" else now
        except MappingError as error:
            self._note(row, str(error), key="now")

    def _note(self, row: Correction, message: str, hint: str = "", *, key: str = "") -> None:
        self._problems.append(self._all.fault(row, message, hint, key=key))

    def _numbered(self) -> Iterator[Problem]:
        for row in self._all.rows:
            if row.sample[0] == "id":
                message = "the samples are numbered (`auto_id`)"
                hint = "write `record`, the number of the record in the source, in place of `id`"
                yield self._all.fault(row, message, hint, key="id")

    def _unused(self) -> Iterator[Problem]:
        """Yield the rows that name no sample, or several."""
        unused = [row for row in self._all.rows if not self._samples[row.sample]]
        own = [row.sample[1] for row in unused if row.sample[0] == "id"]
        ids = [one for one in self._first_ids if one is not None]
        if unused and len(own) == len(self._all.rows):
            asked = types_and_values(list(dict.fromkeys(own))[:_SHOWN])
            there = (
                f"those of the samples are {types_and_values(ids)}" if ids else "no sample has one"
            )
            message = f"no row names a sample: their ids are {asked}, {there}"
            hint = (
                "ids are equal if type and value are: 12 is not '12'; without ids, write `record`"
            )
            yield self._all.fault(unused[0], message, hint, key="id")
            return
        for row in unused:
            message = f"no sample has the {row.label}"
            hint = "was it removed from the source? Then remove the row"
            if ids and type(row.sample[1]) not in set(map(type, ids)) and row.sample[0] == "id":
                hint = f"ids of samples are {types_and_values(ids)}"
            yield self._all.fault(row, message, hint, key=row.sample[0])
        for row in self._all.rows:
            if (count := self._samples[row.sample]) > 1:
                message = f"{row.label} gives {count:,} samples"
                hint = "name one of them by its id"
                yield self._all.fault(row, message, hint, key=row.sample[0])
