"""Rows of a samples file as rows of a frame: most columns are those of the file, without a copy.

Others are those of the file in another order of the choices, for many rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from registry.base.arrow import int64_array, list_offsets, ranges, to_numpy_int64
from registry.base.digest import from_json
from registry.samples.frames.layout import METADATA_TYPES, MetadataType, frame_schema
from registry.samples.frames.rows import message_row, metadata_kinds, metadata_struct, sandbox_text
from registry.samples.letters import letter_of
from registry.store.columns import to_json_texts
from registry.store.conversations import conversation_data
from registry.store.rows import FILE_COLUMNS, ids_of, metadata_of
from registry.store.schema import METADATA_VALUES, json_keys
from registry.store.views import letter_indexes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from registry.store.reader import SampleFile

__all__ = ["changed_columns", "frame_columns", "ids_of_file", "kinds_of_file", "reordered"]

_encode = msgspec.json.Encoder().encode
_MEDIA = '"(image|audio|video|document)"'
_ORDERED = ("choices", "target", "targets")
"""Columns that an order of choices changes."""


def changed_columns(batch: pa.RecordBatch, *, order: bool, files: bool) -> list[str]:
    """Return the columns of a frame that differ from those of the file.

    Args:
        batch: Rows of the file.
        order: Whether the choices have another order.
        files: Whether names of files are made absolute.
    """
    names = (*(_ORDERED if order else ()), *(FILE_COLUMNS if files else ()))
    return [
        name
        for name in names
        if name in batch.schema.names and (name != "messages" or _has_media(batch.column(name)))
    ]


def _has_media(messages: pa.Array) -> bool:
    """Return whether any conversation may have a part that names a file."""
    import pyarrow.compute as pc  # slow to import, and few datasets have conversations

    # The type of each part is written; inside of another string the quotes would be escaped.
    found = pc.any(pc.match_substring_regex(messages, _MEDIA))
    return bool(found.as_py())


def ids_of_file(file: SampleFile) -> list[int | str | None]:
    """Return the ids of all samples, in the order of the file."""
    return [one for batch in file.full_batches() for one in ids_of(batch)]


def kinds_of_file(file: SampleFile) -> dict[str, MetadataType]:
    """Return the types of the keys of the metadata: those of all samples, whatever the view."""
    batch = file.batch(0) if file.batch_count else None
    if batch is None or METADATA_VALUES not in batch.schema.names:
        return metadata_kinds(file.metadata())
    as_json = json_keys(batch.schema)
    names = {kind: name for name, kind in METADATA_TYPES.items() if name != "json"}
    return {
        child.name: "json" if child.name in as_json else names[child.type]
        for child in batch.schema.field(METADATA_VALUES).type
    }


def frame_columns(
    batch: pa.RecordBatch,
    names: Sequence[str],
    kinds: Mapping[str, MetadataType] | None,
) -> dict[str, pa.Array]:
    """Return columns of a frame for rows of a samples file.

    Args:
        batch: Columns of the file, which omits those without any value.
        names: The columns to return.
        kinds: Types of the keys of the metadata, to have a struct of it; None for JSON.
    """
    schema = frame_schema(kinds)
    made = {}
    for name in names:
        if name == "metadata" and kinds is not None:
            made[name] = _metadata_struct(batch, kinds)
        else:
            column = _READERS.get(name, lambda one, name=name: _stored(one, name))(batch)
            made[name] = pa.nulls(len(batch), schema.field(name).type) if column is None else column
    return made


def _stored(batch: pa.RecordBatch, name: str) -> pa.Array | None:
    """Return a column of the file; None if it has no value."""
    if name not in batch.schema.names:
        return None
    column = batch.column(name)
    return None if column.null_count == len(column) else column


def _ids(batch: pa.RecordBatch) -> pa.Array | None:
    names, numbers = _stored(batch, "id"), _stored(batch, "id_number")
    if numbers is None:
        return names
    texts = numbers.cast(pa.large_string())
    if names is None:
        return texts
    import pyarrow.compute as pc  # slow to import, and few datasets have ids of both types

    return pc.coalesce(names, texts)


def _messages(batch: pa.RecordBatch) -> pa.Array | None:
    texts = _stored(batch, "messages")
    if texts is None:
        return None
    rows = [
        None if text is None else list(map(message_row, conversation_data(text)))
        for text in texts.to_pylist()
    ]
    return pa.array(rows, frame_schema().field("messages").type)


def _metadata_json(batch: pa.RecordBatch) -> pa.Array | None:
    if METADATA_VALUES not in batch.schema.names:
        return _stored(batch, "metadata")
    column, as_json = batch.column(METADATA_VALUES), json_keys(batch.schema)
    values = column.to_pylist()
    if not _has_plain_members(column):
        return to_json_texts(metadata_of({METADATA_VALUES: values}, len(batch), as_json))
    for key in as_json:  # what is JSON already is written as it is
        for value in values:
            if value[key] is not None:
                value[key] = msgspec.Raw(value[key].encode())
    return pa.array(list(map(_encode, values)), pa.large_binary()).view(pa.large_string())


def _has_plain_members(column: pa.StructArray) -> bool:
    """Return whether no key and no number of a struct needs a tag in JSON."""
    import pyarrow.compute as pc  # slow to import, and not every dataset has metadata

    if any(child.name.startswith("$") for child in column.type):
        return False
    floats = [child for child in column.flatten() if pa.types.is_floating(child.type)]
    return all(pc.all(pc.is_finite(child)).as_py() is not False for child in floats)


def _metadata_struct(batch: pa.RecordBatch, kinds: Mapping[str, MetadataType]) -> pa.Array:
    if METADATA_VALUES in batch.schema.names:
        fields = list(frame_schema(kinds).field("metadata").type)
        return pa.StructArray.from_arrays(batch.column(METADATA_VALUES).flatten(), fields=fields)
    texts = _stored(batch, "metadata")
    rows = [None] * len(batch) if texts is None else texts.to_pylist()
    return metadata_struct([None if row is None else from_json(row) for row in rows], kinds)


def _sandboxes(batch: pa.RecordBatch) -> pa.Array | None:
    texts = _stored(batch, "sandbox")
    if texts is None:
        return None
    # Few sandboxes serve many samples, so each is read once.
    encoded = texts.dictionary_encode()
    known = [sandbox_text(*from_json(text)) for text in encoded.dictionary.to_pylist()]
    return pa.array(known, pa.large_string()).take(encoded.indices)


_READERS: dict[str, Callable[[pa.RecordBatch], pa.Array | None]] = {
    "id": _ids,
    "messages": _messages,
    "metadata": _metadata_json,
    "sandbox": _sandboxes,
}
"""Column → what makes it where it is not that of the file."""


class _Order(NamedTuple):
    """New positions of the choices of some rows, concatenated."""

    counts: NDArray[np.int64]
    """Number of choices of each row."""
    starts: NDArray[np.int64]
    """Where each row's choices start."""
    new: NDArray[np.int64]
    """Old position of a choice → its new one."""


