"""The disagreements between a lockfile and the manifests of its catalog."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.lockfile.models import Lock, read_lock, write_lock
from registry.workflows.lock import LockRequest, lock_datasets, new_lock
from registry.workflows.lock_check import check_lock, is_as_written
from registry.workflows.pin_check import Difference

INDEX = "version: 1\ninclude: [m/*.yaml]\n"
QA = """\
datasets:
  qa: {source: {type: csv, path: qa.csv}, fields: {input: q, target: a}}
"""
AWAY = "  away: {source: {type: csv, path: 'https://127.0.0.1:1/qa.csv'}}\n"


@pytest.fixture
def folder(tmp_path: Path, cache_dir: Path) -> Path:
    """Write a catalog with one dataset, `qa`, and its lock."""
    folder = tmp_path / "catalog"
    (folder / "m").mkdir(parents=True)
    (folder / "datasets.yaml").write_text(INDEX)
    (folder / "m" / "qa.yaml").write_text(QA)
    (folder / "qa.csv").write_text("q,a\nOne?,1\n")
    request = LockRequest(catalog=Catalog.open(folder), cache=Cache(cache_dir))
    results = lock_datasets(["qa"], request, jobs=1, report=lambda name, progress: None)
    write_lock(folder / "datasets.lock", new_lock((), results, {"qa"}))
    return folder


def found(folder: Path, cache_dir: Path, names: Collection[str] = ()) -> list[Difference]:
    lock = read_lock(folder / "datasets.lock")
    assert lock is not None
    checks = check_lock(
        Catalog.open(folder),
        lock,
        Cache(cache_dir),
        names,
        unrun={},
        jobs=1,
        report=lambda *_: None,
    )
    return [difference for check in checks for difference in check.differences]


def test_fresh_lock_has_no_differences(folder: Path, cache_dir: Path) -> None:
    assert found(folder, cache_dir) == []


def test_only_a_local_dataset_needs_a_pin(folder: Path, cache_dir: Path) -> None:
    new = QA.replace("  qa:", "  new:").partition("\n")[2]
    (folder / "m" / "qa.yaml").write_text(QA + new + AWAY)
    hint = "`registry lock new` pins it"
    assert found(folder, cache_dir) == [Difference("new", "is not pinned", hint)]
    assert found(folder, cache_dir, ["qa", "away"]) == []


def test_a_package_that_is_not_installed_is_no_difference(
    folder: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = folder / "lib" / "lock_check_data"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "qa.csv").write_text("q,a\nOne?,1\n")
    manifest = QA.replace("qa.csv", "package:lock_check_data/qa.csv")
    (folder / "m" / "qa.yaml").write_text(
        manifest + manifest.partition("\n")[2].replace("qa:", "new:")
    )
    with monkeypatch.context() as patch:
        patch.syspath_prepend(folder / "lib")
        request = LockRequest(catalog=Catalog.open(folder), cache=Cache(cache_dir))
        results = lock_datasets(["qa"], request, jobs=1, report=lambda name, progress: None)
        write_lock(folder / "datasets.lock", new_lock((), results, {"qa"}))
        assert found(folder, cache_dir) == []
        (package / "qa.csv").write_text("q,a\nTwo?,2\n")
        (difference,) = found(folder, cache_dir)
        assert difference.message.endswith("lock_check_data/qa.csv differs from its pin")
    assert found(folder, cache_dir) == []


def test_pin_without_a_manifest_is_dropped_by_lock(folder: Path, cache_dir: Path) -> None:
    (folder / "m" / "qa.yaml").write_text("datasets: {}\n")
    hint = "`registry lock` drops it"
    assert found(folder, cache_dir) == [Difference("qa", "is pinned but in no manifest", hint)]


def test_changed_manifest_makes_a_pin_stale(folder: Path, cache_dir: Path) -> None:
    (folder / "m" / "qa.yaml").write_text(QA.replace("target: a", "target: q"))
    (difference,) = found(folder, cache_dir)
    assert difference.message.startswith("is pinned for an older manifest: ")
    assert difference.hint == "`registry lock qa` updates the pin"


def test_broken_manifest_is_a_difference(folder: Path, cache_dir: Path) -> None:
    (folder / "m" / "qa.yaml").write_text(QA.replace("type: csv, ", ""))
    (difference,) = found(folder, cache_dir)
    assert "m/qa.yaml:2:" in difference.message
    assert difference.hint == "fix the manifest"


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (
            "q,a\nTwo?,2\n",
            "differs from its pin",
            "`registry lock --upgrade qa` pins what is there now",
        ),
        (None, "no such file", "restore the file, or edit the manifest"),
    ],
)
def test_local_files_are_compared(
    folder: Path, cache_dir: Path, content: str | None, message: str, hint: str
) -> None:
    (folder / "qa.csv").unlink()
    if content is not None:
        (folder / "qa.csv").write_text(content)
    (difference,) = found(folder, cache_dir)
    assert (difference.name, difference.hint) == ("qa", hint)
    assert difference.message.endswith(message)
    assert str(difference) == f"qa: {difference.message} ({hint})"


def test_lockfile_must_have_the_bytes_that_lock_writes(folder: Path) -> None:
    path = folder / "datasets.lock"
    lock = read_lock(path) or Lock({})
    assert is_as_written(path, lock)
    path.write_text(path.read_text() + "\n")
    assert not is_as_written(path, lock)
