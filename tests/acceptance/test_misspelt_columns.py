"""A misspelt column is an error with its place, in every format and by every way to a dataset.

Found by a newcomer: `anwser` passed `validate --strict`, `sync` and `lock`, and with an empty target
Inspect's `includes()` scores 1.0.
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from registry import get_dataset
from registry.cli import main
from registry.errors import ManifestError, MappingError
from tests.conftest import Https
from tests.records import csv_bytes, jsonl, parquet_bytes
from tests.servers.hub import HubEmulator, parquet_repo

ROWS = [
    {"question": f"q{number}", "answer": "AB"[number % 2], "id": number, "level": "easy"}
    for number in range(6)
]
MANIFEST = """\
datasets:
  qa:
    description: Questions.
    license: mit
    source: {source}
    where: {{value: levl, equals: easy}}
    fields:
      input: question
      choices: choics
      target: anwser
      id: idd
      metadata: [levle, level]
  first: {{extends: qa, limit: 1}}
"""
# In the manifest, so that only its folder differs.
PROBLEMS = """\
m.yaml:6:13 $.datasets.qa.where.value: no column 'levl' (did you mean 'level'?)
m.yaml:9:7 $.datasets.qa.fields.choices: no column 'choics' (columns: question, answer, id, level)
m.yaml:10:7 $.datasets.qa.fields.target: no column 'anwser' (did you mean 'answer'?)
m.yaml:11:7 $.datasets.qa.fields.id: no column 'idd' (did you mean 'id'?)
m.yaml:12:18 $.datasets.qa.fields.metadata[0]: no column 'levle' (did you mean 'level'?)""".splitlines()
ENCODED = {
    "csv": csv_bytes(ROWS),
    "jsonl": jsonl(ROWS),
    "json": json.dumps(ROWS).encode(),
    "parquet": parquet_bytes(ROWS),
}


@pytest.fixture(params=[*ENCODED, "hub", "https"])
def source(
    request: pytest.FixtureRequest, folder: Path, hub: HubEmulator, https: Https
) -> dict[str, Any]:
    """Publish the records in one form, and return the source in a manifest."""
    form = request.param
    if form == "hub":
        commit = hub.commit("acme/qa", parquet_repo({"main": {"test": ROWS}}))
        return {"type": "hf", "path": "acme/qa", "split": "test", "revision": commit}
    if form == "https":
        return {"type": "json", "path": https.put("/data.jsonl", jsonl(ROWS), etag="1")}
    (folder / f"data.{form}").write_bytes(ENCODED[form])
    return {"type": {"jsonl": "json"}.get(form, form), "path": f"data.{form}"}


@pytest.fixture
def folder(emptied: Path) -> Path:
    """Make the folder of a catalog the working directory."""
    (emptied / "datasets.yaml").write_text("version: 1\ninclude: [m.yaml]\n", encoding="utf-8")
    return emptied


def write(folder: Path, source: dict[str, Any]) -> None:
    text = MANIFEST.format(source=json.dumps(source))
    (folder / "m.yaml").write_text(text, encoding="utf-8")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """Return the problems that a command prints; it must fail."""
    assert main(list(arguments)) == 1
    captured = capsys.readouterr()
    lines = (captured.out + captured.err).splitlines()
    return [line.partition("m.yaml:")[2] for line in lines if "m.yaml:" in line]


WANTED = [line.partition("m.yaml:")[2] for line in PROBLEMS]


def test_every_way_to_a_dataset_names_every_misspelt_column(
    folder: Path, source: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, source)
    for name in ("qa", "first"):
        with pytest.raises(ManifestError) as caught:
            get_dataset(name)
        assert str(caught.value).splitlines() == PROBLEMS
        assert {problem.rule for problem in caught.value.problems} == {"unknown-column"}
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    for arguments in (["sync", "qa"], ["preview", "first"], ["lock", "qa"]):
        assert printed(capsys, *arguments) == WANTED


@pytest.mark.parametrize("source", ["csv", "parquet", "hub", "https"], indirect=True)
def test_validate_prints_every_misspelt_column_of_what_is_on_this_machine(
    folder: Path, source: dict[str, Any], capsys: pytest.CaptureFixture[str], hub: HubEmulator
) -> None:
    write(folder, source)
    is_local = str(source["path"]).startswith("data.")
    if not is_local:  # known from the lockfile, once the dataset was locked
        text = (folder / "m.yaml").read_text(encoding="utf-8")
        fixed = text.replace("levl,", "level,").replace("choics", "answer")
        fixed = fixed.replace("anwser", "answer").replace("idd", "id").replace("levle", "level")
        assert main(["validate"]) == 0
        (folder / "m.yaml").write_text(fixed, encoding="utf-8")
        assert main(["lock", "qa"]) == 0
        (folder / "m.yaml").write_text(text, encoding="utf-8")
        capsys.readouterr()
    hub.requests.clear()
    found = [line for line in printed(capsys, "validate") if "unknown-column" in line]
    pinned = "" if is_local else " in the records that datasets.lock pins"
    again = "" if is_local else "; `registry lock qa` looks again"
    assert found == [
        f"{head}{pinned} ({hint[:-1]}{again}) [unknown-column]"
        for head, _, hint in (line.partition(" (") for line in WANTED)
    ]
    assert hub.requests == []


def test_preview_of_a_local_file_prints_every_misspelt_column(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, {"type": "hf", "path": "acme/none", "split": "test"})
    for form, content in ENCODED.items():
        (folder / f"sent.{form}").write_bytes(content)
        assert printed(capsys, "preview", "qa", "--from", f"sent.{form}") == WANTED


INHERITED = """\
datasets:
  base:
    source: {type: json, path: data.jsonl}
    fields:
      input: question
      target: {from: level, do: [strip, {map: {hard: A}}]}
  derived:
    extends: base
    fields: {metadata: {n: {from: level, do: [int]}}}
  filtered:
    extends: base
    fields: {target: answer}
    where:
      - {value: level, equals: hard}
      - {value: id, less: 3}
