"""Write columns of strings as JSON strings, exactly as `json` does without `ensure_ascii`."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow.arrays import list_offsets
from registry.mapping.columnar.kernels.arrays import LARGEST_COLUMN, NoKernelError, text_of

__all__ = ["escape"]

_FIRST_VISIBLE = 0x20
_LONGEST_ESCAPE = len("\\u0000")


def escape(column: pa.Array) -> pa.Array:
    """Return strings as they are written between the quotes of a JSON string."""
    text = text_of(column)
    if text.nbytes * _LONGEST_ESCAPE > LARGEST_COLUMN:
        raise NoKernelError
    data = _bytes_of(text)
    for character in '\\"\n':  # the backslash first: the others are escaped with it
        if ord(character) in data:
            text = _replaced(text, character)
    codes = np.frombuffer(_bytes_of(text), np.uint8)
    if len(codes) and codes.min() < _FIRST_VISIBLE:
        for code in np.unique(codes[codes < _FIRST_VISIBLE]).tolist():
            text = _replaced(text, chr(code))
    return text


def _bytes_of(text: pa.Array) -> bytes:
    offsets, buffer = list_offsets(text), text.buffers()[2]
    return b"" if buffer is None else buffer.to_pybytes()[int(offsets[0]) : int(offsets[-1])]


def _replaced(text: pa.Array, character: str) -> pa.Array:
    return pc.replace_substring(text, pattern=character, replacement=json.dumps(character)[1:-1])
