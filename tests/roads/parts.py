"""Shared by generated files of all formats: strings, probabilities and invalid bytes."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.roads.fields import dataset_keys
from tests.roads.outcome import Case

__all__ = ["case_of", "mostly", "rarely", "seldom", "spoilt", "texts", "unlimited_if_odd"]

texts = st.sampled_from(
    [
        *["x", "y", "z", "A", "B", "1", "0", "é", "ß\u0130", "  x ", "a,b", "x y", "docker"],
        *["", " ", "\u3000", "\x1f x", "\U0001f600", "\0", "\u2028", "\ufeffx", "#", '{"x": 1}'],
        *["[1]"],
    ]
)
# `sampled_from` prefers the first value and values it has already returned.
mostly = st.sampled_from([*[True] * 7, False])
seldom = st.sampled_from([*[False] * 19, True])
rarely = st.sampled_from([*[False] * 9, True])
_sizes = {"block": st.sampled_from([32, 64, 200, 1 << 16]), "rows": st.sampled_from([1, 2, 3, 100])}
_limits = st.sampled_from([*[None] * 7, 0, 1, 2, 3])


def case_of(draw: st.DrawFn, data: bytes, name: str, source: dict[str, Any], **fixed: Any) -> Case:
    """Draw the dataset keys for a file and its block sizes; `fixed` is not drawn."""
    sizes = {key: draw(values) for key, values in _sizes.items()}
    if draw(rarely):
        source["columns"] = draw(st.sampled_from([{"k": "x"}, {"a": 1}, {"k": [1], "q": None}]))
    keys = draw(dataset_keys())
    return Case(data, name, source, keys, **{"limit": draw(_limits), **sizes, **fixed})


def spoilt(draw: st.DrawFn, data: bytes) -> bytes:
    """Insert a byte-order mark, or bytes that are not UTF-8, or neither."""
    if not draw(seldom):
        return data
    place = draw(st.integers(0, len(data)))
    odd = draw(st.sampled_from([b"\xff", b"\xed\xa0\x80", b"\xc3", b"\xe9", b"\0"]))
    broken = data[:place] + odd + data[place:]
    return draw(
        st.sampled_from(
            [b"\xef\xbb\xbf" + data, b"\xef\xbb\xbf" * 2 + data, broken, broken, data[:place]]
        )
    )


def unlimited_if_odd(*files: bytes) -> dict[str, Any]:
    """Remove the limit for bytes that are not UTF-8: text is decoded a few thousand bytes ahead."""
    try:
        for data in files:
            data.decode()
    except UnicodeDecodeError:
        return {"limit": None}
    return {}
