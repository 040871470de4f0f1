"""Write the conversations of whole columns as the samples file stores them.

Records with the same parts of messages have the same JSON around their texts. It is taken from one
conversation that is made, and stored, as a record's is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow.arrays import int64_array, is_text, string_scalar
from registry.base.digest import canonical_json
from registry.manifest.expressions import Messages
from registry.mapping.coerce import message_identity, to_input
from registry.mapping.columnar.kernels.arrays import (
    NoKernelError,
    check_size,
    empty_mask,
)
from registry.mapping.columnar.kernels.json_strings import escape
from registry.mapping.columnar.text import hex_digests
from registry.mapping.evaluate import MEDIA_FORMATS
from registry.samples.messages import ChatMessage
from registry.store.conversations import conversation_to_json

if TYPE_CHECKING:
    from registry.mapping.columnar.kernels.arrays import Evaluate
    from registry.mapping.columnar.record_batch import RecordBatchView

__all__ = ["conversations"]

_KINDS = ("", "text", "image", "audio", "video")
"""Kinds of parts that are stored as they are; something is derived from a document."""

_MOST_FORMS = 32


def conversations(messages: Messages, view: RecordBatchView, evaluate: Evaluate) -> pa.Array:
    """Return the conversations of records as JSON."""
    parts = [
        (turn, role, kind, evaluate(expression, view))
        for turn, (role, contents) in enumerate(messages.turns)
        for kind, expression in contents
    ]
    columns = [column for *_, column in parts]
    present = np.array([~empty_mask(column) for column in columns]).reshape(len(parts), view.count)
    for (_, _, kind, column), given in zip(parts, present, strict=True):
        if kind not in _KINDS or (given.any() and not is_text(column.type)):
            raise NoKernelError
    forms, form_of = np.unique(present, axis=1, return_inverse=True)
    if forms.shape[1] > _MOST_FORMS:
        raise NoKernelError
    written: list[pa.Array] = []
    order = np.zeros(view.count, np.int64)
    for number, form in enumerate(forms.T):
        rows = np.flatnonzero(form_of.ravel() == number)
        order[rows] = np.arange(len(rows)) + sum(len(column) for column in written)
        chosen = {
            place: columns[place]
            if len(rows) == view.count
            else columns[place].take(int64_array(rows))
            for place in np.flatnonzero(form).tolist()
        }
        turns = [part[:3] if given else None for part, given in zip(parts, form, strict=True)]
        written.append(_written(turns, chosen))
    return written[0] if len(written) == 1 else pa.concat_arrays(written).take(int64_array(order))


def _written(
    parts: Sequence[tuple[int, str, str] | None], columns: Mapping[int, pa.Array]
) -> pa.Array:
    """Return the conversations of records that all have the same parts."""
    items = _items(parts)
    if not items:
        raise NoKernelError  # an error, which its record reports
    values = {f"<{place}>": escape(column) for place, column in columns.items()}
    messages = to_input(items)
    assert isinstance(messages, list)  # noqa: S101 (as the items are a list)
    for index, (item, message) in enumerate(zip(items, messages, strict=True)):
        identity = canonical_json(message_identity(index, item)).decode()
        texts, name = _filled(identity, values), _id_of(message)
        values[name] = hex_digests([texts], algorithm="sha256", length=len(name))
    return _filled(conversation_to_json(messages), values)


def _id_of(message: ChatMessage) -> str:
    assert message.id is not None  # noqa: S101 (`to_input` gives each message one)
    return message.id


def _items(parts: Sequence[tuple[int, str, str] | None]) -> list[dict[str, Any]]:
    """Return the messages as an expression does, each text replaced by the place of its column."""
    items: dict[int, dict[str, Any]] = {}
    for place, part in enumerate(parts):
        if part is None:
            continue
        turn, role, kind = part
        mark = f"<{place}>"
        if not kind:
            items[turn] = {"role": role, "content": mark}
            continue
        media = {"format": MEDIA_FORMATS[kind]} if kind in MEDIA_FORMATS else {}
        item = items.setdefault(turn, {"role": role, "content": []})
        item["content"].append({"type": kind, kind: mark, **media})
    return list(items.values())


def _filled(text: str, values: Mapping[str, pa.Array]) -> pa.Array:
    """Return a text with values in the place of JSON strings that name them."""
    names = "|".join(map(re.escape, values))
    pieces = [
        values[piece] if place % 2 else string_scalar(piece)
        for place, piece in enumerate(re.split(f'(?<=")({names})(?=")', text))
    ]
    check_size(pieces, len(pieces[1]))
    return pc.binary_join_element_wise(*pieces, string_scalar(""))
