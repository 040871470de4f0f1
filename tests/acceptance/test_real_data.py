"""Published files unchanged, compressed and re-encoded, and invalid files."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from registry import (
    DecodeError,
    ManifestError,
    MappingError,
    RegistryError,
    SourceError,
    get_dataset,
)

if TYPE_CHECKING:
    from tests.conftest import OneDataset

REPOSITORY = Path(__file__).parents[2]
MARK = b"\xef\xbb\xbf"


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def with_crlf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


# File suffix, and the conversion of the published bytes; the samples are the same.
FORMS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "as published": ("", bytes),
    "CRLF": ("", with_crlf),
    "byte-order mark": ("", lambda data: MARK + data),
    "no last line break": ("", lambda data: data.rstrip(b"\r\n")),
    "blank lines at the end": ("", lambda data: data + b"\n\n"),
    "gz": (".gz", gzip.compress),
    "bz2 of CRLF": (".bz2", lambda data: bz2.compress(with_crlf(data))),
    "xz": (".xz", lambda data: lzma.compress(data, preset=0)),
    "zst": (".zst", zstd),
}


@pytest.mark.parametrize("form", FORMS)
def test_gsm8k_loads_from_every_file_format(shared_data: Path, tmp_path: Path, form: str) -> None:
    suffix, change = FORMS[form]
    published = (shared_data / "gsm8k-test.jsonl").read_bytes()
    file = tmp_path / f"gsm8k.jsonl{suffix}"
    file.write_bytes(change(published))
    records = [json.loads(line) for line in published.splitlines()]
    dataset = get_dataset("gsm8k", root=REPOSITORY, source=str(file))
    assert len(dataset) == 1319
    assert (dataset[0].target, dataset[-1].target) == ("18", "14")
    for record, sample in zip(records, dataset, strict=True):
        reasoning, _, number = record["answer"].rpartition("####")
        digest = hashlib.md5(record["question"].encode()).hexdigest()[:8]
        assert sample.input == record["question"]
        assert sample.target == number.strip()
        assert sample.id == f"gsm8k_{digest}"
        assert sample.metadata == {"reasoning": reasoning.strip()}


def test_humaneval_loads_as_published(shared_data: Path) -> None:
    file = shared_data / "HumanEval.jsonl.gz"
    records = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    dataset = get_dataset("humaneval", root=REPOSITORY, source=str(file))
    assert len(dataset) == 164
    assert (dataset[0].id, dataset[163].id) == ("HumanEval/0", "HumanEval/163")
    for record, sample in zip(records, dataset, strict=True):
        assert sample.input == record["prompt"]
        assert sample.target == record["canonical_solution"]
        assert sample.metadata == {key: record[key] for key in ("prompt", "test", "entry_point")}


JSON_LINES = b'{"q": "one", "a": "1"}\n{"q": "two", "a": "2"}\n'
CSV_ROWS = b"q,a\none,1\ntwo,2\n"
HTML = b"<!DOCTYPE html>\n<html><body>Log in, please.</body></html>\n"
LONG = b'{"q": "' + bytes(str(list(range(9999))), "ascii") + b'"}\n'
CUT = ": the compressed data is damaged or truncated"

# File, its bytes, and what is said after its name.
DAMAGED: dict[str, tuple[str, bytes, str]] = {
    "short row": ("csv", b"q,a\none,1\ntwo\n", ":3: line 3 has 1 field, .* 2. No value for: a$"),
    "long row": ("csv", CSV_ROWS + b"x,2,3\n", r":4: .* 3 fields, .* Unexpected values: \['3'\]$"),
    "long row behind one of several lines": (
        "csv",
        b'q,a\n"one\nmore",1\ntwo,2,3\n',
        ":4: line 4 has 3 fields",
    ),
    "open quote": ("csv", b'q,a\none,"1\n', ":2: a quote .* closed$"),
    "column twice": ("csv", b"q,a,a\none,1,2\n", ":1: .*'a'"),
    "no header": ("csv", b"", ": the file has no header row$"),
    "no rows": ("csv", b"q,a\n", ": no samples come out"),
    "latin-1 row": (
        "csv",
        "q,a\none,1\ncafé,2\n".encode("latin-1"),
        r":3: byte 0xe9 is not utf-8 \(set `encoding`, such as latin-1\)$",
    ),
    "line of no JSON": ("jsonl", JSON_LINES + b"{'q': 1}\n", ":3: not JSON: .* at column 2$"),
    "cut line": ("jsonl", JSON_LINES[:-9], ":2: not JSON: "),
    "line of no object": ("jsonl", JSON_LINES + b"[1]\n", r":3: .* must be an object, is \[1\]$"),
    "deep line": (
        "jsonl",
        JSON_LINES + b"[" * 100_000 + b"\n",
        ":3: the JSON is nested too deeply$",
    ),
    "long number": ("jsonl", JSON_LINES + b'{"q": ' + b"1" * 5000 + b"}\n", ":3: not JSON: "),
    "latin-1 line": ("jsonl", JSON_LINES + b'{"q": "\xe9"}\n', ":3: byte 0xe9 is not utf-8"),
    "half a surrogate pair": (
        "jsonl",
        JSON_LINES + b'{"q": "\\ud800", "a": ""}\n',
        ":3: q: half of a surrogate pair at column 7",
    ),
    "array of no objects": ("json", b'[{"q": "1"}, 2]', ": item 2 .* must be an object, is 2$"),
    "broken array": ("json", b"[\n" + JSON_LINES + b"]", ":3: not JSON: "),
    "text in place of an array": ("json", b'"one"', ":1: must be an array of objects, .*'one'$"),
    "no Parquet": ("parquet", CSV_ROWS, ": not a Parquet file"),
    "web page for CSV": ("csv", HTML, ": this is an HTML page"),
    "web page for JSON Lines": ("jsonl", HTML, ": this is an HTML page"),
    "web page for JSON": ("json", HTML, ": this is an HTML page"),
    "packed web page": ("csv.gz", gzip.compress(HTML), ": this is an HTML page"),
    "cut gz": ("csv.gz", gzip.compress(LONG)[:-20], CUT),
    "cut bz2": ("jsonl.bz2", bz2.compress(LONG)[:-20], CUT),
    "cut xz": ("jsonl.xz", lzma.compress(LONG)[:-20], CUT),
    "cut zst": ("jsonl.zst", zstd(LONG)[:-20], CUT),
    **{f"no {suffix}": (f"csv.{suffix}", CSV_ROWS, CUT) for suffix in ("gz", "xz", "zst")},
}
MAPPED = {"from": "a", "do": ["strip"]}
# File, its bytes, further keys of the dataset, error class and error text.
BAD: dict[str, tuple[str, bytes, dict[str, Any], type[RegistryError], str]] = {
    **{
        fault: (f"data.{suffix}", content, {}, DecodeError, rf"data\.{re.escape(suffix)}{message}")
        for fault, (suffix, content, message) in DAMAGED.items()
    },
    "unknown encoding": (
        "data.csv",
        CSV_ROWS,
        {"source": {"encoding": "utf-9"}},
        DecodeError,
        r"data\.csv: unknown text encoding 'utf-9'$",
    ),
    "no column for the input": (
        "data.csv",
        CSV_ROWS,
        {"fields": {"input": "Q"}},
        ManifestError,
        r"^\S+data\.yaml:7:7 \$\.datasets\.data\.fields\.input: no column 'Q' \(did you mean 'q'",
    ),
    "no column for the target": (
        "data.jsonl",
        JSON_LINES + b'{"q": "three"}\n',
        {"fields": {"input": "q", "target": MAPPED}},
        MappingError,
        r"^data: record 3, field target: no column 'a' \(columns: q\), at \S+data\.yaml:8:7$",
    ),
    "empty input": (
        "data.jsonl",
        JSON_LINES + b'{"q": "", "a": "3"}\n',
        {},
        MappingError,
        "^data: record 3, field input: No input in dataset, value: '', at .+:7:7$",
    ),
    "same id twice": (
        "data.jsonl",
        JSON_LINES + JSON_LINES,
        {"fields": {"input": "q", "id": "a"}},
        MappingError,
        "^data: record 3, field id: record 1 has the same id",
    ),
    "folder": ("folder.csv/data", b"", {}, SourceError, r"folder\.csv: is a folder, not a file"),
    "no file": ("gone/data.csv", b"", {}, SourceError, r"data\.csv: no such file \(a relative"),
}


@pytest.mark.parametrize("fault", BAD)
def test_invalid_file_is_an_error_with_its_position_and_leaves_no_cache_entry(
    one_dataset: OneDataset, cache_dir: Path, fault: str
) -> None:
    name, content, keys, error, message = BAD[fault]
    path = name.removesuffix("/data").removeprefix("gone/")
    source = {"type": path.split(".")[1].removesuffix("l"), "path": path, **keys.get("source", {})}
    root = one_dataset(source, **{key: item for key, item in keys.items() if key != "source"})
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_bytes(content)
    with pytest.raises(error, match=message) as caught:
        get_dataset("data", root=root)
    assert type(caught.value) is error
    top = cache_dir / "v2"
    assert [path for kind in ("samples", "tmp") for path in (top / kind).glob("*")] == []
