"""JSON Lines and JSON documents are read in batches of values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from registry.decode import json_batches
from registry.decode.frame import MISSING, NotColumnarError
from registry.decode.json_batches import decode_lines
from tests.decode.frames import read

RECORDS = [{"q": f"q{number}", "a": {"b": number}} for number in range(9)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_read_in_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(json_batches, "_BATCH_BYTES", 64)
    data = b"\xef\xbb\xbf" + "".join(json.dumps(one) + end for one in RECORDS).encode()
    assert read(tmp_path, data + b"\n\n", "d.jsonl", None) == (RECORDS, "")


@pytest.mark.parametrize(
    ("document", "options"),
    [
        (RECORDS, {}),
        ({"data": {"x": RECORDS}}, {"records": "data.x"}),
        ({"data.x": RECORDS}, {"records": "data.x"}),
        ({str(number): one for number, one in enumerate(RECORDS)}, {"records": "*"}),
        # Each record stands elsewhere, too, and so does the list.
        ({**{f"{one}": one for one in range(9)}, "*": RECORDS}, {"records": "*"}),
        ({"a": [RECORDS, json.dumps(RECORDS)], "b": {"c": RECORDS}}, {"records": "b.c"}),
        (
            {"q": {'": ,': '": :\\" :'}, "x": {json.dumps(one): one for one in RECORDS}},
            {"records": "x.*"},
        ),
    ],
)
def test_documents_are_read_in_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, document: Any, options: dict[str, Any]
) -> None:
    monkeypatch.setattr(json_batches, "_BATCH_RECORDS", 4)
    data = json.dumps(document, indent=1).encode()
    assert read(tmp_path, data, "d.json", None, **options) == (RECORDS, "")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'[{"q": 1, "q": 2}]', "a key that is repeated"),
        (b'[{"q": 1,\n "q": ": "}]', "a key that is repeated"),
        (b'{"data": [1]}', "no such key"),
        (b'{"data": 1, "x": [], "x": [{"q": 1}]}', "a key that is repeated"),
        (b'{"data": 1, "x": [{"q": 1}], "x": []}', "a key that is repeated"),
        (b'{"data": {"y": 1, "y": 2}, "x": [{"q": 1}]}', "a key that is repeated"),
        (b'{"data": NaN, "x": [{"q": 1}]}', "a value without an exact meaning"),
        (b'[{"q": 1}, 2]', "a document of other values than objects"),
        (b"[1]", "a document of other values than objects"),
        (b'[{"data": 1}]', "no object at a key"),
        (b"<html>", "a page or pointer in place of data"),
        (b"[", "a value without an exact meaning"),
    ],
)
def test_other_documents_are_read_by_record(tmp_path: Path, data: bytes, reason: str) -> None:
    options = {"records": "x"} if b"data" in data else {}
    assert read(tmp_path, data, "d.json", None, **options) == ([], reason)


@pytest.mark.parametrize(
    ("data", "options", "found"),
    [
        (b'{"q": 1}', {}, ([{"q": 1}], "")),
        (b'{"x": {"q": 1}}', {"records": "x"}, ([{"q": 1}], "")),
        (b'\xef\xbb\xbf[{"q": 1}]', {}, ([{"q": 1}], "")),
        (b'[{"q": 1}]', {"encoding": "latin-1"}, ([], "not UTF-8")),
        (b'[{"q": 1}]', {"item": "q"}, ([], "items that may be no objects")),
    ],
)
def test_forms_of_small_documents(
    tmp_path: Path, data: bytes, options: dict[str, Any], found: Any
) -> None:
    assert read(tmp_path, data, "d.json", None, **options) == found


def lines_of(*records: Any) -> bytes:
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


@pytest.mark.parametrize(
    "records",
    [
        [{"a": 1, "b": "x"}, {"b": "y", "a": 2}],
        [{"a": 1}, {"b": {"c": [1, None]}}],
        [{"a\\": 1}, {"a\\": 2}],
        [{"a": ': " :', "b": {"c:": '"'}}] * 2,
        [{}, {}],
    ],
)
def test_all_columns_are_those_of_the_records(records: list[dict[str, Any]]) -> None:
    frame = decode_lines(lines_of(*records), None)
    assert frame.records() == records
    for name in frame.names:
        assert frame.values(name) == [record.get(name, MISSING) for record in records]


def test_only_the_columns_that_a_path_may_start_in_are_kept() -> None:
    frame = decode_lines(lines_of({"a": {"b": 1}, "a.b": 2, "c": 3}), frozenset({"a.b"}))
    assert sorted(frame.names) == ["a", "a.b"]
    frame = decode_lines(lines_of({"a": 1}, {"b": 2}), frozenset({"a", "c"}))
    assert (frame.names, frame.values("a")) == (["a"], [1, MISSING])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'{"a": 1, "a": 1}\n', "a key that is repeated"),
        (b'{"a": 1, "\\u0061": 1}\n', "a key that is repeated"),
        (b'{"a": {"b": 1, "b": 2}}\n{"a": ": "}\n', "a key that is repeated"),
        (b'{"a": NaN}\n', "a value without an exact meaning"),
        (b'{"a": 1e400}\n', "a value without an exact meaning"),
        (b'{"a": ' + b"[" * 300 + b"]" * 300 + b"}\n", "a value without an exact meaning"),
        (b"[1]\n", "a line that does not start like an object"),
        (b'{"a": [\n]}\n', "a line that does not"),
    ],
)
def test_what_has_no_exact_meaning_is_refused(text: bytes, reason: str) -> None:
    with pytest.raises(NotColumnarError, match=reason):
        decode_lines(text, None)


def test_a_repeated_key_of_records_under_names_is_seen(tmp_path: Path) -> None:
    one, two = b'{"q": 1}', b'{"q": 2}'
    for values in ((one, two, one), (one, one, two), (two, one, one), (one, one, one)):
        data = b'{"a": %b, "b": %b, "a": %b}' % values
        found = read(tmp_path, data, "d.json", None, records="*")
        assert found == ([], "a key that is repeated")


def test_what_is_refused_late_is_left_to_the_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_batches, "_BATCH_RECORDS", 2)
    for last in (b"3", b'{"q": 1, "q": 2}', b'{"q": "\xff"}'):
        data = b'[{"q": 0}, {"q": 1}, {"q": 2}, %b]' % last
        found, reason = read(tmp_path, data, "d.json", None)
        assert found == [{"q": 0}, {"q": 1}]
        assert reason