"""


@pytest.fixture
def inherited(folder: Path) -> Path:
    """Write datasets that share a mapping with mistakes."""
    (folder / "data.jsonl").write_bytes(ENCODED["jsonl"])
    (folder / "m.yaml").write_text(INHERITED, encoding="utf-8")
    return folder


@pytest.mark.usefixtures("inherited")
def test_error_of_a_record_names_the_line_that_wrote_the_expression(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(MappingError) as caught:
        get_dataset("derived")
    assert caught.value.origin == "m.yaml:6:7"
    assert str(caught.value).startswith("derived: record 1, field target, operation map(")
    assert str(caught.value).endswith(", value: 'easy', at m.yaml:6:7")
    assert pickle.loads(pickle.dumps(caught.value)).origin == "m.yaml:6:7"

    for command in (["sync", "derived"], ["lock", "derived"], ["preview", "derived"]):
        (line,) = set(printed(capsys, *command))
        assert line == "6:7"


def test_condition_that_keeps_nothing_is_shown_with_its_place_and_the_values_seen(
    inherited: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = (
        "13:5 $.datasets.filtered.where: `where` keeps none of 6 records:"
        ' [{"value": "level", "equals": "hard"}, {"value": "id", "less": 3}]'
        " ('id' is 0 (1), 1 (1), 2 (1), 3 (1), 4 (1) and 1 more value; 'level' is 'easy' (6);"
        " `expect: {samples: 0}` says that it is meant)"
    )
    for command in (["sync"], ["lock"], ["preview"]):
        assert printed(capsys, *command, "filtered") == [problem]
    assert printed(capsys, "preview", "filtered", "--from", "data.jsonl") == [problem]
    with pytest.raises(ManifestError, match="`where` keeps none of 6 records"):
        get_dataset("filtered")
    text = INHERITED + "    expect: {samples: 0}\n"
    (inherited / "m.yaml").write_text(text, encoding="utf-8")
    assert len(get_dataset("filtered")) == 0
