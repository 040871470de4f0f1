"""No rows, a page of HTML in place of data, and a different number of rows are errors; nothing is cached."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa

from tests.conftest import Https
from tests.faults.process import registry, write_catalog
from tests.servers.hub import HubEmulator, parquet_repo

HTML = b"<!DOCTYPE html>\n<html><head><title>Log in</title></head>\n<body>Please, log in</body></html>\n"
ROWS = b'{"input": "1", "target": "2"}\n' * 3
BODIES = {
    "nothing.csv": (b"", "the file has no header row"),
    "header.csv": (b"input,target\n", "no samples come out of the source"),
    "page.csv": (HTML, "this is an HTML page, not data"),
    "nothing.jsonl": (b"", "no samples come out of the source"),
    "page.jsonl": (HTML, "this is an HTML page, not data"),
    "nothing.json": (b"[]", "no samples come out of the source"),
    "page.json": (HTML, "this is an HTML page, not data"),
    "page.parquet": (HTML, "not a Parquet file, or a damaged one"),
    "packed.csv.gz": (gzip.compress(HTML), "this is an HTML page, not data"),
    "text.json": (b'"one"', ":1: must be an array of objects, or one object, is 'one'"),
    "late.jsonl": (
        ROWS + b'{"input": "4"}\n',
        "record 4, field target: no column 'target' (columns: input), at ",
    ),
    "fewer.jsonl": (ROWS, "expect.samples is 4, the source gives 3"),
}
TYPES = {"csv": "csv", "jsonl": "json", "json": "json", "parquet": "parquet"}
MORE = {
    "fewer.jsonl": ", expect: {samples: 4}",
    "late.jsonl": ", fields: {input: input, target: {from: target, do: [strip]}}",
}


def test_each_is_an_error(tmp_path: Path, https: Https, hub: HubEmulator) -> None:
    datasets = ""
    for name, (body, _) in BODIES.items():
        url = https.put(f"/{name}", body, etag="1")
        source = f"{{type: {TYPES[name.split('.')[1]]}, path: '{url}'}}"
        datasets += f"  {name.replace('.', '-')}: {{source: {source}{MORE.get(name, '')}}}\n"
    schema = pa.schema([("input", pa.string()), ("target", pa.string())])
    files = parquet_repo({"default": {"test": []}}, schemas={"default": schema})
    hub.commit("org/empty", files)
    datasets += "  hub: {source: {type: hf, path: org/empty, split: test}}\n"
    catalog = write_catalog(tmp_path, datasets)
    ended = registry(catalog, "sync")
    assert ended.code == 1
    errors = {line.split(": ")[1]: line for line in ended.err.splitlines() if line[:6] == "error:"}
    for name, (_, message) in BODIES.items():
        assert message in errors[name.replace(".", "-")]
    assert "org/empty: " in errors["hub"]
    assert len(errors) == len(BODIES) + 1
    # That of `fewer` may be right: its number is what the manifest expects of it.
    assert len(list(tmp_path.glob("cache/v*/samples/*"))) <= 1
