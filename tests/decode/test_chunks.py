"""Blocks of complete lines."""

from __future__ import annotations

import io

import hypothesis
import pytest
from hypothesis import strategies as st

from registry.decode.chunks import line_blocks
from registry.decode.frame import NotColumnarError


@hypothesis.given(st.lists(st.binary(max_size=40), max_size=9).map(b"\n".join), st.integers(1, 50))
def test_blocks_are_split_at_line_ends(data: bytes, size: int) -> None:
    found = list(line_blocks(io.BytesIO(data), size=size, most=1 << 20))
    assert b"".join(found) == data
    assert all(block.endswith(b"\n") for block in found[:-1])


@pytest.mark.parametrize("end", [b"", b"\n", b"\nx\n"])
def test_line_that_is_too_long_is_not_columnar(end: bytes) -> None:
    assert list(line_blocks(io.BytesIO(b"x" * 20 + end), size=8, most=64)) != []
    with pytest.raises(NotColumnarError, match="too long"):
        list(line_blocks(io.BytesIO(b"x" * 65 + end), size=8, most=64))
