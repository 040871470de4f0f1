"""Which JSON Lines are read by column, and which record ends reading by column."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from registry.decode import chunks as blocks
from registry.decode import json_tables
from registry.decode.frame import Frame, ValueFrame
from registry.manifest.arguments import source_from_arguments
from registry.manifest.source_models import JsonSource
from tests.decode.frames import Q, frames_of, read

LINES = b'{"q": "x", "a": 1}\n{"q": "y"}\n'
XY = [{"q": "x"}, {"q": "y"}]


@pytest.fixture(autouse=True)
def _no_few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_tables, "FEW_RECORDS", -1)  # read as a large file is


@pytest.mark.parametrize(("more", "kind"), [(0, ValueFrame), (1, Frame)])
def test_few_lines_are_read_as_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: int, kind: type
) -> None:
    monkeypatch.setattr(json_tables, "FEW_RECORDS", 9)
    path = tmp_path / "d.jsonl"
    path.write_bytes(b'{"q": "x"}\n' * (9 + more))
    source = source_from_arguments(JsonSource, {"path": [str(path)]})
    ((frame,), why) = frames_of(path, source)
    assert (type(frame), frame.count, why) == (kind, 9 + more, "")


@pytest.mark.parametrize(
    "data",
    [
        LINES,
        LINES.removesuffix(b"\n"),
        LINES.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + LINES,
        LINES + b"\n\n",
        LINES.replace(b'"q"', b'"\\u0071"'),
        LINES.replace(b'"a": 1', b'"a": "NaN", "b": [" -Infinity"], "c": "Information"'),
        LINES.replace(b'"a": 1', b'"a": {"q": 1, "b": {"a": 2}}, "b" : "::"'),
        LINES.replace(b'"a": 1', b'"a": [' + b'{"b": ' * 254 + b"1" + b"}" * 254 + b"]"),
        LINES.replace(b'"a": 1', b'"\\u0061": 1, "a\\"": 1, "": {"": ":", "c\\\\": ":"}'),
    ],
)
def test_lines_of_objects_are_read_by_column(tmp_path: Path, data: bytes) -> None:
    assert read(tmp_path, data, "d.jsonl") == (XY, "")


DIGITS = "an integer with more digits than Python parses, or a large float"
INEXACT = "a value without an exact meaning"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not JSON objects"),
        (b"\n\n", "not JSON objects"),
        (b"[1]\n", "not JSON objects"),
        (b'{"q": \n', "invalid JSON"),
        (LINES.replace(b"\n", b"\r"), "invalid JSON"),
        (b'{"q": "x"} {"q": "y"}\n', "invalid JSON"),
        (b'\n{"q": "x"}\n', "a line that does not start like an object"),
        (b' {"q": "x"}\n', "a line that does not start like an object"),
        (b'{"q": "x"} \n', "a line that does not end like an object"),
        (b'{"q": "x", "a": "\xff"}\n', "invalid JSON"),
        (b'{"q": 0.5}\n{"q": NaN}\n', "invalid JSON"),
        (b'{"q": "\\ud800"}\n', "invalid JSON"),
        (b'{"q": "x", "q": "y"}\n', INEXACT),
        (b'{"q": "x", "a": NaN}\n', "invalid JSON"),
        (b'{"q": "x", "a": [1, -Infinity]}\n', "invalid JSON"),
        (b'{"q": "x", "a": 1, "a": 2}\n', INEXACT),
        (b'{"q": "x", "a": 1, "\\u0061": 2}\n', INEXACT),
        (b'{"q": "x", "a": {"b":1, "b" \t: 2}}\n', INEXACT),
        (b'{"q": "x", "a": [' + b'{"b": ' * 255 + b"1" + b"}" * 255 + b"]}\n", INEXACT),
        (
            b'{"q": "x", "a": ' + b"1" * 641 + b"}\n",
            DIGITS,
        ),
    ],
)
def test_json_that_is_read_line_by_line(tmp_path: Path, data: bytes, why: str) -> None:
    assert read(tmp_path, data, "d.jsonl") == ([], why)


PROBED = b'{"q": "x"}\n' * 64


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"q": "x"} {"q": "y"}', "not one object per line"),
        (b'{"q": "x"} {}', "not one object per line"),
        (b'{"q": "x", "a": 1e999}', INEXACT),
        (b'{"q": "x", "a": [-1E+0400]}', INEXACT),
        (b'{"q": "x", "a": ' + b"1" * 310 + b".0}", DIGITS),
        (b'{"q": "x", "a": Inf}', INEXACT),
        (b'{"q": "x", "a": -NaN}', INEXACT),
        (b'{"q": "x", "a":NaN}', INEXACT),
        (b'{"q": "x", "a": {"q": "NaN"}, "a": [NaN]}', INEXACT),
        (b'{"q": "x", "a": 1, "a": 2}', INEXACT),
        (b'{"q": "x", "q": "x"}', INEXACT),
        (b'{"q": "x", "q" : "x"}', INEXACT),
        (b'{"q": "x", "\\u0071": "x"}', INEXACT),
        (b'{"q": "x", "a": "\xff"}', "invalid UTF-8"),
        (b'{"q": "x"}\n\n{"q": "x"}', "a line that does not start like an object"),
        (b"{'q': 1}", "invalid JSON"),
        (b'{"q": "x"\n, "a": 1}', "a line that does not start like an object"),
    ],
)
def test_unusual_lines_after_the_first_are_detected(tmp_path: Path, line: bytes, why: str) -> None:
    assert read(tmp_path, PROBED + line + b"\n", "d.jsonl") == ([], why)


def test_key_that_the_first_lines_lack_may_appear_later(tmp_path: Path) -> None:
    wanted = frozenset({"q", "late"})
    records, why = read(tmp_path, PROBED + b'{"q": "x", "late": null}\n', "d.jsonl", wanted)
    assert (len(records), records[-1], why) == (65, {"late": None, "q": "x"}, "")
    records, why = read(tmp_path, PROBED + b'{"q": "x", "late": "y"}\n', "d.jsonl", wanted)
    assert (records[0], records[-1], why) == ({"q": "x"}, {"late": "y", "q": "x"}, "")


def test_lines_are_read_by_column_whatever_the_name_of_the_file(tmp_path: Path) -> None:
    assert read(tmp_path, LINES, "d.json", Q, lines=True) == read(tmp_path, LINES, "d.jsonl", Q)


@pytest.mark.parametrize(
    ("name", "options", "wanted"),
    [
        ("d.json", {}, Q),
        ("d.jsonl", {"encoding": "latin-1"}, Q),
    ],
)
def test_other_forms_of_json_are_read_record_by_record(
    tmp_path: Path, name: str, options: dict[str, str], wanted: frozenset[str] | None
) -> None:
    records, why = read(tmp_path, LINES, name, wanted, **options)
    assert records == []
    assert why == "not JSON Lines in UTF-8"


@pytest.mark.parametrize("wanted", [None, Q, frozenset({"q.x"}), frozenset({"q", "a.b.c", "a.b"})])
@pytest.mark.parametrize(
    "records",
    [
        [{"q": "x"}, {"q": 1}],
        [{"q": {"x": 1}}, {"q": None}, {}, {"q.x": "y", "q": {"x": "z"}}],
        [{"q": 0.5}, {"q": 1.0}, {"q": 1}],
        [{"q": 9223372036854775808, "a": {"b": {"c": [1, {}]}}, "é\n": ["x", None, {"y": []}]}],
        [{"q": -0.0, "a.b": 1e16, "a": [True, "\U0001f600"]}] * 70 + [{"a.b": {"c": 1e-7}}],
    ],
    ids=lambda value: str(value)[:30],
)
def test_columns_of_any_values_are_read(
    tmp_path: Path, records: list[dict[str, Any]], wanted: frozenset[str] | None
) -> None:
    data = "".join(f"{json.dumps(record)}\n" for record in records).encode()
    found, why = read(tmp_path, data, "d.jsonl", wanted)
    keys = {one[:end] for one in wanted or () for end in range(len(one) + 1)}
    expected = [
        {key: value for key, value in record.items() if wanted is None or key in keys}
        for record in records
    ]
    assert why == ""
    # A null of an Arrow column may be a key that the record lacks.
    present = [{key: one[key] for key in one if one[key] is not None} for one in found]
    wanted_values = [{key: one[key] for key in one if one[key] is not None} for one in expected]
    assert list(map(sorted, map(dict.items, map(_typed, present)))) == list(
        map(sorted, map(dict.items, map(_typed, wanted_values)))
    )


def _typed(record: dict[str, Any]) -> dict[str, str]:
    return {key: repr(value) for key, value in record.items()}


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)],
)
@pytest.mark.parametrize("block", [1, 7, 11, 12, 25, 1 << 20])
def test_blocks_of_any_size_give_the_same_records_in_order(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    suffix: str,
    pack: Callable[[bytes], bytes],
    block: int,
) -> None:
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", block)
    monkeypatch.setattr(blocks, "_SMALL_BLOCKS", 1)
    wanted = [{"q": str(number)} for number in range(50)]
    data = pack("\n".join(map(json.dumps, wanted)).encode())
    assert read(tmp_path, data, f"d.jsonl{suffix}") == (wanted, "")


def test_records_before_an_invalid_line_are_read_by_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 11)
    monkeypatch.setattr(blocks, "_SMALL_BLOCKS", 1)
    data = b'{"q": "x"}\n' * 5 + b'{"q": NaN }\n' + b'{"q": "x"}\n'
    assert read(tmp_path, data, "d.jsonl") == ([{"q": "x"}] * 5, INEXACT)


def test_only_the_first_lines_are_parsed_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = []
    decode = msgspec.json.decode

    def noted(line: bytes) -> Any:
        parsed.append(line)
        return decode(line)

    monkeypatch.setattr(json_tables, "_decode", noted)
    records, why = read(tmp_path, b'{"q": "x"}\n' * 1000, "d.jsonl")
    assert (len(records), why) == (1000, "")
    assert len(parsed) == json_tables._PROBE_LINES
