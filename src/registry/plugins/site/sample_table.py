"""All samples of a dataset as a table that can be searched, filtered and sorted."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from registry.api import Bar, Plot, cached_property, count_text, ranges_of
from registry.plugins.site.environment import shorten, start_of, visible

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from registry import Dataset

    Codes = NDArray[np.int16]

__all__ = ["Answer", "Column", "Facet", "Question", "SampleTable"]

_MOST_SIZE = 1 << 29
"""Bytes of samples that a table has at most, as it is in memory."""
_MOST_COLUMNS = 60
_MOST_GROUPS = 60
"""Different values that are counted one by one; all others together."""
_FEW = 12
"""Different values that always are."""
_CELL_TEXT, _LABEL_TEXT = 2_000, 80
_FLOAT_DIGITS = 12


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of the table: a field of the samples, or a key of their metadata."""

    name: str
    values: pa.Array
    """Texts, numbers or truths."""

    @property
    def is_text(self) -> bool:
        """Whether its values are texts."""
        return str(self.values.type) == "large_string"


@dataclass(frozen=True, kw_only=True)
class Facet:
    """A column in groups: each sample is in one of them."""

    title: str
    groups: tuple[Bar, ...]
    """A value of the column each, or a range of them, with the number of its samples."""
    codes: Codes
    """The group of each sample."""
    note: str = ""

    def plot(self) -> Plot:
        """Return the groups as a bar chart."""
        bars = self.groups[:_FEW]
        more = len(self.groups) - len(bars)
        return Plot(title=self.title, bars=bars, note=f"{more:,} more" if more else "")


@dataclass(frozen=True, kw_only=True)
class Question:
    """Which samples are wanted, in which order."""

    words: tuple[str, ...] = ()
    """Texts that all must be found, in any column, in whatever case."""
    chosen: tuple[tuple[int, int], ...] = ()
    """Facets and groups: those of one facet are alternatives."""
    sort: int | None = None
    """The column to sort by; None keeps the order of the dataset."""
    descending: bool = False
    first: int = 0
    """How many of the samples to leave out at the start."""
    most: int = 25


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The samples that a question finds."""

    total: int
    rows: tuple[tuple[Any, ...], ...]
    """Of some of them, the number from 1 and the values of all columns."""
    counts: tuple[tuple[int, ...], ...]
    """Of each facet, the samples of each group that all other conditions find."""


@dataclass(frozen=True)
class SampleTable:
    """Samples by column, in the order of the dataset."""

    columns: tuple[Column, ...]
    rows: int
    """How many samples it has."""
    total: int
    """How many the dataset has."""
    described: tuple[Plot, ...] = ()
    """The plots of `Dataset.describe`."""

    @classmethod
    def of(cls, dataset: Dataset, *, most_size: int = _MOST_SIZE) -> SampleTable:
        """Return the table of a dataset, or of as many first samples as have so many bytes."""
        import pyarrow as pa  # a site without samples needs none of it

        parts: list[pa.RecordBatch] = []
        for batch in dataset.batches(metadata="struct"):
            per_row = max(batch.nbytes // max(batch.num_rows, 1), 1)
            fitting = min(batch.num_rows, max(most_size, 0) // per_row)
            most_size -= fitting * per_row
            parts.append(batch.slice(0, fitting))
            if fitting < batch.num_rows:
                break
        rows = sum(part.num_rows for part in parts)
        columns: tuple[Column, ...] = ()
        if rows:
            (batch,) = pa.Table.from_batches(parts).combine_chunks().to_batches()
            columns = tuple(_columns_of(batch))[:_MOST_COLUMNS]
        return cls(columns, rows, len(dataset), dataset.describe().plots())

    @cached_property
    def facets(self) -> tuple[Facet, ...]:
        """The columns that can be counted."""
        return tuple(filter(None, map(_facet_of, self.columns)))

    def plots(self) -> tuple[Plot, ...]:
        """Return bar charts: what `Dataset.describe` counts, and the metadata."""
        metadata = (one for one in self.facets if one.title.startswith("metadata."))
        return (*self.described, *(one.plot() for one in metadata))

    def answer(self, question: Question) -> Answer:
        """Return the samples that a question finds."""
        import numpy as np

        found = self._with_words(question.words)
        by_facet = self._chosen(question.chosen)
        counts = []
        for number, facet in enumerate(self.facets):
            others = [mask for place, mask in by_facet.items() if place != number]
            selected = functools.reduce(np.logical_and, others, found)
            groups = np.bincount(facet.codes[selected], minlength=len(facet.groups))
            counts.append(tuple(groups.tolist()))
        selected = functools.reduce(np.logical_and, by_facet.values(), found)
        order = self._order(question.sort, descending=question.descending)
        places = order[selected[order]]
        shown = places[question.first : question.first + question.most].tolist()
        rows = tuple((place + 1, *self.cells(place)) for place in shown)
        return Answer(total=len(places), rows=rows, counts=tuple(counts))

    def cells(self, place: int, most: int = _CELL_TEXT) -> list[Any]:
        """Return the values of a row as JSON has them, and at most so much of each text."""
        return [_cell(column.values[place].as_py(), most) for column in self.columns]

    def first(self, rows: int) -> SampleTable:
        """Return the table of the first samples."""
        if rows == self.rows:
            return self
        columns = [Column(name=one.name, values=one.values.slice(0, rows)) for one in self.columns]
        filled = (one for one in columns if one.values.null_count < rows)
        return replace(self, columns=tuple(filled), rows=rows)

    def head(self) -> dict[str, Any]:
        """Return the columns and the groups, as JSON data."""
        return {
            "rows": self.rows,
            "total": self.total,
            "columns": [visible(one.name) for one in self.columns],
            "facets": [
                {
                    "title": visible(one.title),
                    "note": one.note,
                    "groups": [[group.label, group.count] for group in one.groups],
                }
                for one in self.facets
            ],
        }

    def _with_words(self, words: Iterable[str]) -> NDArray[np.bool_]:
        """Return the samples that have all words; each word is looked for where the others are."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        places = np.arange(self.rows)
        for word in sorted(words, key=len, reverse=True):
            has_word = np.zeros(len(places), bool)
            for column in self.columns:
                if column.is_text:
                    # To copy texts takes as long as to search them.
                    few = len(places) < self.rows // 2
                    values = column.values.take(pa.array(places)) if few else column.values
                    matches = pc.match_substring(values, word, ignore_case=True)
                    matched = matches.fill_null(False).to_numpy(zero_copy_only=False)
                    has_word |= matched if few else matched[places]
            places = places[has_word]
        found = np.zeros(self.rows, bool)
        found[places] = True
        return found

    def _chosen(self, chosen: Iterable[tuple[int, int]]) -> dict[int, NDArray[np.bool_]]:
        """Return the samples in the chosen groups of each facet that has any."""
        masks: dict[int, NDArray[np.bool_]] = {}
        for number, group in chosen:
            mask = self.facets[number].codes == group
            masks[number] = masks[number] | mask if number in masks else mask
        return masks

    def _order(self, sort: int | None, *, descending: bool) -> NDArray[np.int64]:
        import numpy as np

        if sort is None:
            return np.arange(self.rows)[:: -1 if descending else 1]
        key = sort, descending
        if key not in self._orders:
            self._orders[key] = _sorted(self.columns[sort].values, descending=descending)
        return self._orders[key]

    @cached_property
    def _orders(self) -> dict[tuple[int, bool], NDArray[np.int64]]:
        """The order by each column that was asked for: sorting texts takes longest."""
        return {}


