"""Lists of texts as Python writes them: `['a', 'b']`, for whole columns.

Most text stands between the quotes as it is; only where it may not is Python asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow import int64_array, list_offsets, string_scalar, to_numpy_int64

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PLAIN_LETTERS", "text_of_lists"]

PLAIN_LETTERS = range(0xC0, 0x240)
"""Letters beyond ASCII that Python writes as they are, and whose first byte tells them."""


def _plain_bytes() -> NDArray[np.bool_]:
    """Return of each byte whether text of such bytes alone is written as it is."""
    plain = np.zeros(256, np.bool_)
    plain[ord(" ") : ord("~") + 1] = True
    plain[[ord("'"), ord("\\")]] = False
    plain[0x80:0xC0] = True  # these follow a first byte
    first, *_, last = (chr(letter).encode()[0] for letter in PLAIN_LETTERS)
    plain[first : last + 1] = True
    return plain


_PLAIN = _plain_bytes()


def text_of_lists(column: pa.Array) -> pa.Array:
    """Return `str` of each list of a column of lists of texts; no list is null."""
    lists = column.cast(pa.large_list(pa.large_string()))
    inner = pc.binary_join(lists, string_scalar("', '"))
    quoted = (string_scalar("['"), inner, string_scalar("']"))
    texts = pc.binary_join_element_wise(*quoted, string_scalar(""))
    odd = np.flatnonzero(_are_odd(lists))
    if not len(odd):
        return texts
    written = map(str, lists.take(int64_array(odd)).to_pylist())
    order = np.arange(len(lists))
    order[odd] = len(lists) + np.arange(len(odd))
    both = pa.concat_arrays([texts, pa.array(list(written), pa.large_string())])
    return both.take(int64_array(order))


def _are_odd(lists: pa.LargeListArray) -> NDArray[np.bool_]:
    """Return which lists are empty, or have a null, or text that may be written otherwise."""
    items = lists.flatten()
    rows = list_offsets(lists) - list_offsets(lists)[0]
    places = np.concatenate(
        [_odd_items(items), to_numpy_int64(pc.indices_nonzero(items.is_null()))]
    )
    odd: NDArray[np.bool_] = np.diff(rows) == 0
    odd[np.searchsorted(rows, places, side="right") - 1] = True
    return odd


def _odd_items(items: pa.Array) -> NDArray[np.int64]:
    """Return the places of the items with bytes that are not plain; some may come repeatedly."""
    starts = list_offsets(items)
    data = np.frombuffer(items.buffers()[2] or b"", np.uint8)[starts[0] : starts[-1]]
    places = np.flatnonzero(~_PLAIN[data]) + starts[0]
    items_at: NDArray[np.int64] = np.searchsorted(starts, places, side="right") - 1
    return items_at
