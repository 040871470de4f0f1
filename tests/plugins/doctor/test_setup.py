"""Versions, the catalog and its lockfile are checked."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from registry.plugins.doctor.observation import Observation
from registry.plugins.doctor.setup import catalog_observations, open_catalog, version_observations
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
