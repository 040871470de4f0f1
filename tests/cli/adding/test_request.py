"""What `add` is asked for: options, and where the manifest goes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from msgspec import structs

from registry.catalog.catalog import Catalog
from registry.cli.adding.request import (
    SourceOptions,
    allowing,
    check_options,
    destination_of,
    file_keys,
    shown_progress,
    write_manifest,
)
from registry.errors import ManifestError, SourceError
from registry.progress import Progress
from registry.settings import Settings
from registry.sources.pins import SourceContext


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "name the source: --file data.csv (or a URL), or --hf owner/name"),
        ({"hf": "a/b", "file": "q.csv"}, "either --hf PATH or --file URL"),
        *(
            ({"file": "q.csv", key: "x"}, "--name, --split and --revision go with --hf")
            for key in ("name", "split", "revision")
        ),
        ({"hf": "a/b", "skip_rows": 0}, "--skip-rows goes with --file"),
        ({"hf": "a/b", "delimiter": ";"}, "--delimiter goes with --file"),
        ({"file": "q.csv", "columns": "a", "header": True}, "a file without a header"),
    ],
)
def test_options_that_contradict_each_other(options: dict[str, Any], words: str) -> None:
    with pytest.raises(click.UsageError) as caught:
        check_options("qa", SourceOptions(**options))
    assert words in caught.value.message
    for empty in (SourceOptions(file=""), SourceOptions(file="q.csv", join="")):
        with pytest.raises(SourceError, match="'' names no file"):
            check_options("qa", empty)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("q a.csv", "--file 'q a.csv'"),
        ("https://example.org/q.csv", "--file https://example.org/q.csv"),
        ("owner/q.csv", "--hf owner/q.csv"),
    ],
)
def test_source_in_place_of_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, option: str
) -> None:
    (tmp_path / "q a.csv").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(click.UsageError) as caught:
        check_options(name, SourceOptions())
    assert caught.value.message == f"name the dataset: registry add NAME {option}"


def test_options_that_go_together() -> None:
    check_options("qa", SourceOptions(hf="a/b", name="c", split="test", revision="v1"))
    check_options("qa", SourceOptions(file="q.csv", delimiter=";", columns="a,b", header=False))


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("q.csv", {"type": "csv", "path": "q.csv"}),
        ("data/q.tsv.gz", {"type": "csv", "path": "data/q.tsv.gz"}),
        ("../q.json", {"type": "json", "path": "{above}/q.json"}),
        (
            "https://example.org/q.parquet",
            {"type": "parquet", "path": "https://example.org/q.parquet"},
        ),
    ],
)
def test_path_is_relative_to_the_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, expected: dict[str, str]
) -> None:
    (tmp_path / "catalog").mkdir()
    monkeypatch.chdir(tmp_path / "catalog")
    (tmp_path / "q.json").touch()
    (tmp_path / "catalog" / "data").mkdir()
    for name in ("q.csv", "data/q.tsv.gz"):
        (tmp_path / "catalog" / name).touch()
    path = expected["path"].format(above=tmp_path)
    found = file_keys(SourceOptions(file=file), tmp_path / "catalog")
    assert found == {"type": expected["type"], "path": path}


def test_type_is_the_users_word(tmp_path: Path) -> None:
    options = SourceOptions(file="https://example.org/export", type="csv", delimiter=";")
    assert file_keys(options, tmp_path)["type"] == "csv"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"file": "https://example.org/q.data"}, "or --type says it"),
        ({"file": "https://example.org/q.xlsx"}, "is a spreadsheet: export the sheet as CSV"),
        ({"file": "q.parquet", "encoding": "x"}, "--encoding is for csv and json"),
        ({"file": "q.json", "header": False}, "--header is for csv, and the file is json"),
        ({"file": "q.jsonl", "skip_rows": 1}, "--skip-rows is for csv, and the file is json"),
        ({"file": "q.csv", "records": "a"}, "--records is for json, and the file is csv"),
        ({"file": "https://huggingface.co/datasets/a/b/"}, "pass --hf a/b"),
        (
            {"file": "https://github.com/a/b/blob/main/x/q.csv"},
            "pass --file https://raw.githubusercontent.com/a/b/main/x/q.csv",
        ),
    ],
)
def test_file_that_is_not_meant(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(click.UsageError) as caught:
        file_keys(SourceOptions(**options), tmp_path)
    assert words in caught.value.message


def test_missing_file_has_similar_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "questions.csv").touch()
    with pytest.raises(SourceError) as caught:
        file_keys(SourceOptions(file="data/question.csv"), tmp_path)
    message = "data/question.csv: no such file (did you mean data/questions.csv?)"
    assert str(caught.value) == message
    with pytest.raises(SourceError, match=r"^nowhere/q\.csv: no such file$"):
        file_keys(SourceOptions(file="nowhere/q.csv"), tmp_path)
    assert file_keys(SourceOptions(file="*.csv"), tmp_path)["path"] == "*.csv"


def test_what_is_waited_for_is_shown_with_the_name(
    context: SourceContext, capsys: pytest.CaptureFixture[str]
) -> None:
    with shown_progress(structs.replace(context, dataset="d"), 5) as reporting:
        reporting.report(Progress("wait", 2, note="example.org"))
    assert capsys.readouterr().err == "d: waiting for example.org (2 s so far)\n"


def test_source_of_the_user_is_allowed(
    context: SourceContext, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = str(tmp_path_factory.mktemp("outside") / "q.csv")
    found = allowing(context, {"type": "csv", "path": outside}, Path.cwd())
    assert (found.boundary.refusal(outside), context.boundary.refusal(outside) is None) == (
        None,
        False,
    )


MANIFEST = "datasets:\n  d: {source: {type: csv, path: q.csv}, fields: {input: q}}\n"


def settings(folder: Path) -> Settings:
    return Settings(index=folder / "datasets.yaml", cache_dir=folder / "cache")


def names(paths: object) -> list[str]:
    assert isinstance(paths, dict)
    return [path.name for path in paths]


def test_folder_without_an_index_gets_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = destination_of(settings(tmp_path), "d")
    assert found.target == tmp_path / "registry" / "d.yaml"
    assert found.schema == "../schemas/manifest.schema.json"
    write_manifest(found, MANIFEST)
    assert list(Catalog.open(tmp_path)) == ["d"]
    assert capsys.readouterr().out.splitlines()[::5] == [
        "wrote registry/d.yaml: review it",
        "wrote datasets.yaml",
    ]


def test_index_lacks_only_the_schema_of_manifests(tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [sets/**/*.yml]\n")
    found = destination_of(settings(tmp_path), "d")
    assert found.target == tmp_path / "sets" / "d.yml"
    assert names(found.missing) == ["manifest.schema.json"]
    schema = tmp_path / "schemas" / "manifest.schema.json"
    schema.parent.mkdir()
    schema.write_text("{}")
    assert names(destination_of(settings(tmp_path), "d").missing) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [registry/*.yaml]\n")
    (tmp_path / "registry").mkdir()
    (tmp_path / "registry" / "d.yaml").write_text(MANIFEST.replace("d:", "other:", 1))
    with pytest.raises(ManifestError, match="already exists and is not overwritten"):
        destination_of(settings(tmp_path), "d")


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"nowhere"):
        destination_of(settings(tmp_path / "nowhere"), "d")
