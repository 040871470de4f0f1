"""Missing local files are found at the path that names them; other locations are not looked at."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from registry.base.materials import Material
from registry.errors import SourceError
from registry.lint.data_checks import (
    compilable,
    missing_data,
    uncompilable_expression,
    unknown_column,
    unknown_pinned_column,
)
from registry.lint.data_files import data_states
from registry.lint.dataset_checks import PinnedDataset
from registry.manifest.merge import Entry, Layer
from registry.manifest.models import DatasetSpec, to_spec
from registry.manifest.resolve import resolve
from registry.rules import Finding
from registry.yamldoc.reader import parse_yaml
from tests.git_repository import write_files
from tests.lint.pins import pin

CSV = "source: {type: csv, path: x.csv}"
KNOWN = "source: {type: csv, path: x.csv, fieldnames: [question, hint, A, B]}"


def found(folder: Path, path: str, **keys: Any) -> list[str]:
    source = {"type": "csv", "path": [str(folder / path) if "://" not in path else path]}
    spec = to_spec({"name": "d", "folder": folder, "source": source} | keys)
    return [str(finding) for finding in missing_data(spec)]


@pytest.mark.parametrize(
    "path", ["a.csv", "s/*.csv", "https://host/x.csv", "s3://b/x.csv", "/etc/none.csv"]
)
def test_existing_and_remote_files_are_accepted(tmp_path: Path, path: str) -> None:
    write_files(tmp_path, dict.fromkeys(["a.csv", "s/b.csv"], "q\n"))
    assert found(tmp_path, path) == []


BESIDE = ("registry/qa/questions.csv", "questions.csv.bak", ".git/questions.csv")
PROPOSED = "did you mean 'registry/qa/questions.csv'?"


@pytest.mark.parametrize(
    ("files", "path", "problem"),
    [
        (["questions.csv"], "question.csv", "no file {} (did you mean 'questions.csv'?)"),
        (["s/b.csv"], "s", "{} is a folder, not a file (name a file in it, or several by a glob)"),
        ([], "zzz/gone.csv", "no file {} (correct the path, or add the file)"),
        ([], "*.csv", "no file matches {} (correct the pattern, or add the files)"),
        (BESIDE, "questions.csv", f"no file {{}} ({PROPOSED} Paths are relative to the index)"),
        (BESIDE, "data/questions.cvs", f"no file {{}} ({PROPOSED})"),
    ],
)
def test_missing_file_is_reported_with_a_similar_name(
    tmp_path: Path, files: list[str], path: str, problem: str
) -> None:
    write_files(tmp_path, dict.fromkeys(files, "q\n"))
    assert found(tmp_path, path) == [f"source.path: {problem.format(repr(path))}"]


def test_glob_that_takes_too_much_work_is_left_to_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> list[str]:
        raise SourceError("more than 100,000 files")

    write_files(tmp_path, {"a.csv": "q\n"})
    for module in ("data_checks", "data_files"):
        monkeypatch.setattr(f"registry.lint.{module}.list_files", fail)
    assert found(tmp_path, "*.csv") == []
    assert found_columns("source: {type: csv, path: '*.csv'}, fields: {input: x}", tmp_path) == []
    assert data_states(str(tmp_path), "*.csv") == []


def test_search_for_a_file_ends_in_folders_without_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.lint.data_checks._MOST_NAMES", 4)
    for name in ("a/a", "b/a"):
        (tmp_path / name).mkdir(parents=True)
    write_files(tmp_path, {"z/z/questions.csv": ""})
    assert found(tmp_path, "questions.csv") == [
        "source.path: no file 'questions.csv' (correct the path, or add the file)"
    ]


def test_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.csv")
    message = "'x.csv': it is a device, pipe or socket, not a file (copy the data to a file)"
    assert found(tmp_path, "x.csv") == [f"source.path: {message}"]


def test_empty_folder_of_a_repository_is_accepted_and_a_broken_link_is_not(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "link.csv").symlink_to("gone.csv")
    copy = {"type": "hf", "path": str(tmp_path / "s"), "split": "test"}
    assert found(tmp_path, "s", source=copy) == []
    assert found(tmp_path, "link.csv") != []


def test_glob_of_members_means_what_it_means_in_a_build(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("in/x.csv", "q\n")
        archive.writestr("./y.tsv", "q\n")
    patterns = {
        "**/*.csv": False,
        "in/*.csv": False,
        "*.csv": True,
        "y.tsv": False,
        "./y.t*": False,
    }
    for pattern, missing in patterns.items():
        assert bool(found(tmp_path, f"zip://{pattern}::{tmp_path}/a.zip")) is missing


def test_member_of_an_archive_within_another_is_left_to_the_build(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("b.zip", "")
    assert found(tmp_path, f"zip://x.csv::zip://b.zip::{tmp_path}/a.zip") == []


def spec_of(keys: str, folder: Path = Path("/catalog")) -> DatasetSpec:
    document = parse_yaml(f"datasets:\n  d: {{{keys}}}\n", file="m.yaml")
    return resolve("d", {"d": Entry("d", document, folder, Layer("default", {}))})


def texts(findings: Any) -> list[str]:
    found_columns: list[Finding] = list(findings)
    return [f"{'.'.join(map(str, one.path))}: {one.message} ({one.hint})" for one in found_columns]


def found_columns(keys: str, folder: Path = Path("/catalog")) -> list[str]:
    return texts(unknown_column(spec_of(keys, folder)))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            "{input: {template: '{questoin}'}}",
            ["fields.input.template: no column 'questoin' (did you mean 'question'?)"],
        ),
        (
            "{input: question, choices: [A, B, C]}",
            [
                "fields.choices.2: no column 'C' (columns: question, hint, A, B; a fixed text is `{const: \"C\"}`)"
            ],
        ),
        (
            "{input: question, metadata: {h: {from: hnt, do: [strip]}}}",
            ["fields.metadata.h.from: no column 'hnt' (did you mean 'hint'?)"],
        ),
        (
            "{input: question, target: nowhere}",
            ["fields.target: no column 'nowhere' (columns: question, hint, A, B)"],
        ),
        ("{input: question, choices: [A, B], metadata: {h: hint}, id: {hash: [question]}}", []),
        ("{input: {template: '{question.text}'}}", []),
        ("{input: question, target: {from: nowhere, do: [{default: x}]}}", []),
        ("{input: {from: nowhere, do: [stripp]}}", []),
    ],
)
def test_column_missing_from_the_manifest_is_reported(fields: str, expected: list[str]) -> None:
    assert found_columns(f"{KNOWN}, fields: {fields}") == expected


@pytest.mark.parametrize(
    "keys",
    [
        f"{CSV}, fields: {{input: [gone]}}",
        "source: {type: json, path: x.json}, fields: {input: [gone]}",
        "source: {type: hf, path: a/b, split: test}, fields: {input: [gone]}",
        f"{KNOWN}, explode: {{column: A, item: gone}}, fields: {{input: [gone]}}",
        f"{KNOWN}, join: {{on: A, source: {{type: csv, path: y}}, into: gone}}, fields: {{input: [gone, gone.x]}}",
        "source: {type: csv, path: x, fieldnames: [A], columns: {gone: str}}, fields: {input: [gone]}",
    ],
)
def test_column_that_may_exist_is_accepted(keys: str) -> None:
    assert found_columns(keys) == []


RECORDS = [{"q": "x", "a": {"b": 1}}, {"q": "y", "a": None}]


def written(folder: Path, name: str) -> str:
    texts = {
        ".csv": "q,a\nx,1\n",
        ".jsonl": "\n".join(map(json.dumps, RECORDS)),
        ".json": json.dumps({"rows": RECORDS}),
    }
    if name.endswith(".zip"):
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr("./in/x.csv", texts[".csv"])
    elif name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(RECORDS), folder / name)
    else:
        write_files(folder, {name: texts[Path(name).suffix]})
    return name


@pytest.mark.parametrize("name", ["d.csv", "d.jsonl", "d.json", "d.parquet"])
def test_columns_of_local_files_are_known(tmp_path: Path, name: str) -> None:
    kind = {"jsonl": "json"}.get(name[2:], name[2:])
    records = ", records: rows" if name == "d.json" else ""
    source = f"source: {{type: {kind}, path: {written(tmp_path, name)}{records}}}"
    assert found_columns(f"{source}, fields: {{input: qq, target: a}}", tmp_path) == [
        "fields.input: no column 'qq' (did you mean 'q'?)"
    ]
    if name != "d.csv":
        assert found_columns(f"{source}, fields: {{input: q, target: a.c}}", tmp_path) == [
            "fields.target: no column 'a.c' (did you mean 'a.b'?)"
        ]
        assert found_columns(f"{source}, fields: {{input: q, target: a.b}}", tmp_path) == []


def test_columns_of_members_are_known_unless_the_archive_is_damaged(tmp_path: Path) -> None:
    keys = f"source: {{type: csv, path: 'zip://in/*.csv::{written(tmp_path, 'd.zip')}'}}, fields: {{input: qq}}"
    assert found_columns(keys, tmp_path) == ["fields.input: no column 'qq' (did you mean 'q'?)"]
    (tmp_path / "d.zip").write_bytes(b"PK")
    assert found_columns(keys, tmp_path) == []


def test_columns_of_a_local_lookup_table_are_known(tmp_path: Path) -> None:
    write_files(tmp_path, {"side.csv": "name,rubric\nx,1\n"})
    source = f"source: {{type: csv, path: {written(tmp_path, 'd.csv')}}}"
    join = "join: {source: {type: csv, path: side.csv}, on: q, key: nam, into: row}"
    keys = f"{source}, {join}, fields: {{input: q, target: row.rubrik}}"
    assert found_columns(keys, tmp_path) == [
        "join.key: no column 'nam' in the lookup table side.csv (did you mean 'name'?)",
        "fields.target: no column 'row.rubrik' (did you mean 'row.rubric'?)",
    ]


def test_files_that_must_not_or_can_not_be_read_are_left_to_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = gzip.compress(b"q,a\nx,1\n")[:20]
    files = {"cut.csv": 'q,a\n"x', "bad.jsonl": "{"}
    catalog = write_files(tmp_path / "catalog", {**files, "d.csv.gz": packed})
    (catalog / "link.csv").symlink_to(tmp_path / written(tmp_path, "outside.csv"))
    for path in ("../outside.csv", "link.csv", "cut.csv", "d.csv.gz", "gone.csv", "/dev/null"):
        source = f"source: {{type: csv, path: {path}}}"
        assert found_columns(f"{source}, fields: {{input: gone}}", catalog) == [], path
    known = f"source: {{type: csv, path: {written(catalog, 'd.csv')}}}, fields: {{input: gone}}"
    join = "join: {source: {type: json, path: bad.jsonl}, on: q, into: row}"
    assert found_columns(known, catalog) != []
    assert found_columns(f"{known}, {join}", catalog) == []
    source = "source: {type: json, path: bad.jsonl}"
    assert found_columns(f"{source}, fields: {{input: gone}}", catalog) == []
    source = f"source: {{type: json, path: {written(catalog, 'd.jsonl')}}}, fields: {{input: gone}}"
    assert found_columns(source, catalog) != []
    monkeypatch.setattr("registry.lint.data_files._MOST_BYTES", 10)
    assert found_columns(source, catalog) == []


def unknown_in_pin(columns: str, spec: DatasetSpec | None) -> list[str]:
    source = Material(location="hf://datasets/a/b", requested="main", revision="0" * 40)
    pinned = PinnedDataset("d", pin(source, columns=tuple(columns.split())), spec)
    return texts(unknown_pinned_column(pinned))


HUB = "source: {type: hf, path: a/b, split: test, revision: main}"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (f"{HUB}, fields: {{input: q, target: a.b}}", []),
        (
            f"{HUB}, fields: {{input: q, target: anwser}}",
            [
                "fields.target: no column 'anwser' in the records that datasets.lock pins (did you mean 'answer'?; `registry lock d` looks again)"
            ],
        ),
        (f"{HUB}, explode: a, fields: {{input: item.x}}", []),
        ("source: {type: hf, path: a/c, split: test}, fields: {input: gone}", []),
        ("source: {type: hf, path: a/b, split: test, revision: v2}, fields: {input: gone}", []),
        (f"{HUB}, concat: [{{split: a}}, {{split: b}}], fields: {{input: gone}}", []),
    ],
    ids=str,
)
def test_columns_in_the_lockfile_are_known_while_it_pins_the_source(
    keys: str, expected: list[str]
) -> None:
    assert unknown_in_pin("q a answer", spec_of(keys)) == expected


def test_a_local_file_is_known_better_than_by_its_pin(tmp_path: Path) -> None:
    source = f"source: {{type: csv, path: {written(tmp_path, 'd.csv')}}}, fields: {{input: q}}"
    assert unknown_in_pin("x", spec_of(source, tmp_path)) == []
    assert unknown_in_pin("x", None) == []


def test_all_that_does_not_compile_is_reported() -> None:
    fields = "input: {from: q, do: [{regex: '('}]}, target: a, id: {from: q, do: [stripp]}"
    keys = f"{CSV}, fields: {{{fields}}}, where: {{value: q, regex: '('}}"
    first, second, third = texts(uncompilable_expression(spec_of(keys)))
    assert first.startswith("fields.input: ")
    assert "not a regular expression" in first
    assert second.startswith("fields.id: ")
    assert "stripp" in second
    assert third.startswith("where: ")
    valid = f"{CSV}, fields: {{input: {{from: q, do: [strip]}}}}, where: {{value: q, regex: a}}"
    assert texts(uncompilable_expression(spec_of(valid))) == []


def test_only_what_compiles_is_left_to_other_checks() -> None:
    fields = "fields: {input: q, id: {from: q, do: [stripp]}}"
    spec = compilable(spec_of(f"{CSV}, {fields}, where: {{value: q, less: []}}"))
    assert (spec.fields.input, spec.fields.id, spec.where) == ("q", None, None)
    valid = spec_of(f"{CSV}, fields: {{input: q}}, where: {{value: q, less: 1}}")
    assert compilable(valid) == valid
