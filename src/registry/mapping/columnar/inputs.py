"""Convert values of the field `input` to its columns, without models where messages are plain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from registry.base.arrow.arrays import to_array
from registry.mapping.coerce import to_input
from registry.store.columns import field_columns
from registry.store.conversations import conversation_to_json, plain_conversation_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.store.columns import Numbers

__all__ = ["input_columns"]


def input_columns(values: Sequence[Any], records: Numbers) -> dict[str, pa.Array]:
    """Return the columns of inputs, of which any value may be that of an expression.

    Raises:
        MappingError: a value is not an input, or can't be stored.
    """
    prompts: list[str | None] = []
    messages: list[bytes | None] = []
    try:
        if set(map(type, values)) == {str} and "" not in values:
            return {"input": to_array(values, pa.large_string())}
        for value in values:
            text = plain_conversation_json(value) if type(value) is list else None
            own = to_input(value) if text is None else None
            prompts.append(own if isinstance(own, str) else None)
            if isinstance(own, list):
                text = conversation_to_json(own).encode()
            messages.append(text)
        texts = to_array(messages, pa.large_binary()).view(pa.large_string())
        return {"input": to_array(prompts, pa.large_string()), "messages": texts}
    except (UnicodeEncodeError, TypeError, RecursionError):
        # Again, to find the first value that can't be stored.
        return field_columns("input", list(map(to_input, values)), records)
