"""Missing local files are found at the path that names them; other locations are not looked at."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from registry.lint.missing_data import missing_data
from registry.manifest.models import to_spec


def found(folder: Path, path: str, **keys: Any) -> list[str]:
    source = {"type": "csv", "path": [str(folder / path) if "://" not in path else path]}
    spec = to_spec({"name": "d", "folder": folder, "source": source, **keys})
    return [str(finding) for finding in missing_data(spec)]


@pytest.mark.parametrize(
    "path", ["a.csv", "s/*.csv", "s", "https://host/x.csv", "s3://b/x.csv", "/etc/none.csv"]
)
def test_existing_and_remote_files_are_accepted(tmp_path: Path, path: str) -> None:
    (tmp_path / "s").mkdir()
    for name in ("a.csv", "s/b.csv"):
        (tmp_path / name).write_text("q\n", encoding="utf-8")
    assert found(tmp_path, path) == []


def test_similar_name_is_proposed(tmp_path: Path) -> None:
    (tmp_path / "questions.csv").write_text("q\n", encoding="utf-8")
    assert found(tmp_path, "question.csv") == [
        "source.path: no file 'question.csv' (did you mean 'questions.csv'?)"
    ]
    assert found(tmp_path, "zzz/gone.csv") == [
        "source.path: no file 'zzz/gone.csv' (correct the path, or add the file)"
    ]


def test_file_beside_the_manifest_is_proposed(tmp_path: Path) -> None:
    for name in ("registry/qa/questions.csv", "questions.csv.bak", ".git/questions.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("q\n", encoding="utf-8")
    expected = "did you mean 'registry/qa/questions.csv'? Paths are relative to the index"
    assert found(tmp_path, "questions.csv") == [
        f"source.path: no file 'questions.csv' ({expected})"
    ]
    assert found(tmp_path, "data/questions.cvs") == [
        "source.path: no file 'data/questions.cvs' (did you mean 'registry/qa/questions.csv'?)"
    ]


def test_search_for_a_file_ends_in_folders_without_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.lint.missing_data._MOST_NAMES", 4)
    for name in ("a/a", "b/a", "z/z"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "z" / "z" / "questions.csv").touch()
    assert found(tmp_path, "questions.csv") == [
        "source.path: no file 'questions.csv' (correct the path, or add the file)"
    ]


def test_glob_without_a_match_is_reported(tmp_path: Path) -> None:
    assert found(tmp_path, "*.csv") == [
        "source.path: no file matches '*.csv' (correct the pattern, or add the files)"
    ]


def test_empty_folder_is_accepted_and_a_broken_link_is_not(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "link.csv").symlink_to("gone.csv")
    assert found(tmp_path, "s") == []
    assert found(tmp_path, "link.csv") != []


def test_glob_of_members_means_what_it_means_in_a_build(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("in/x.csv", "q\n")
    for pattern, missing in (("**/*.csv", False), ("in/*.csv", False), ("*.csv", True)):
        assert bool(found(tmp_path, f"zip://{pattern}::{tmp_path}/a.zip")) is missing
