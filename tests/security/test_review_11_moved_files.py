"""Row 11: a moved file is no new data, and no report names a temporary folder."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from tests.git_repository import write_files
from tests.security.pull_request import PullRequest

RECORDS = "q,a\nOne?,1\nTwo?,2\n"
MANIFEST = """\
datasets:
  qa: {source: {type: csv, path: data/a.csv}, fields: {input: q, target: a}}
  outer: {source: {type: csv, path: ../../shared/x.csv}, fields: {input: q, target: a}}
"""
FILES = {
    "evals/datasets.yaml": "version: 1\ninclude: [m/*.yaml]\npaths: [../../shared]\n",
    "evals/m/qa.yaml": MANIFEST,
    "evals/data/a.csv": RECORDS,
}
EDIT = {"evals/m/qa.yaml": MANIFEST.replace("data/a.csv", "data/b.csv")}
MOVED: dict[str, str | None] = {"evals/data/b.csv": RECORDS, "evals/data/a.csv": None}


def make(tmp_path: Path, head: dict[str, str | None]) -> PullRequest:
    """Make a change of a catalog that also reads a file beside the repository."""
    write_files(tmp_path, {"shared/x.csv": RECORDS})
    return PullRequest.make(tmp_path, FILES, head)


def test_moved_file_with_the_same_bytes_is_named_so_and_can_be_forbidden(tmp_path: Path) -> None:
    request = make(tmp_path, {**EDIT, **MOVED})
    done = request.run("diff", "--root", "evals", "--build")
    assert done.code == 1
    assert done.out.startswith("qa: no sample of 2 changes; `source`\n")
    assert "~ qa: moved file  evals/m/qa.yaml:2" in done.out
    assert "  moved.data/b.csv: data/a.csv → data/b.csv  same bytes" in done.out.splitlines()
    assert "samples: no difference in 2" in done.out
    assert "source bytes" not in done.out
    for classes, code in {"moved": 1, "source,inputs,targets": 0}.items():
        assert request.run("diff", "--root", "evals", "--fail-on", classes).code == code


def test_moved_file_with_other_bytes_is_new_data(tmp_path: Path) -> None:
    head = {**EDIT, **MOVED, "evals/data/b.csv": RECORDS.replace("2", "3")}
    done = make(tmp_path, head).run("diff", "--root", "evals")
    assert done.code == 1
    assert "~ qa: source bytes" in done.out
    assert "moved" not in done.out


def test_path_out_of_the_repository_is_no_difference(tmp_path: Path) -> None:
    request = make(tmp_path, {"README.md": "x"})
    for form in ("text", "markdown", "json"):
        done = request.run("diff", "main", "topic", "--root", "evals", "--format", form)
        assert (done.code, done.err) == (0, "")
        assert "registry-diff" not in done.out


def test_file_out_of_the_repository_is_read_by_both_sides(tmp_path: Path) -> None:
    edited = MANIFEST.replace("x.csv}, f", "x.csv}, limit: 1, f")
    request = make(tmp_path, {"evals/m/qa.yaml": edited})
    done = request.run("diff", "main", "topic", "--root", "evals", "--build")
    assert done.code == 1
    assert "samples: 2 → 1" in done.out
    assert "registry-diff" not in done.out + done.err


# What goes wrong on a side quotes the path of a file.
BROKEN: dict[str, dict[str, str | None]] = {
    "a syntax error": {"evals/m/qa.yaml": "datasets: [\n"},
    "an invalid value": {"evals/m/qa.yaml": "datasets: {qa: {source: {type: csv, path: [1]}}}\n"},
    "a missing file": {"evals/data/a.csv": None},
    "invalid records": {"evals/data/a.csv": 'q,a\n"1'},
    "an invalid lockfile": {"evals/datasets.lock": "version: ["},
    "an invalid index": {"evals/datasets.yaml": "version: ["},
    "a path out of the catalog": {
        "evals/m/qa.yaml": MANIFEST.replace("path: data", "path: ../../../x")
    },
    "a path out of the machine": {
        "evals/m/qa.yaml": MANIFEST.replace("path: data", f"path: {'../' * 40}x")
    },
    "a link": {"evals/datasets.yaml": None},
}


@pytest.mark.parametrize("name", BROKEN)
def test_no_message_names_a_temporary_folder(tmp_path: Path, name: str) -> None:
    request = make(tmp_path, BROKEN[name])
    if name == "a link":
        os.symlink(tmp_path / "shared" / "x.csv", request.folder / "evals" / "datasets.yaml")
        request.repository.commit()
    request.push({"evals/m/more.yaml": "datasets: {}\n"})
    for sides in (["topic~1", "topic"], ["topic", "main"]):
        done = request.run("diff", *sides, "--root", "evals", "--build", "--format", "json")
        assert done.code in (0, 1, 4), done.err
        assert "registry-diff" not in done.out + done.err


def test_an_unchanged_archive_is_no_difference(tmp_path: Path) -> None:
    # It was a change each time, and named the temporary folder.
    keys = "source: {type: csv, path: 'zip://x.csv::data/x.zip'}, fields: {input: q, target: a}"
    manifest = f"datasets:\n  d: {{description: One., {keys}}}\n"
    base = {
        "datasets.yaml": "version: 1\ninclude: [registry/*.yaml]\n",
        "registry/qa.yaml": manifest,
    }
    request = PullRequest.make(tmp_path, base, {"registry/data/notes.txt": "An archive."})
    with zipfile.ZipFile(request.folder / "registry" / "data" / "x.zip", "w") as archive:
        archive.writestr("x.csv", "q,a\n1,2\n")
    request.repository.commit()
    request.repository.git("branch", "--force", "main")
    request.push({"registry/qa.yaml": manifest.replace("One.", "Two.")})
    done = request.run("diff", "main", "--build", "--offline")
    assert "~ d: documentation only" in done.out
    assert "source" not in done.out
    assert "registry-diff-" not in done.text
