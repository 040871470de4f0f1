"""The samples in a pin are compared with those in the cache, or built where that is cheap."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.lockfile.models import Pin
from registry.progress import silent
from registry.workflows import samples_check
from registry.workflows.lock import LockRequest, lock_datasets
from registry.workflows.lock_check import check_pin
from registry.workflows.pin_check import PinCheck, Reason

QA = """\
datasets:
  qa: {source: {type: csv, path: qa.csv}, fields: {input: q, target: a}, limit: 2}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a catalog with one dataset, `qa`."""
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / "datasets.yaml").write_text("version: 1\ninclude: [qa.yaml]\n")
    (folder / "qa.yaml").write_text(QA)
    (folder / "qa.csv").write_text("q,a\nOne?,1\nTwo?,2\nThree?,3\n")
    return folder


@pytest.fixture
def pin(folder: Path, cache_dir: Path) -> Pin:
    request = LockRequest(catalog=Catalog.open(folder), cache=Cache(cache_dir))
    (result,) = lock_datasets(["qa"], request, jobs=1, report=lambda *_: None)
    assert result.pin is not None
    return result.pin


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
    monkeypatch.setattr(samples_check, "BUILD_BYTES", 10)
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
            patch.setattr(samples_check, name, None)
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
    (folder / "qa.yaml").write_text(QA.replace("limit: 2}", "limit: 2, expect: {samples: 9}}"))
    (difference,) = check(folder, pin, tmp_path / "cold").differences
    assert "expect" in difference.message
    assert difference.hint == ""  # the message ends with its own
