"""Blocks of whole lines: all bytes, cut at ends of lines, and none too large for pyarrow."""

from __future__ import annotations

import io

import hypothesis
import pytest
from hypothesis import strategies as st

from registry.decode import chunks as blocks
from registry.decode.chunks import line_blocks
from registry.decode.frame import NotColumnarError


@hypothesis.given(st.lists(st.binary(max_size=40), max_size=9).map(b"\n".join), st.integers(1, 50))
def test_blocks_are_all_bytes_cut_at_ends_of_lines(data: bytes, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_BLOCK_BYTES", size)
        found = list(line_blocks(io.BytesIO(data)))
    assert b"".join(found) == data
    assert all(block.endswith(b"\n") for block in found[:-1])


@pytest.mark.parametrize("end", [b"", b"\n", b"\nx\n"])
def test_a_line_that_is_too_long_is_refused(end: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 8)
    monkeypatch.setattr(blocks, "_MOST_BYTES", 64)
    assert list(line_blocks(io.BytesIO(b"x" * 20 + end))) != []
    with pytest.raises(NotColumnarError, match="1 GiB"):
        list(line_blocks(io.BytesIO(b"x" * 65 + end)))
