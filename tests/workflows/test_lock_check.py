"""The disagreements between a lockfile and the manifests of its catalog."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import pytest
from msgspec.structs import replace

from registry.base.digest import digest_of
from registry.base.local_files import FileState
from registry.base.materials import Original
from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.lockfile.models import Lock, Pin, read_lock, write_lock
from registry.progress import silent
from registry.workflows import lock_check
from registry.workflows.lock import LockRequest, lock_datasets, new_lock
from registry.workflows.lock_check import check_lock, check_pin, is_as_written
from registry.workflows.pin_check import Difference, PinCheck, Reason
from tests.workflows.conftest import QA

AWAY = "  away: {source: {type: csv, path: 'https://127.0.0.1:1/qa.csv'}}\n"


@pytest.fixture(autouse=True)
def pin(folder: Path, cache_dir: Path) -> Pin:
    return lock(folder, cache_dir)


def lock(folder: Path, cache_dir: Path) -> Pin:
    """Write the lockfile of `qa`, and return its pin."""
    request = LockRequest(catalog=Catalog.open(folder), cache=Cache(cache_dir))
    results = list(lock_datasets(["qa"], request, jobs=1, report=lambda *_: None))
    write_lock(folder / "datasets.lock", new_lock((), results, {"qa"}))
    assert results[0].pin is not None
    return results[0].pin


def found(folder: Path, cache_dir: Path, names: Collection[str] = ()) -> list[Difference]:
    lock, catalog = read_lock(folder / "datasets.lock"), Catalog.open(folder)
    assert lock is not None
    checks = check_lock(
        catalog,
        lock,
        Cache(cache_dir),
        names or {*lock.names, *catalog},
        unrun={},
        jobs=1,
        report=lambda *_: None,
    )
    return [difference for check in checks for difference in check.differences]


def test_fresh_lock_has_no_differences(folder: Path, cache_dir: Path) -> None:
    assert found(folder, cache_dir) == []


def test_a_digest_is_not_taken_from_the_cache(folder: Path, cache_dir: Path) -> None:
    path = str(folder / "qa.csv")
    wrong = {"state": FileState.of(path), "sha256": "0" * 64, "racy": False}
    Cache(cache_dir).remember(digest_of({"local": path}), wrong)
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
        lock(folder, cache_dir)
        assert found(folder, cache_dir) == []
        (package / "qa.csv").write_text("q,a\nTwo?,2\n")
        (difference,) = found(folder, cache_dir)
        assert difference.message.endswith("lock_check_data/qa.csv differs from its pin")
    assert found(folder, cache_dir) == []


@pytest.mark.parametrize(
    ("manifest", "message", "hint"),
    [
        ("datasets: {}\n", "is pinned but in no manifest", "`registry lock` drops it"),
        ("datasets: [\n", "is pinned, and may be in a file with errors: ", "fix the file"),
    ],
)
def test_pin_without_a_manifest_is_dropped_by_lock_unless_a_file_may_have_it(
    folder: Path, cache_dir: Path, manifest: str, message: str, hint: str
) -> None:
    (folder / "m" / "qa.yaml").write_text(manifest)
    (difference,) = found(folder, cache_dir)
    assert (difference.name, difference.hint) == ("qa", hint)
    assert difference.message.startswith(message)


def test_samples_without_corrections_are_pinned_with_corrections_alone(
    folder: Path, cache_dir: Path, pin: Pin
) -> None:
    original = Original(samples=2, ordered=pin.ordered, unordered=pin.unordered)
    (without,) = check(folder, replace(pin, original=original), cache_dir).differences
    assert without.message == "it has no corrections, its pin has"
    row = '{record: 1, field: target, was: "1", now: one, reason: a typo}'
    (folder / "errata.yaml").write_text(f"corrections:\n- {row}\n")
    (folder / "m" / "qa.yaml").write_text(QA.replace("}}\n", "}, corrections: errata.yaml}\n"))
    corrected = lock(folder, cache_dir)
    assert corrected.original == original
    assert check(folder, corrected, cache_dir).differences == []
    (lacking,) = check(folder, replace(corrected, original=None), cache_dir).differences
    assert lacking.message == "its pin has no samples without corrections"
    other = replace(original, ordered=corrected.ordered)
    (differing,) = check(folder, replace(corrected, original=other), cache_dir).differences
    assert differing.message.startswith("original.ordered is 'sha256:")


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


def check(folder: Path, pin: Pin, cache_dir: Path, *, build: bool = True) -> PinCheck:
    catalog = Catalog.open(folder)
    return check_pin(catalog["qa"], pin, catalog, Cache(cache_dir), build=build, report=silent)


def test_samples_are_built_where_they_are_not_cached(
    folder: Path, pin: Pin, tmp_path: Path
) -> None:
    cold = tmp_path / "cold"
    unbuilt = check(folder, pin, cold, build=False)
    assert unbuilt.differences == []
    assert {one.reason for one in unbuilt.unchecked} == {Reason.SAMPLES}
    built = check(folder, replace(pin, samples=7), cold)
    assert [one.message for one in built.differences] == ["samples is 7 in its pin, but 2"]
    assert built.unchecked == []
    assert check(folder, pin, cold, build=False).unchecked == []


def test_large_sources_are_not_built(
    folder: Path, pin: Pin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_check, "BUILD_BYTES", 10)
    found = check(folder, pin, tmp_path / "cold")
    assert {one.reason for one in found.unchecked} == {Reason.LARGE}


def samples_file(cache_dir: Path) -> Path:
    (path,) = cache_dir.glob("v*/samples/*/samples.arrow")
    return path


def age(path: Path) -> None:
    """Make a file old enough for its state to be remembered."""
    os.utime(path, (1e9, 1e9))


def test_cached_samples_are_digested_once(
    folder: Path, pin: Pin, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    age(samples_file(cache_dir))
    assert check(folder, pin, cache_dir).unchecked == []
    with monkeypatch.context() as patch:
        for name in ("load", "open_cached", "digest_samples", "first_columns"):
            patch.setattr(lock_check, name, None)
        assert check(folder, pin, cache_dir).differences == []
        (difference,) = check(folder, replace(pin, columns=("q",)), cache_dir).differences
        assert difference.message == "columns is ['q'] in its pin, but ['q', 'a']"


def test_samples_edited_in_the_cache_are_built_again(
    folder: Path, pin: Pin, cache_dir: Path
) -> None:
    path = samples_file(cache_dir)
    age(path)
    check(folder, pin, cache_dir)
    before = path.read_bytes()
    path.write_bytes(before.replace(b"One?", b"Ten?"))
    age(path)  # no edit can restore the time of the change itself
    assert check(folder, pin, cache_dir).differences == []
    assert samples_file(cache_dir).read_bytes() == before


def test_data_that_no_longer_builds_is_a_difference(folder: Path, pin: Pin, tmp_path: Path) -> None:
    (folder / "m" / "qa.yaml").write_text(QA.replace("}}\n", "}, expect: {samples: 9}}\n"))
    (difference,) = check(folder, pin, tmp_path / "cold").differences
    assert "expect" in difference.message
    assert difference.hint == ""  # the message ends with its own
