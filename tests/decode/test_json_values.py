"""Lines of objects are decoded to the values of the wanted keys."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from registry.decode.exact_json import MAX_DEPTH, parse_exact
from registry.decode.frame import MISSING, NotColumnarError
from registry.decode.json_values import ValueDecoder, decode_few

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


_TEXTS = st.text(st.sampled_from('a:"\\ {[\u00e9'), max_size=4)
_SCALARS = st.one_of(st.none(), st.integers(-9, 9), st.floats(-1e9, 1e9), _TEXTS)
_OBJECTS = st.dictionaries(_TEXTS, _SCALARS, max_size=3)
_VALUES = st.one_of(_SCALARS, _OBJECTS, st.lists(st.one_of(_SCALARS, _OBJECTS), max_size=2))
_RECORDS = st.dictionaries(_TEXTS, _VALUES, max_size=4)
_INEXACT = [
    b'{"a": 1, "a": 1}',
    b'{"a": 1, "\\u0061": "\\u0022:"}',
    b'{"a": {"b": 1, "c": [{"d\\\\": 1, "d\\\\": 1}]}}',
    b'{"a": {"b": "\\":", "b" : 2}}',
    b'{"a": NaN}',
    b'{"z": "\xff"}',
    b'{"z": "\\ud800"}',
    b'{"z": 1e999}',
    b'{"z": %b}' % (b"1" * 5000),
    b'{"z": %b1%b}' % (b"[" * MAX_DEPTH, b"]" * MAX_DEPTH),
    b'{"z": %b1%b}' % (b'{"k": ' * MAX_DEPTH, b"}" * MAX_DEPTH),
    b"{} {}",
    b"[1]",
    b"",
    b'{"a": 1,',
]


@given(st.lists(_RECORDS, min_size=1, max_size=4), st.booleans(), st.booleans())
def test_few_lines_have_the_values_of_their_records(
    records: list[Any], is_ascii: bool, is_compact: bool
) -> None:
    separators = (",", ":") if is_compact else (", ", ": ")
    lines = [
        json.dumps(one, ensure_ascii=is_ascii, separators=separators).encode() for one in records
    ]
    try:
        frame = decode_few(b"\n".join(lines), None)
    except NotColumnarError:  # for a text that looks like a key
        reject()
    assert repr(frame.records()) == repr([parse_exact(line.decode()) for line in lines])
    wanted = frozenset({"a", "a.a", '"'})
    some = decode_few(b"\n".join([*lines, b""]), wanted)
    assert some.count == len(records)
    for key in wanted:
        assert repr(some.values(key)) == repr([one.get(key, MISSING) for one in records])


@given(st.lists(st.dictionaries(st.text("ab\u00e9", max_size=2), st.text("a\u00e9")), min_size=1))
def test_few_lines_without_odd_texts_are_columnar(records: list[Any]) -> None:
    block = "".join(f"{json.dumps(one)}\n" for one in records).encode()
    assert decode_few(block, None).records() == records


@pytest.mark.parametrize("line", _INEXACT, ids=lambda line: repr(line[:30]))
@pytest.mark.parametrize("lines", [b"", b'{"a": 1}\n', b'{"a": [[], {}]}\n' * 400])
@pytest.mark.parametrize("wanted", [None, frozenset({"a"})])
def test_few_lines_without_an_exact_meaning_are_not_columnar(
    line: bytes, lines: bytes, wanted: Any
) -> None:
    with pytest.raises(NotColumnarError):
        decode_few(b"%b%b\n%b" % (lines, line, lines), wanted)


@pytest.mark.parametrize("line", [b'{"z": %b1%b}', b'{"z": %b{"a": 1}%b}'])
def test_few_lines_may_be_nested_as_deep_as_others(line: bytes) -> None:
    levels = MAX_DEPTH - (2 if b"a" in line else 1)
    block = line % (b"[" * levels, b"]" * levels) + b'\n{"z": []}\n'
    assert decode_few(block, frozenset({"z"})).values("z")[1] == []
