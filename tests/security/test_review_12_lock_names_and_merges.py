"""Locking one dataset leaves the other pins alone, and locks of two branches merge."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from registry.lockfile.models import read_lock
from tests.command_line import run
from tests.git_repository import HERMETIC, GitRepository

INDEX = "version: 1\ninclude: [m/*.yaml]\n"


def manifest(name: str) -> str:
    source, fields = f"{{type: csv, path: {name}.csv}}", "{input: q, target: a}"
    return f"datasets: {{{name}: {{source: {source}, fields: {fields}}}}}\n"


def dataset(name: str) -> dict[str, str]:
    return {f"m/{name}.yaml": manifest(name), f"{name}.csv": f"q,a\n{name}?,1\n"}


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run git, which may fail."""
    how: dict[str, Any] = {"cwd": folder, "env": {**os.environ, **HERMETIC}, "text": True}
    return subprocess.run(["git", *arguments], capture_output=True, check=False, **how)


def pins(folder: Path) -> list[str]:
    lock = read_lock(folder / "datasets.lock")
    assert lock is not None
    return sorted(lock.pins)


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    """Make a repository with two locked datasets, `a` and `z`."""
    files = {"datasets.yaml": INDEX, **dataset("a"), **dataset("z")}
    repository = GitRepository.make(tmp_path / "repository", files)
    assert run(repository.folder, "lock").code == 0
    repository.commit()
    return repository


def add(repository: GitRepository, branch: str, name: str) -> None:
    """Add and lock a dataset on a branch of its own."""
    repository.git("checkout", "--quiet", "-b", branch, "main")
    repository.write(dataset(name))
    assert run(repository.folder, "lock").code == 0
    repository.commit()


def test_names_drop_no_pin_of_another_dataset(repository: GitRepository) -> None:
    folder = repository.folder
    (folder / "m" / "z.yaml").rename(folder / "m" / "z.off")
    assert run(folder, "lock", "a").code == 0
    assert pins(folder) == ["a", "z"]
    done = run(folder, "lock")
    assert "z: dropped, it is in no manifest" in done.out
    assert pins(folder) == ["a"]


@pytest.mark.parametrize("style", ["merge", "zdiff3"])
def test_conflict_of_neighbouring_additions_is_resolved_by_lock(
    repository: GitRepository, style: str
) -> None:
    folder = repository.folder
    repository.git("config", "merge.conflictStyle", style)
    add(repository, "one", "m1")
    add(repository, "two", "m2")
    assert git(folder, "merge", "one").returncode == 1  # no merge by lines can order them
    assert run(folder, "lock", "--check").code == 1
    done = run(folder, "lock")
    assert done.code == 0
    assert done.out.splitlines() == [
        "m1: merge conflict: took the pin of theirs, which fits the manifest",
        "m2: merge conflict: took the pin of ours, which fits the manifest",
        "datasets.lock: 4 of 4 datasets pinned",
    ]
    assert pins(folder) == ["a", "m1", "m2", "z"]
    assert run(folder, "lock", "--check").code == 0


def test_a_named_dataset_does_not_leave_other_conflicts_to_chance(
    repository: GitRepository,
) -> None:
    folder = repository.folder
    add(repository, "one", "m1")
    add(repository, "two", "m2")
    assert git(folder, "merge", "one").returncode == 1
    assert run(folder, "lock", "a").code == 0
    assert pins(folder) == ["a", "m1", "m2", "z"]
    assert run(folder, "lock", "--check").code == 0


def upgrade_on(repository: GitRepository, branch: str, answer: int) -> None:
    """Change the data of `a` on a branch, and its pin."""
    repository.git("checkout", "--quiet", "-b", branch, "main")
    repository.write({"a.csv": f"q,a\na?,{answer}\n"})
    assert run(repository.folder, "lock", "--upgrade", "a").code == 0
    repository.commit()


def test_pin_that_both_sides_upgraded_is_pinned_anew(repository: GitRepository) -> None:
    folder = repository.folder
    upgrade_on(repository, "one", 2)
    upgrade_on(repository, "two", 3)
    repository.git("config", "merge.conflictStyle", "diff3")
    assert git(folder, "merge", "one").returncode == 1
    repository.write({"a.csv": "q,a\na?,4\n"})  # the author decides what the data is
    done = run(folder, "lock")
    assert done.code == 0, done.err
    assert "a: merge conflict: both sides pinned other bytes" in done.out
    assert run(folder, "lock", "--check").code == 0


@pytest.fixture
def driven(repository: GitRepository) -> GitRepository:
    """Make git merge the lock with the driver that docs/reference/lock.md describes."""
    driver = f"{sys.executable} -I -m registry lock --merge %O %A %B"
    repository.git("config", "merge.registry-lock.driver", driver)
    repository.write({".gitattributes": "datasets.lock merge=registry-lock\n"})
    repository.commit()
    return repository


def test_merge_driver_merges_neighbouring_additions(driven: GitRepository) -> None:
    add(driven, "one", "m1")
    add(driven, "two", "m2")
    merged = git(driven.folder, "merge", "--no-edit", "one")
    assert merged.returncode == 0, merged
    assert pins(driven.folder) == ["a", "m1", "m2", "z"]
    assert run(driven.folder, "lock", "--check").code == 0


def test_merge_driver_marks_what_both_sides_changed(driven: GitRepository) -> None:
    folder = driven.folder
    upgrade_on(driven, "one", 2)
    driven.write(dataset("m1"))
    assert run(folder, "lock").code == 0
    driven.commit()
    upgrade_on(driven, "two", 3)
    merged = git(folder, "merge", "--no-edit", "one")
    assert merged.returncode == 1
    assert "a: both sides changed its pin" in merged.stdout + merged.stderr
    text = (folder / "datasets.lock").read_text()
    assert text.count("<<<<<<<") == text.count("|||||||") == text.count(">>>>>>>") == 1
    assert "  m1:\n" in text
    assert text.count('version: "2-A"') == 2  # both branches raised it
    driven.write({"a.csv": "q,a\na?,4\n"})
    assert run(folder, "lock").code == 0
    assert 'version: "3-A"' in (folder / "datasets.lock").read_text()
    assert run(folder, "lock", "--check").code == 0


def test_merge_driver_leaves_a_conflict_where_a_side_is_no_lockfile(driven: GitRepository) -> None:
    folder = driven.folder
    add(driven, "one", "m1")
    driven.write({"datasets.lock": "version: 3\n"})
    driven.commit()
    add(driven, "two", "m2")
    assert git(folder, "merge", "--no-edit", "one").returncode == 1
    assert "UU datasets.lock" in driven.git("status", "--short")