def _sorted(values: pa.Array, *, descending: bool) -> NDArray[np.int64]:
    """Return the places of values in order, equal ones in theirs, what has no value last."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = pa.table({"value": values})
    order = "descending" if descending else "ascending"
    places = pc.sort_indices(table, sort_keys=[("value", order)])
    found: NDArray[np.int64] = places.to_numpy().astype("int64")
    return found


def _cell(value: Any, most: int) -> Any:
    """Return a value as JSON has it: a long text is cut, and a number that JSON lacks a text."""
    if isinstance(value, str):
        return visible(shorten(value, most))
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


# --- columns ---


def _columns_of(batch: pa.RecordBatch) -> Iterator[Column]:
    """Yield the columns that have a value."""
    import pyarrow.compute as pc

    by_name = dict(zip(batch.schema.names, batch.columns, strict=True))
    made = {
        "id": by_name["id"],
        "input": pc.coalesce(by_name["input"], _conversations(by_name["messages"])),
        "choices": _joined(by_name["choices"], "\n"),
        "target": pc.coalesce(by_name["target"], _joined(by_name["targets"], "; ")),
    }
    for name, values in made.items():
        # A sample without a target has a blank one.
        if pc.any(pc.not_equal(values, "")).as_py():
            yield Column(name=name, values=values)
    yield Column(name="input length", values=pc.utf8_length(made["input"]))
    if made["choices"].null_count < len(batch):
        counts = pc.list_value_length(by_name["choices"])
        yield Column(name="number of choices", values=counts)
    metadata = by_name["metadata"]
    for number in range(min(metadata.type.num_fields, _MOST_COLUMNS)):
        field = metadata.type.field(number)
        yield from _filled(f"metadata.{field.name}", pc.struct_field(metadata, [number]))
    for name in by_name.keys() - {*made, "messages", "targets", "metadata"}:
        yield from _filled(name, by_name[name])


def _filled(name: str, values: pa.Array) -> Iterator[Column]:
    if str(values.type).startswith("large_list"):
        values = _joined(values, "; ")
    if values.null_count < len(values):
        yield Column(name=name, values=values)


def _joined(lists: pa.Array, separator: str) -> pa.Array:
    """Return each list of texts as one text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.binary_join(lists, pa.scalar(separator, pa.large_string()))


