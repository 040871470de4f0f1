"""Versions, the catalog and its lockfile are checked."""

from __future__ import annotations

import os
import shutil
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from registry.lockfile.models import PIN_FORMAT
from registry.plugins.doctor import Observation
from registry.plugins.doctor.setup import (
    cache_observations,
    catalog_observations,
    open_catalog,
    version_observations,
)
from registry.settings import Settings
from tests.cli.invocation import SYNTAX, Run, write


def found() -> dict[str, Observation]:
    settings = Settings.from_environment()
    catalog = open_catalog(settings)
    if isinstance(catalog, Observation):
        return {catalog.name: catalog}
    return {one.name: one for one in catalog_observations(settings, catalog)}


def test_versions_are_those_that_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {one.name: one for one in version_observations()}
    assert {one.status for one in versions.values()} == {"ok"}
    assert f"pyarrow {metadata.version('pyarrow')}" in versions["packages"].text
    requires = ["pyarrow>=9999", "nothing-of-this-name>=1", "dask>=1; extra == 'dask'"]
    monkeypatch.setattr(metadata, "requires", lambda name: requires)
    packages = {one.name: one for one in version_observations()}["packages"]
    assert packages.status == "fail"
    version = metadata.version("pyarrow")
    assert (
        packages.text == f"pyarrow is {version}, not >=9999; nothing-of-this-name is not installed"
    )
    assert packages.next == "pip install --upgrade eval-registry"


def test_catalog_and_lock_are_counted(run: Run, own: Path) -> None:
    before = found()
    assert before["catalog"].text == "datasets.yaml: 2 datasets"
    assert (before["lock"].status, before["lock"].next) == ("warn", "registry lock")
    assert run("lock").code == 0
    assert found()["lock"].text == "datasets.lock pins 2 of 2 datasets"


def test_stale_and_orphaned_pins_are_named(run: Run, own: Path) -> None:
    assert run("lock").code == 0
    manifest = own / "m" / "qa.yaml"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace("target: a", "target: q"), encoding="utf-8")
    lock = found()["lock"]
    assert (lock.status, lock.next) == ("warn", "registry lock")
    assert lock.text.endswith("for an older manifest: qa, qa-one")
    manifest.write_text(text.replace("  qa-one", "  qa-two"), encoding="utf-8")
    assert found()["lock"].text.endswith("some that are gone: qa-one")
    manifest.write_text(text.replace("target: a", "target: [a"), encoding="utf-8")
    assert found()["lock"].status == "ok"  # nobody knows what is in a file that can't be read
    manifest.write_text(text, encoding="utf-8")
    file = own / "datasets.lock"
    newer = file.read_text("utf-8").replace(f"format: {PIN_FORMAT}", f"format: {PIN_FORMAT + 1}")
    file.write_text(newer, encoding="utf-8")
    lock = found()["lock"]
    assert lock.text.endswith("by a newer release: qa, qa-one")
    assert (lock.status, lock.next) == ("warn", "upgrade eval-registry")


def test_problems_are_counted_and_broken_files_fail(own: Path) -> None:
    write(own, "syntax", SYNTAX)
    catalog = found()["catalog"]
    assert (catalog.status, catalog.next) == ("warn", "registry validate")
    (own / "datasets.lock").write_text("version: [", encoding="utf-8")
    assert found()["lock"].status == "fail"
    (own / "datasets.yaml").write_text("version: [", encoding="utf-8")
    (broken,) = found().values()
    assert (broken.name, broken.status) == ("catalog", "fail")
    assert "datasets.yaml" in broken.text


def found_in(folder: Path) -> dict[str, Observation]:
    return {one.name: one for one in cache_observations(folder)}


def test_cache_that_is_not_there_yet_is_fine_and_stays_away(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "cache"
    observations = found_in(folder)
    assert {name: one.status for name, one in observations.items()} == {"cache": "ok", "disk": "ok"}
    assert observations["cache"].text.startswith(f"{folder}, format ")
    assert not folder.parent.exists()


def test_content_is_counted(run: Run, own: Path, cache_dir: Path) -> None:
    assert run("sync", "qa").code == 0
    observations = found_in(cache_dir)
    assert {one.status for one in observations.values()} == {"ok"}
    assert observations["cache content"].text.startswith("1 item ")


def test_damaged_old_and_foreign_files_are_named(run: Run, own: Path, cache_dir: Path) -> None:
    assert run("sync", "qa").code == 0
    (entry,) = cache_dir.glob("v3/samples/*")
    (entry / "meta.json").write_bytes(b"{}")
    (cache_dir / "v3" / "notes.txt").write_text("mine", encoding="utf-8")
    (cache_dir / "v1").mkdir()
    observations = found_in(cache_dir)
    content = observations["cache content"]
    assert (content.status, content.text) == ("warn", "1 item damaged")
    assert content.next == "registry cache verify"
    assert observations["cache files"].text.endswith("v3: notes.txt")
    assert str(cache_dir / "v1") in observations["cache formats"].next
    assert entry.exists()


def test_folder_that_can_t_be_written_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    cache = found_in(tmp_path / "file")["cache"]
    assert (cache.status, cache.next) == (
        "fail",
        "set REGISTRY_CACHE_DIR to a folder of your own, with space",
    )


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_folder_that_others_can_write_fails(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    (cache,) = found_in(folder).values()
    assert cache.status == "fail"
    assert "writable by every user" in cache.text


def test_little_space_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def usage(path: Any) -> Any:
        return type("Usage", (), {"free": 1000})

    monkeypatch.setattr(shutil, "disk_usage", usage)
    disk = found_in(tmp_path)["disk"]
    assert (disk.status, disk.text) == ("warn", "1.0 kB free")
