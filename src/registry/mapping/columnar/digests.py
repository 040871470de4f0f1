"""Digests of columns: what `hash` gives record by record."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow import list_offsets, string_scalar

__all__ = ["digests_of"]


def digests_of(columns: Sequence[pa.Array], *, algorithm: str, length: int | None) -> pa.Array:
    """Return the hex digest of the texts that columns have in each row, joined with NUL."""
    joined = pc.binary_join_element_wise(*columns, string_scalar("\0"))
    digest_of: Any = getattr(hashlib, algorithm)
    data = memoryview(joined.buffers()[2] or b"")
    digests = b"".join(
        [
            digest_of(data[start:end], usedforsecurity=False).digest()
            for start, end in pairwise(list_offsets(joined).tolist())
        ]
    )
    return _of_one_width(digests.hex(), len(joined), length)


def _of_one_width(digits: str, count: int, length: int | None) -> pa.Array:
    """Return the first `length` of the digits that each row has."""
    whole = np.frombuffer(digits.encode(), np.uint8).reshape(count, -1)
    kept = np.ascontiguousarray(whole[:, :length])
    starts = np.arange(count + 1, dtype=np.int64) * kept.shape[1]
    return pa.Array.from_buffers(
        pa.large_string(), count, [None, pa.py_buffer(starts), pa.py_buffer(kept)]
    )
