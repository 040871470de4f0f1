"""JSON Lines and JSON documents are read in batches of values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from registry.decode import json_batches
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
        (b'{"data": [1]}', "no such key"),
        (b"[1]", "a document of other values than objects"),
        (b"<html>", "an HTML page"),
        (b"[", "a value without an exact meaning"),
    ],
)
def test_other_documents_are_read_by_record(tmp_path: Path, data: bytes, reason: str) -> None:
    options = {"records": "x"} if b"data" in data else {}
    assert read(tmp_path, data, "d.json", None, **options) == ([], reason)
