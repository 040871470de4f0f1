"""Lines of objects are decoded to the values of the wanted keys."""

from __future__ import annotations

import json
from typing import Any

import pytest

from registry.decode.frame import MISSING, NotColumnarError
from registry.decode.json_values import ValueDecoder

BLOCK = bytearray(b'{"a": 1.0, "b": {"c": [1]}}\n{"b": null, "a.b": "x", "d": 1e5}\n')


def test_wanted_keys_and_the_heads_of_paths_are_decoded() -> None:
    frame = ValueDecoder(frozenset({"a.b.c", "b", "none"})).decode(BLOCK, 2)
    assert frame.names == ["a", "a.b", "b"]
    assert repr(frame.values("a")) == f"[1.0, {MISSING}]"
    assert frame.values("a.b") == [MISSING, "x"]
    assert frame.values("b") == [{"c": [1]}, None]


@pytest.mark.parametrize("key", ['"no"', "a\\b", "a\n", "\0", "\x7f", "é", ""])
def test_any_text_may_be_a_key(key: str) -> None:
    lines = [{"other": 0, key: [1]}, {"other": 0}]
    block = bytearray("".join(f"{json.dumps(line)}\n" for line in lines).encode())
    frame = ValueDecoder(frozenset({key})).decode(block, 2)
    assert (frame.names, frame.values(key)) == ([key], [[1], MISSING])


def test_without_wanted_keys_all_are_decoded_in_order() -> None:
    frame = ValueDecoder(None).decode(BLOCK, 2)
    assert frame.records() == [json.loads(line) for line in BLOCK.splitlines()]
    assert frame.names == ["a", "b", "a.b", "d"]


@pytest.mark.parametrize(
    ("line", "count"),
    [(b'{"a": 1', 1), (b'{"a": 1e999}', 1), (b'{"z": "\\ud800"}', 1), (b"[1]", 1), (b"{}{}", 1)],
)
@pytest.mark.parametrize("wanted", [None, frozenset({"a"})])
def test_what_has_no_exact_meaning_is_not_columnar(line: bytes, count: int, wanted: Any) -> None:
    with pytest.raises(NotColumnarError):
        ValueDecoder(wanted).decode(bytearray(line), count)
