"""Relative paths of sources become absolute; values that are not local paths are unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.manifest.paths import with_absolute_paths, without_nulls

FOLDER = Path("/catalog")
HOME = str(Path.home())


def absolute(source: dict[str, Any], inherited: dict[str, Any] | None = None) -> dict[str, Any]:
    changed: dict[str, Any] = with_absolute_paths({"source": source}, inherited or {}, FOLDER)
    result: dict[str, Any] = changed["source"]
    return result


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("data/x.csv", "/catalog/data/x.csv"),
        ("../x.csv", "/x.csv"),
        ("data/*.csv", "/catalog/data/*.csv"),
        ("/data/./x.csv", "/data/x.csv"),
        ("~/x.csv", f"{HOME}/x.csv"),
        (["a.csv", "s3://b/c.csv"], ["/catalog/a.csv", "s3://b/c.csv"]),
        ("https://host/x.csv?a=../b", "https://host/x.csv?a=../b"),
        (3, 3),
        ([1, "a"], [1, "/catalog/a"]),
    ],
)
def test_file_paths_are_resolved_against_the_folder(path: Any, expected: Any) -> None:
    for kind in ("csv", "json", "parquet", "unknown", ["csv"]):
        assert absolute({"type": kind, "path": path})["path"] == expected
    assert absolute({"path": path}, {"type": "csv"})["path"] == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("./data", "/catalog/data"),
        ("../data", "/data"),
        ("..", "/"),
        (".", "/catalog"),
        (".d/x", "/catalog/.d/x"),
        ("/data", "/data"),
        ("~/data", f"{HOME}/data"),
        ("owner/name", "owner/name"),
        ("json", "json"),
        ("data", "data"),
        (3, 3),
    ],
)
def test_hub_folder_is_recognized_by_its_first_character(path: Any, expected: Any) -> None:
    assert absolute({"type": "hf", "path": path})["path"] == expected


def test_data_files_are_resolved_for_a_builder_but_not_for_a_repository() -> None:
    files = {"test": ["a.json", "https://h/b.json"], "train": "c.json"}
    expected = {"test": ["/catalog/a.json", "https://h/b.json"], "train": "/catalog/c.json"}
    builder = {"type": "hf", "path": "json", "data_files": files}
    assert absolute(builder)["data_files"] == expected
    assert absolute({"data_files": files}, {"type": "hf", "path": "json"})["data_files"] == expected
    assert absolute({**builder, "path": "owner/name"})["data_files"] == files
    listed = absolute({**builder, "data_files": files["test"]})
    assert listed["data_files"] == expected["test"]


def test_concat_parts_inherit_type_and_path_of_the_source() -> None:
    keys = {"source": {"type": "hf", "path": "json"}, "concat": [{"data_files": "a.json"}, {}]}
    assert with_absolute_paths(keys, {}, FOLDER)["concat"] == [
        {"data_files": "/catalog/a.json"},
        {},
    ]


def test_join_source_does_not_inherit_from_the_main_source() -> None:
    join = {"source": {"type": "csv", "path": "x.csv", "encoding": None}, "on": "a", "key": None}
    changed = with_absolute_paths({"join": join}, {"type": "hf"}, FOLDER)
    assert changed["join"] == {"source": {"type": "csv", "path": "/catalog/x.csv"}, "on": "a"}


def test_other_keys_and_values_of_the_wrong_type_are_unchanged() -> None:
    keys = {"limit": 3, "source": "x.csv", "concat": "x", "join": 1}
    assert with_absolute_paths(keys, {}, FOLDER) == keys
    assert without_nulls({"a": None, "b": 0, "c": ""}) == {"b": 0, "c": ""}