def reordered(batch: pa.RecordBatch, old: NDArray[np.int32]) -> dict[str, pa.Array] | None:
    """Return the columns that an order of choices changes; the others are those of the batch.

    Args:
        batch: Rows of a file, with choices.
        old: Old positions of each row's choices in their new order, concatenated.

    Returns:
        The columns; None if a target is not the letter of a choice.
    """
    choices = batch.column("choices")
    offsets = list_offsets(choices)
    counts = np.diff(offsets)
    starts = np.cumsum(counts) - counts
    new = np.empty(len(old), np.int64)
    new[np.repeat(starts, counts) + old] = ranges(counts)
    order = _Order(counts, starts, new)
    items = choices.values.take(int64_array(np.repeat(offsets[:-1], counts) + old))
    columns = {"choices": _list_like(choices, items, counts)}
    for name in ("target", "targets"):
        if name in batch.schema.names:
            made = _targets(batch.column(name), order)
            if made is None:
                return None
            columns[name] = made
    return columns


def _targets(column: pa.Array, order: _Order) -> pa.Array | None:
    """Return the new letters of a column of targets, or of lists of them."""
    rows = np.arange(len(column))
    if not pa.types.is_large_list(column.type):
        return _letters(column, rows, order)
    import pyarrow.compute as pc

    lengths = to_numpy_int64(pc.list_value_length(column).fill_null(0))
    letters = _letters(column.flatten(), np.repeat(rows, lengths), order)
    return None if letters is None else _list_like(column, letters, lengths)


def _letters(texts: pa.Array, rows: NDArray[np.int64], order: _Order) -> pa.Array | None:
    """Return the new letters of targets, each of which is that of a row."""
    indexes, counts = letter_indexes(texts), order.counts[rows]
    changed = (counts > 0) & (indexes >= 0)
    if (indexes[changed] >= counts[changed]).any():
        return None
    places = np.zeros(len(texts), np.int64)
    places[changed] = order.new[order.starts[rows[changed]] + indexes[changed]]
    letters = [letter_of(index) for index in range(int(counts.max(initial=0)) or 1)]
    import pyarrow.compute as pc

    renamed = pa.array(letters, pa.large_string()).take(int64_array(places))
    return renamed if changed.all() else pc.if_else(pa.array(changed), renamed, texts)


def _list_like(column: pa.Array, items: pa.Array, lengths: NDArray[np.int64]) -> pa.Array:
    """Return lists of items with given lengths; the nulls are those of a column."""
    offsets = int64_array(np.append(np.int64(0), np.cumsum(lengths)))
    mask = column.is_null() if column.null_count else None
    return pa.LargeListArray.from_arrays(offsets, items, mask=mask)
