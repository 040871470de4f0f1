"""Blocks of complete lines, parsed ahead and yielded in order."""

from __future__ import annotations

import io
import os
import threading
import time
from collections.abc import Iterator
from itertools import islice

import hypothesis
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from registry.decode import chunks as blocks
from registry.decode.chunks import line_blocks, parse_blocks, read_start
from registry.decode.frame import AnyFrame, Frame, NotColumnarError


@hypothesis.given(st.lists(st.binary(max_size=40), max_size=9).map(b"\n".join), st.integers(1, 50))
def test_blocks_are_split_at_line_ends(data: bytes, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_BLOCK_BYTES", size)
        found = list(line_blocks(io.BytesIO(data)))
        stream = io.BytesIO(data)
        start, is_all = read_start(stream)
        assert (start, is_all) == (data[: size + 1], len(data) <= size)
        rest = list(line_blocks(stream, start=start))
    assert b"".join(found) == b"".join(rest) == data
    assert all(block.endswith(b"\n") for block in found[:-1])


@pytest.mark.parametrize("end", [b"", b"\n", b"\nx\n"])
def test_line_that_is_too_long_is_not_columnar(end: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 8)
    monkeypatch.setattr(blocks, "_MOST_BYTES", 64)
    assert list(line_blocks(io.BytesIO(b"x" * 20 + end))) != []
    with pytest.raises(NotColumnarError, match="too long"):
        list(line_blocks(io.BytesIO(b"x" * 65 + end)))


@pytest.mark.parametrize(("known", "count"), [(None, 4), (65, 4), (64, 1)])
def test_small_file_is_one_block(
    known: int | None, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 8)
    data = b"1234567\n" * 7
    assert len(list(line_blocks(io.BytesIO(data), known=known))) == count


def frame(block: bytearray) -> Frame:
    if block == b"bad":
        raise NotColumnarError("bad")
    time.sleep(0.02 if block == b"slow" else 0)
    return Frame(pa.RecordBatch.from_pydict({"b": [bytes(block)]}))


def values(frames: Iterator[AnyFrame]) -> list[bytes]:
    return [one.values("b")[0] for one in frames]


def test_frames_are_in_the_order_of_their_blocks() -> None:
    names = [b"slow", b"1", b"slow", b"2", b"3"] * 3
    assert values(parse_blocks(iter(map(bytearray, names)), frame)) == names
    assert values(parse_blocks(iter([]), frame)) == []


@pytest.mark.parametrize(("cores", "ahead"), [(1, 1), (3, 3), (100, 8), (None, 1)])
def test_no_more_blocks_are_read_ahead_than_there_are_cores(
    monkeypatch: pytest.MonkeyPatch, cores: int | None, ahead: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    taken: list[int] = []

    def blocks_taken() -> Iterator[bytearray]:
        for number in range(20):
            taken.append(number)
            yield bytearray(b"x")

    frames = parse_blocks(blocks_taken(), frame)
    next(frames)
    assert len(taken) == ahead + 1
    assert len(list(frames)) == 19


def test_single_block_is_read_ahead_once_one_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    taken: list[int] = []

    def blocks_taken() -> Iterator[bytearray]:
        for number in range(20):
            taken.append(number)
            yield bytearray(b"%d" % number)

    is_enough: list[bool] = []
    frames = parse_blocks(blocks_taken(), frame, is_one_enough=lambda: bool(is_enough))
    assert (values(islice(frames, 2)), len(taken)) == ([b"0", b"1"], 5)
    is_enough.append(True)
    assert (values(islice(frames, 3)), len(taken)) == ([b"2", b"3", b"4"], 6)
    assert len(list(frames)) == 15


def test_frames_before_an_invalid_block_are_yielded() -> None:
    frames = parse_blocks(iter(map(bytearray, [b"1", b"2", b"bad", b"3"])), frame)
    assert values(islice(frames, 2)) == [b"1", b"2"]
    with pytest.raises(NotColumnarError, match="bad"):
        next(frames)


def test_single_block_is_parsed_without_a_thread() -> None:
    def parse(block: bytearray) -> Frame:
        threads.append(threading.current_thread())
        return frame(block)

    threads: list[threading.Thread] = []
    assert values(parse_blocks(iter([bytearray(b"1")]), parse)) == [b"1"]
    assert threads == [threading.current_thread()]
    assert values(parse_blocks(map(bytearray, [b"1", b"2"]), parse)) == [b"1", b"2"]
    assert threading.current_thread() not in threads[1:]
