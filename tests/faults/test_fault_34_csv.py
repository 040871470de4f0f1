"""CSV is read exactly as the csv module reads it, or refused with file and line, by column as by record."""

from __future__ import annotations

import json
from pathlib import Path

from tests.faults.process import registry, registry_each, write_catalog

LONG = "x" * 200_000
ROWS = [["x, y", "1"], ["z\u00e9", "2"]]
PLAIN = 'q,a\n"x, y",1\nz\u00e9,2\n'
EXACT = {
    "bom": (PLAIN.encode("utf-8-sig"), ROWS, ""),
    "crlf": (PLAIN.replace("\n", "\r\n").encode(), ROWS, ""),
    "cr": (PLAIN.replace("\n", "\r").encode(), ROWS, ""),
    "no-end": (PLAIN.encode().removesuffix(b"\n"), ROWS, ""),
    "latin-1": (PLAIN.encode("latin-1"), ROWS, "encoding: latin-1"),
    "utf-16": (PLAIN.encode("utf-16"), ROWS, "encoding: utf-16"),
    "nul": (b"q,a\nx\0y,1\n", [["x\0y", "1"]], ""),
    "long": (f"q,a\n{LONG},1\n".encode(), [[LONG, "1"]], ""),
    "long-quoted": (f'q,a\n"{LONG},\n""",1\n'.encode(), [[f'{LONG},\n"', "1"]], ""),
    "line-ends": (b'q,a\n"x\r\ny\nz",1\n', [["x\ny\nz", "1"]], ""),
    "typed": (b"q,a\nNA,007\nnull,1e3\n", [["NA", "007"], ["null", "1e3"]], ""),
    "space": (b"q,a\n x ,1\n   ,\n\n,\ny,2\n", [[" x ", "1"], ["y", "2"]], ""),
}
MIB = (b"x" * 200 + b",1\n") * 6_000  # more than pyarrow reads at a time
REFUSED = {
    "latin-1": (PLAIN.encode("latin-1"), 3, "byte 0xe9 is not utf-8 (set `encoding`"),
    "short": (b"q,a\nx,1\ny\n", 3, "has 1 field, the header has 2. No value for: a"),
    "wide": (b"q,a\nx,1\ny,2,3\n", 3, "has 3 fields, the header has 2. Unexpected values"),
    "header": (b"q,a,q\nx,1,y\n", 1, "duplicate column 'q' in the header"),
    "open": (b'q,a\nx,1\n"y,2\nz,3\n', 3, "a quote that opens in this row is never closed"),
    "late": (b"q,a\n" + MIB + b'"y,2\n', 6_002, "is never closed"),
    "late-wide": (b"q,a\n" + MIB + b"y\n", 6_002, "has 1 field"),
}
# `skip_rows` is read record by record.
PIPELINES = {"by-column": (b"", ""), "by-record": (b"skipped\n", "skip_rows: 1")}


def dataset(folder: Path, name: str, data: bytes, options: str) -> str:
    (folder / f"{name}.csv").write_bytes(data)
    source = ", ".join(filter(None, ["type: csv", f"path: {name}.csv", options]))
    return f"  {name}: {{source: {{{source}}}, fields: {{input: q, target: a}}}}\n"


def test_exact_results(tmp_path: Path) -> None:
    datasets = ""
    for name, (data, _, options) in EXACT.items():
        datasets += dataset(tmp_path, f"{name}-by-column", data, options)
        if name not in ("bom", "utf-16"):  # a mark is only one at the start
            more = ", ".join(filter(None, [options, "skip_rows: 1"]))
            first = b"skipped" + (b"\r" if name == "cr" else b"\n")
            datasets += dataset(tmp_path, f"{name}-by-record", first + data, more)
    write_catalog(tmp_path, datasets)
    names = [line.split(":")[0].strip() for line in datasets.splitlines()]
    ended = registry_each(tmp_path, "sync", *(f"preview {name} --json -n 9" for name in names))
    assert ended.code == 0, ended.text
    samples = [json.loads(line) for line in ended.out.splitlines() if line.startswith("{")]
    expected = [
        row
        for name in names
        for row in EXACT[name.removesuffix("-by-column").removesuffix("-by-record")][1]
    ]
    assert [[one["input"], one["target"]] for one in samples] == expected


def test_errors_have_their_line(tmp_path: Path) -> None:
    datasets = ""
    for name, (data, _, _) in REFUSED.items():
        for how, (first, options) in PIPELINES.items():
            datasets += dataset(tmp_path, f"{name}-{how}", first + data, options)
    ended = registry(write_catalog(tmp_path, datasets), "sync")
    assert ended.code == 1
    for name, (_, line, message) in REFUSED.items():
        for how, (first, _) in PIPELINES.items():
            (error,) = [
                one for one in ended.err.splitlines() if one.startswith(f"error: {name}-{how}: ")
            ]
            assert f"{name}-{how}.csv:{line + len(first.splitlines())}: " in error
            assert message in error
    assert not list(tmp_path.glob("cache/v*/samples/*"))


def test_a_delimiter_that_is_none_is_an_error_of_the_manifest(tmp_path: Path) -> None:
    datasets = "".join(
        dataset(tmp_path, f"d{number}", PLAIN.encode(), f'delimiter: "{delimiter}"')
        for number, delimiter in enumerate(["\\n", "\\r", '\\"'])
    )
    ended = registry(write_catalog(tmp_path, datasets), "sync")
    assert ended.code == 1
    for number in range(3):
        assert f"datasets.yaml:{number + 3}:" in ended.err
    assert "$.datasets.d0.source.delimiter" in ended.err
