"""Lines of JSON give the same as `json.loads`, whichever parser reads them, or an error."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.base.locations import Location
from registry.decode import json_records as module
from registry.decode.json_records import read_json
from registry.decode.stream import SourceBytes
from registry.errors import DecodeError
from registry.manifest.source_models import JsonSource
from tests.decode.exactly import loads_exactly
from tests.roads.outcome import frozen

SOURCE = JsonSource(path=("d.jsonl",))


def read(data: bytes, *, strict: bool = True) -> list[dict[str, Any]]:
    file = SourceBytes(Location("d.jsonl"), lambda: nullcontext(io.BytesIO(data)))
    return list(read_json(file, SOURCE, strict=strict))


def plainly(data: bytes, *, strict: bool) -> list[dict[str, Any]]:
    """Read the lines by the json module alone; a ValueError if they are not objects."""
    lines = [line for line in io.TextIOWrapper(io.BytesIO(data), "utf-8-sig") if not line.isspace()]
    records = [(loads_exactly if strict else json.loads)(line) for line in lines]
    if not all(isinstance(record, dict) for record in records):
        raise ValueError("no object")
    return records


def ending(parse: Callable[..., list[dict[str, Any]]], data: bytes, *, strict: bool) -> Any:
    try:
        return frozen(parse(data, strict=strict))
    except (DecodeError, ValueError, RecursionError):
        return "an error"


def assert_same(data: bytes) -> None:
    for strict in (True, False):
        assert ending(read, data, strict=strict) == ending(plainly, data, strict=strict)


_numbers = st.from_regex(r"-?[0-9]{1,25}(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
_values = st.recursive(
    st.one_of(
        st.text(max_size=5).map(json.dumps),
        st.text(max_size=5).map(lambda text: json.dumps(text, ensure_ascii=False)),
        st.integers().map(str),
        st.floats().map(json.dumps),
        _numbers,
        st.sampled_from(["null", "true", "-0", "-0.0", "1E400", "NaN", "-Infinity", '"\\ud800"']),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: f"[{', '.join(parts)}]"),
        st.lists(inner, max_size=3).map(lambda parts: f'{{"x": {", ".join(parts) or 1}}}'),
    ),
    max_leaves=5,
)
_keys = st.sampled_from(['"q"', '"a"', '"é"', '"\\u0061"', '""', '"\\ud800"', "q"])
_objects = st.lists(st.tuples(_keys, _values).map(": ".join), max_size=3).map(
    lambda pairs: f"{{{', '.join(pairs)}}}".encode("utf-8", "surrogatepass")
)
_pieces = st.sampled_from(
    [
        *[b"", b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xe9", b"\0", b"\x1f", b"\x7f", b"\t"],
        *[b" "],
        *["\ufeff".encode(), "\u2028".encode(), "\u3000".encode(), "é".encode(), b"\r", b"\n"],
        *[b"{", b"}", b"[", b"]", b'"', b"\\", b"\\u", b"\\udc00", b",", b":", b"1", b".", b"e"],
    ]
)


@st.composite
def _files(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(_objects, min_size=1, max_size=3))
    data = draw(st.sampled_from([b"\n", b"\n", b"\r\n", b"\r", b"\n\n"])).join(lines)
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(data)))
        data = data[:place] + draw(_pieces) + data[place + draw(st.integers(0, 2)) :]
    return data


@settings(deadline=None, max_examples=600)
@given(_files())
def test_lines_are_what_the_json_module_reads(data: bytes) -> None:
    assert_same(data)


NUMBERS = [
    *["0", "-0", "-0.0", "0e0", "0E+5", "01", "+1", ".5", "1.", "1.e5", "1e", "--1", "-", "1_0"],
    *["1E400", "-1e400", "1e-400", "5e-324", "2.2250738585072011e-308", "1e23", "0.1", "1.0"],
    *["1.7976931348623159e308", "9007199254740993", "9007199254740993.0", "1e5", "12e-1"],
    *[str(sign * 2**power + more) for sign in (1, -1) for power in (63, 64) for more in (-1, 0, 1)],
    *["1" * 18, "1" * 19, "9" * 19, "1" * 20, "9" * 20, "1" * 4300, "1" * 4301, "-" + "1" * 4301],
    *["0." + "1" * 5000, "1" * 5000 + ".5", "1" * 400 + "e-390", "0" * 30 + "1"],
    *["NaN", "Infinity", "-Infinity", "Inf", "-NaN", "nan", "True", "nul"],
]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda text: text[:25])
def test_numbers_are_what_the_json_module_reads(number: str) -> None:
    assert_same(f'{{"n": {number}}}\n{{"n": [{number}, 1]}}\n'.encode())
    assert_same(f'{{"n": {number}}}'.encode())


ROW = b'{"q": "x"}'


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r", b"\n\r", b"\r\r\n"])
@pytest.mark.parametrize("last", [b"", b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf", b"\xef\xbb\xbf" * 2])
def test_lines_end_as_in_text_files(end: bytes, last: bytes, mark: bytes) -> None:
    assert_same(mark + end.join([ROW, ROW, b" ", b"", ROW]) + last)
    assert_same(mark + end.join([ROW, b'{"q":\r1}']) + last)


@pytest.mark.parametrize(
    "data",
    [
        *[b"", b"\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b" ", b"\r", ROW],
        *["\u3000".encode(), ROW + b"\n\x1f\n" + ROW, b"1", ROW + b"\n[1]"],
    ],
)
def test_nearly_empty_files(data: bytes) -> None:
    assert_same(data)


@pytest.mark.parametrize(("behind", "lines"), [(b"\r\n", 1), (b"\r", 1), (b"\r\r\n", 2)])
def test_line_ends_that_change_late_in_the_file_are_detected(behind: bytes, lines: int) -> None:
    before = (ROW + b"\n") * (1 << 15)
    assert len(read(before + ROW + behind + ROW + b'\n{"q": "\xc3\xa9"}\n')) == (1 << 15) + 3
    with pytest.raises(DecodeError, match=f"^d.jsonl:{(1 << 15) + 1 + lines}: not JSON"):
        read(before + ROW + behind + b"x")


def test_error_of_an_undecodable_line_has_its_number() -> None:
    with pytest.raises(DecodeError, match=r"^d\.jsonl:2: byte 0xff is not utf-8 \(set"):
        read(ROW + b'\n{"q": "\xff"}\n')


@pytest.mark.parametrize(("left", "right"), [("[", "]"), ('{"a": ', "}"), ('[{"a": ', "}]")])
def test_nesting_limit_is_that_of_the_json_module(left: str, right: str) -> None:
    decoder: Any = json.JSONDecoder()

    def goes(parse: Callable[..., Any], *arguments: Any) -> bool:
        try:
            parse(*arguments)
        except RecursionError:
            return False
        return True

    texts = [left * depth + "1" + right * depth for depth in range(1, 1100)]
    assert [goes(module._decode, text) for text in texts] == [
        goes(decoder.scan_once, text, 0) for text in texts
    ]


def test_valid_lines_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "registry.decode.json_records.json.loads", lambda _: pytest.fail("read again")
    )
    records = [{"q": "é\n", "n": 2**70, "l": [None, True, -0.5]}, {}]
    data = "".join(f"{json.dumps(one, ensure_ascii=False)}\n\n" for one in records).encode()
    assert read(data) == records


def document(text: str, **options: Any) -> list[dict[str, Any]]:
    source = JsonSource(path=("d.json",), **options)
    file = SourceBytes(Location("d.json"), lambda: nullcontext(io.BytesIO(text.encode())))
    return list(read_json(file, source, strict=True))


def test_items_that_are_not_objects_get_a_column() -> None:
    text = '{"base": ["a", 1, null, [2], {"id": "b", "x": 3}]}'
    values = ["a", 1, None, [2]]
    expected = [*({"id": value} for value in values), {"id": "b", "x": 3}]
    assert document(text, records="base", item="id") == expected
    with pytest.raises(DecodeError, match="item 1 of the array must be an object, is 'a'"):
        document(text, records="base")


def test_lines_that_are_not_objects_get_a_column() -> None:
    file = SourceBytes(
        Location("d.jsonl"), lambda: nullcontext(io.BytesIO(b'"a"\n{"id": 2}\n\n3\n'))
    )
    source = JsonSource(path=("d.jsonl",), item="id")
    assert list(read_json(file, source, strict=True)) == [{"id": "a"}, {"id": 2}, {"id": 3}]


def test_lines_are_read_by_a_key_whatever_the_name_of_the_file() -> None:
    text = '{"id": 1}\n\n{"id": 2}\n'
    assert document(text, lines=True) == [{"id": 1}, {"id": 2}]
    hint = r"^d\.json:3: not JSON: Extra data at column 1 \(an object per line\? say `lines: true`"
    with pytest.raises(DecodeError, match=hint):
        document(text)


@pytest.mark.parametrize(
    ("text", "lines", "hint"),
    [
        ('[\n {"id": 1}\n]', True, "d.json:1: .* must end in .json"),
        ('[{"id": 1}]', True, "d.json:1: the line must be an object, .* must end in .json"),
        ('{\n "id": 1\n}\n{\n "id": 2\n}', False, "d.json:4: .* put them into an array"),
    ],
)
def test_lines_of_another_form_are_named(text: str, lines: bool, hint: str) -> None:
    with pytest.raises(DecodeError, match=hint):
        document(text, lines=lines)


@pytest.mark.parametrize("text", ['{"id": 1} {"id": 2}', "[]]"])
def test_only_a_second_line_looks_like_an_object_per_line(text: str) -> None:
    with pytest.raises(DecodeError, match=r"Extra data at column \d+$"):
        document(text)


def test_a_star_takes_all_values_of_an_object() -> None:
    text = '{"in": {"x": {"q": 1}, "y": {"q": 2}}}'
    assert document(text, records="in.*") == [{"q": 1}, {"q": 2}]
    assert document('{"x": {"q": 1}}', records="*") == [{"q": 1}]
    assert document('{"*": [{"q": 1}], "x": []}', records="*") == [{"q": 1}]


@pytest.mark.parametrize(
    ("text", "records", "message"),
    [
        ("[1]", "*", "no key '*': a list of 1 item is above it (`records` leads to one"),
        ('{"a": 1}', "a.b", "no key 'b' in 1"),
        ('{"data": 1}', "dota", "no key 'dota' (did you mean 'data'?)"),
        ('{"x": 1, "y": 2}', "records", "no key 'records' (keys: x, y)"),
        ('{"a": 1}', "a", "must be an array of objects, or one object, is 1"),
    ],
)
def test_records_that_are_nowhere_are_an_error(text: str, records: str, message: str) -> None:
    with pytest.raises(DecodeError, match=re.escape(message)):
        document(text, records=records)
