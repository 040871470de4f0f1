"""`validate` and the hook find missing data files and misspelt columns, whatever form data has."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.git_repository import write_files
from tests.security.audit import run_audited

INDEX = "version: 1\ninclude: [registry/*.yaml]\nvalidate: {ignore: [description]}\n"
ROWS = [{"q": "One?", "a": "1"}, {"q": "Two?", "a": "2"}]
CSV = b"q,a\nOne?,1\nTwo?,2\n"
JSONL = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
OK = "fields: {input: q, target: a}"
MISSPELT = "fields: {input: qq, target: a}"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files: dict[str, str | bytes] = {
        "qa.csv": CSV,
        "qa.tsv": CSV.replace(b",", b"\t"),
        "titled.csv": b"A title\n\n" + CSV,
        "utf16.csv": CSV.decode().encode("utf-16"),
        "qa.jsonl": JSONL,
        "qa.json": json.dumps({"rows": ROWS}).encode(),
        "qa.csv.gz": gzip.compress(CSV),
        "qa.csv.bz2": bz2.compress(CSV),
        "qa.csv.xz": lzma.compress(CSV),
        "qa.csv.zst": pa.compress(CSV, codec="zstd", asbytes=True),
        "qa.jsonl.gz": gzip.compress(JSONL),
    }
    write_files(tmp_path / "data", files)
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "data/qa.parquet")
    with zipfile.ZipFile(tmp_path / "data/qa.zip", "w") as archive:
        archive.writestr("in/qa.csv", CSV)
        archive.writestr("in/qa.jsonl", JSONL)
    with tarfile.open(tmp_path / "data/qa.tar", "w") as tar:
        info = tarfile.TarInfo("qa.csv")
        info.size = len(CSV)
        tar.addfile(info, io.BytesIO(CSV))
    return tmp_path


def validate(root: Path, keys: str) -> tuple[int, str]:
    manifest = f"datasets:\n  one: {{{keys}}}\n"
    write_files(root, {"datasets.yaml": INDEX, "registry/one.yaml": manifest})
    done = run_audited(["validate", "--strict"], folder=root)
    return done.code, done.out


SOURCES = [
    "source: {type: csv, path: data/qa.csv}",
    'source: {type: csv, path: data/qa.tsv, delimiter: "\\t"}',
    "source: {type: csv, path: data/titled.csv, skip_rows: 2}",
    "source: {type: csv, path: data/utf16.csv, encoding: utf-16}",
    "source: {type: csv, path: data/qa.cs*}",
    "source: {type: csv, path: [data/qa.csv, data/qa.csv.gz]}",
    "source: {type: csv, path: data/qa.csv.gz}",
    "source: {type: csv, path: data/qa.csv.bz2}",
    "source: {type: csv, path: data/qa.csv.xz}",
    "source: {type: csv, path: data/qa.csv.zst}",
    "source: {type: json, path: data/qa.jsonl}",
    "source: {type: json, path: data/qa.json, records: rows}",
    "source: {type: json, path: data/qa.jsonl.gz}",
    "source: {type: parquet, path: data/qa.parquet}",
    "source: {type: csv, path: 'zip://in/qa.csv::data/qa.zip'}",
    "source: {type: csv, path: 'zip://in/*.csv::data/qa.zip'}",
    "source: {type: json, path: 'zip://in/qa.jsonl::data/qa.zip'}",
    "source: {type: csv, path: data/qa.csv}, concat: [{path: data/qa.csv}, {path: data/qa.csv.gz}]",
]  # fmt: skip


def test_misspelt_column_is_an_error_in_every_form_of_data(root: Path) -> None:
    def manifest(fields: str) -> str:
        numbered = enumerate(SOURCES)
        return "".join(f"}}\n  d{number}: {{{source}, {fields}" for number, source in numbered)[4:]

    good = manifest(OK).partition(": {")
    assert validate(root, good[2]) == (0, f"no problems ({len(SOURCES)} datasets)\n")
    code, out = validate(root, manifest(MISSPELT).partition(": {")[2])
    assert code == 1
    for name in ("one", *(f"d{number}" for number in range(1, len(SOURCES)))):
        assert f"$.datasets.{name}.fields.input: no column 'qq' (did you mean 'q'?)" in out


def test_misspelt_column_of_a_lookup_table_is_an_error(root: Path) -> None:
    join = "join: {source: {type: json, path: data/qa.jsonl.gz}, on: q, into: row}"
    source = "source: {type: csv, path: data/qa.csv}"
    assert validate(root, f"{source}, {join}, fields: {{input: q, target: row.a}}")[0] == 0
    code, out = validate(root, f"{source}, {join}, fields: {{input: q, target: row.b}}")
    assert (code, "no column 'row.b'" in out) == (1, True)


def csv(path: str) -> str:
    return f"source: {{type: csv, path: {path}}}"


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        (csv("data/aq.csv"), "source.path: no file 'data/aq.csv' (did you mean 'data/qa.csv'?)"),
        (csv("dat/qa.csv"), "source.path: no file 'dat/qa.csv' (did you mean 'data/qa.csv'?"),
        (
            csv("data/gone*.csv"),
            "source.path: no file matches 'data/gone*.csv' (correct the pattern,",
        ),
        (csv("[data/qa.csv, data/zzz.csv.gz]"), "source.path[1]: no file 'data/zzz.csv.gz' ("),
        (
            csv("'zip://in/qa.csv::data/q.zip'"),
            "source.path: no file 'data/q.zip' (did you mean 'data/qa.zip'?)",
        ),
        (
            csv("'zip://in/aq.csv::data/qa.zip'"),
            "source.path: no file 'in/aq.csv' in 'data/qa.zip' (did you mean",
        ),
        (
            csv("'tar://qa.csv::data/q.tar'"),
            "source.path: no file 'data/q.tar' (did you mean 'data/qa.tar'?)",
        ),
        (
            f"{csv('data/qa.csv')}, concat: [{{path: data/aq.csv}}]",
            "concat[0].path: no file 'data/aq.csv' (did you mean 'data/qa.csv'?)",
        ),
        (
            f"{csv('data/qa.csv')}, join: {{source: {{type: json, path: data/aq.jsonl}}, on: q, into: r}}",
            "join.source.path: no file 'data/aq.jsonl' (did you mean",
        ),
        (
            "source: {type: hf, path: ./dat, split: test}",
            "source.path: no file 'dat' (did you mean 'data'?)",
        ),
    ],
)
def test_missing_file_is_an_error(root: Path, keys: str, problem: str) -> None:
    code, out = validate(root, f"{keys}, {OK}")
    assert code == 1
    assert f" $.datasets.one.{problem}" in out, out
    assert "[missing-data]" in out


def test_missing_data_of_a_parent_is_reported_once(root: Path) -> None:
    text = "source: {type: csv, path: data/aq.csv}}\n  two: {extends: one, limit: 1"
    assert validate(root, text)[1].count("[missing-data]") == 1


def test_nothing_is_said_about_files_outside_of_the_catalog(root: Path) -> None:
    (root.parent / "secret.csv").write_text("password\n", encoding="utf-8")
    for name in ("secret.csv", "absent.csv"):
        _, out = validate(root, f"source: {{type: csv, path: ../{name}}}, {OK}")
        assert "[missing-data]" not in out
        assert "password" not in out