def _conversations(messages: pa.Array) -> pa.Array:
    """Return each conversation as a text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if messages.null_count == len(messages):
        return pa.nulls(len(messages), pa.large_string())
    parts = messages.flatten()
    texts = pc.binary_join_element_wise(
        parts.field("role"),
        pc.fill_null(parts.field("content"), ""),
        pa.scalar(": ", pa.large_string()),
    )
    offsets = pc.subtract(messages.offsets, messages.offsets[0])
    lists = pa.LargeListArray.from_arrays(offsets, texts, mask=messages.is_null())
    return _joined(lists, "\n\n")


# --- facets ---


def _facet_of(column: Column) -> Facet | None:
    """Return a column in groups; None if nothing about it can be counted."""
    if column.name in ("id", "input", "choices"):
        return None  # their numbers are columns of their own
    if not column.is_text:
        return _of_numbers(column.name, column.values)
    import pyarrow.compute as pc

    encoded = column.values.dictionary_encode()
    different = len(encoded.dictionary)
    sizes = pc.utf8_length(column.values)
    is_repeated = different < len(column.values) - column.values.null_count
    is_short = pc.mean(sizes).as_py() <= _LABEL_TEXT / 2
    if different > _FEW and not (is_repeated and is_short):
        lengths = _of_numbers(f"{column.name}, length", sizes)
        return replace(lengths, note=f"{different:,} different values")
    return _of_values(column.name, encoded, by_count=True)


def _of_numbers(title: str, values: pa.Array) -> Facet:
    """Return numbers or truths in groups: single values if they are few, else ranges."""
    import pyarrow.compute as pc

    if str(values.type) == "bool":
        return _of_values(title, values.cast("string").dictionary_encode(), by_count=False)
    if str(values.type) == "double":
        # NaN and the infinite have no place among ranges.
        values = pc.if_else(pc.is_finite(values), values, None)
    encoded = values.dictionary_encode()
    if len(encoded.dictionary) <= _FEW:
        return _of_values(title, encoded, by_count=False)
    return _of_ranges(title, values)


def _of_values(title: str, encoded: pa.DictionaryArray, *, by_count: bool) -> Facet:
    """Return each value as a group: the most frequent first, or in their order."""
    import numpy as np

    values = encoded.dictionary.to_pylist()
    indices = encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    counts = np.bincount(indices, minlength=len(values) + 1).tolist()
    ranked = sorted(
        range(len(values)), key=(lambda one: -counts[one]) if by_count else values.__getitem__
    )
    shown = ranked[:_MOST_GROUPS]
    others = ranked[_MOST_GROUPS:]
    codes = np.full(len(values) + 1, len(shown), np.int16)
    codes[shown] = np.arange(len(shown), dtype=np.int16)
    groups = [Bar(label=_label(values[one]), count=counts[one]) for one in shown]
    if others:
        label = f"{count_text(len(others), 'other value')}"
        groups.append(Bar(label=label, count=sum(counts[one] for one in others)))
    if counts[-1]:
        codes[len(values)] = len(groups)
        groups.append(Bar(label="(none)", count=counts[-1]))
    return Facet(title=title, groups=tuple(groups), codes=codes[indices])


def _of_ranges(title: str, values: pa.Array) -> Facet:
    """Return numbers in ranges of equal width."""
    import numpy as np

    present = values.is_valid().to_numpy(zero_copy_only=False)
    numbers = values.drop_null().to_numpy(zero_copy_only=False)
    scale = _scale_of(numbers)
    whole = np.floor(numbers * scale).astype(np.int64) if scale != 1 else numbers.astype(np.int64)
    counted = np.unique(whole, return_counts=True)
    ranges = ranges_of(Counter(dict(zip(*(one.tolist() for one in counted), strict=True))))
    lows = np.array([low for low, _ in ranges])
    codes = np.full(len(values), len(ranges), np.int16)
    codes[present] = np.searchsorted(lows, whole, side="right") - 1
    counts = np.bincount(codes, minlength=len(ranges) + 1).tolist()
    labels = [label if scale == 1 else f"≥ {low / scale:g}" for low, label in ranges]
    groups = [Bar(label=label, count=count) for label, count in zip(labels, counts, strict=False)]
    if counts[len(ranges)]:
        groups.append(Bar(label="(none)", count=counts[len(ranges)]))
    return Facet(title=title, groups=tuple(groups), codes=codes)


def _scale_of(numbers: NDArray[Any]) -> float:
    """Return the power of ten by which numbers become ints that differ enough to be counted."""
    if numbers.dtype.kind in "iu":
        return 1
    spread = float(numbers.max() - numbers.min())
    digits = min(max(2 - math.floor(math.log10(spread)), 0), _FLOAT_DIGITS) if spread else 0
    return 1.0 if math.isinf(spread) else 10.0**digits


def _label(value: object) -> str:
    if not isinstance(value, str):
        return f"{value:,}" if isinstance(value, int) else f"{value:g}"
    line = " ".join(value[: 10 * _LABEL_TEXT].split())
    return visible(start_of(line, _LABEL_TEXT)) or "(blank)"
