"""Croissant files: record sets of one file, of an archive, and of the Hub."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from registry.api import FRAME_COLUMNS, FRAME_FIELDS
from registry.errors import ManifestError
from registry.plugins.importers.croissant import read
from registry.plugins.importers.models import Imported, ImportOptions
from tests.plugins.importers.support import specs_of, write

CSV = {"@id": "t.csv", "encodingFormat": "text/csv", "contentUrl": "https://example.org/t.csv"}
ZIP = {"@id": "z", "encodingFormat": "application/zip", "contentUrl": "data/z.zip"}
INNER = {
    "@id": "in",
    "encodingFormat": "application/jsonlines",
    "includes": "in/*.jsonl",
    "containedIn": {"@id": "z"},
}
HUB = {
    "@id": "repo",
    "encodingFormat": "git+https",
    "contentUrl": "https://huggingface.co/datasets/acme/quiz/tree/refs%2Fconvert%2Fparquet",
}
PARQUET = {
    "@id": "files",
    "encodingFormat": "application/x-parquet",
    "includes": "main/*/*.parquet",
    "containedIn": {"@id": "repo"},
}


def field(name: str, file: str, **source: Any) -> dict[str, Any]:
    extract = {"column": name}
    return {
        "@id": f"r/{name}",
        "source": {"fileObject": {"@id": file}, "extract": extract, **source},
    }


def imported(
    folder: Path, *distribution: Any, fields: list[Any], license: Any = "mit", **keys: Any
) -> Imported:
    data = {
        "name": "Quiz 1",
        "url": "https://example.org",
        "license": license,
        "keywords": "exam, math,, exam",
        "inLanguage": ["te", "en-IN", "Klingon"],
        "distribution": list(distribution),
        "recordSet": [{"@id": "r", "name": "r", "field": fields, **keys}],
    }
    return read(write(folder, "c.json", json.dumps(data)), ImportOptions())


def test_a_table(tmp_path: Path) -> None:
    (found,) = imported(tmp_path, CSV, fields=[field("q", "t.csv"), field("a", "t.csv")]).datasets
    assert found.name == "quiz-1"
    assert found.keys == {
        "homepage": "https://example.org",
        "license": "mit",
        "tags": ["exam", "math"],
        "languages": ["te", "en-IN"],
        "source": {"type": "csv", "path": "https://example.org/t.csv"},
    }
    assert found.left_out[0].why.endswith("columns: q, a")
    specs_of(found)


def test_a_table_of_tabs_that_registry_exported(tmp_path: Path) -> None:
    file = {**CSV, "encodingFormat": "text/tab-separated-values"}
    fields = [{"name": name, **field(name, "t.csv")} for name in sorted(FRAME_COLUMNS)]
    (found,) = imported(tmp_path, file, fields=fields, license=["mit", "cc0-1.0"]).datasets
    assert (found.keys["source"]["delimiter"], found.keys["fields"]) == ("\t", FRAME_FIELDS)
    assert [one.what for one in found.left_out] == ["fields.sandbox, files, setup, checkpoint"]
    one = imported(tmp_path, CSV, fields=fields[:1], license=["mit", "cc0-1.0"]).datasets[0]
    assert [(left.what, left.why) for left in one.left_out][1:] == [("license", "several licenses")]
    specs_of(found)


def test_members_of_an_archive(tmp_path: Path) -> None:
    (found,) = imported(tmp_path, ZIP, INNER, fields=[field("q", "in")]).datasets
    outer = tmp_path / "data/z.zip"  # beside the description
    assert found.keys["source"] == {"type": "json", "path": f"zip://in/*.jsonl::{outer}"}


def test_splits_of_a_repository(tmp_path: Path) -> None:
    split = {
        "@id": "main/split",
        "source": {
            "fileSet": {"@id": "files"},
            "transform": {"regex": "main/(?:partial-)?(train|test)/.+parquet$"},
        },
        "references": {"field": {"@id": "main_splits/split_name"}},
    }
    train, test = imported(tmp_path, HUB, PARQUET, fields=[split, field("q", "files")]).datasets
    assert (train.name, test.name) == ("quiz-1-train", "quiz-1-test")
    source = {"type": "hf", "path": "acme/quiz", "name": "main"}
    assert test.keys["source"] == {**source, "split": "test"}
    assert [one.what for one in test.left_out] == ["fields"]


def test_what_changes_values_is_left_out(tmp_path: Path) -> None:
    fields = [
        field("q", "t.csv", transform={"regex": "x"}),
        {**field("a", "t.csv"), "references": 1},
    ]
    (found,) = imported(tmp_path, CSV, fields=fields).datasets
    assert [one.what for one in found.left_out] == ["fields", "field r/q", "field r/a"]


@pytest.mark.parametrize(
    ("distribution", "fields", "keys", "why"),
    [
        ([CSV], [], {}, "has no fields"),
        ([CSV], [field("q", "t.csv")], {"data": [1]}, "in the Croissant file itself"),
        ([CSV, ZIP], [field("q", "t.csv"), field("a", "z")], {}, "several files (t.csv, z)"),
        ([], [field("q", "t.csv")], {}, "the format None"),
        ([{**CSV, "contentUrl": 1}], [field("q", "t.csv")], {}, "has no location"),
        ([CSV], [{"@id": "q", "source": [field("q", "t.csv")["source"]]}], {}, "no file"),
        ([CSV], [{"@id": "q"}], {}, "no file"),
        ([INNER, {**ZIP, "encodingFormat": "x"}], [field("q", "in")], {}, "is not an archive"),
        ([HUB, PARQUET], [field("q", "files")], {}, "does not name the splits"),
    ],
)
def test_record_sets_that_no_source_reads(
    tmp_path: Path, distribution: list[Any], fields: list[Any], keys: dict[str, Any], why: str
) -> None:
    (refused,) = imported(tmp_path, *distribution, fields=fields, **keys).refused
    assert why in refused.why


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "c.json:1: not JSON"),
        ("[" * 90_000, "not JSON"),
        ("[" * 200_000, "too many values"),
        ("[]", "not a Croissant file"),
        ('{"recordSet": []}', ""),
    ],
)
def test_hostile_files(tmp_path: Path, text: str, message: str) -> None:
    file = write(tmp_path, "c.json", text)
    if not message:
        assert read(file, ImportOptions()).refused[0].why == "no `recordSet`"
        return
    with pytest.raises(ManifestError) as caught:
        read(file, ImportOptions())
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("CC-BY-4.0", "CC-BY-4.0"),
        ("https://choosealicense.com/licenses/apache-2.0/", "apache-2.0"),
        ("https://spdx.org/licenses/MIT.html", "MIT"),
        ("https://creativecommons.org/licenses/by-nc-sa/4.0/", "cc-by-nc-sa-4.0"),
        ("https://creativecommons.org/licenses/by/4.0/legalcode", "cc-by-4.0"),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "cc0-1.0"),
        ("https://example.org/our-terms", None),
        ({"@type": "CreativeWork"}, None),
    ],
)
def test_license_is_an_spdx_expression_or_left_out(
    tmp_path: Path, given: Any, expected: str | None
) -> None:
    (found,) = imported(tmp_path, CSV, fields=[field("q", "t.csv")], license=given).datasets
    assert found.keys.get("license") == expected
    left_out = [one.what for one in found.left_out]
    assert ("license" in left_out) is (expected is None)
