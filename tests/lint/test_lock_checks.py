"""The checks of pins: lockfiles that can't be read, outdated pins, orphaned pins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from registry.base.materials import Material
from registry.boundary.boundary import Boundary
from registry.lint.lock_checks import (
    PinnedDataset,
    orphaned_pins,
    outside_path,
    read_lock_content,
    stale_lock,
)
from registry.lockfile.models import Lock, lock_text
from registry.lockfile.spec_digest import spec_digest
from registry.manifest.models import DatasetSpec
from registry.manifest.source_models import CsvSource
from registry.rules import Finding
from tests.lint.pins import DIGEST, pin

SPEC = DatasetSpec(name="d", source=CsvSource(path=("/c/x.csv",)), folder=Path("/c"))


def pinned(
    spec: DatasetSpec | None, digest: str = DIGEST, location: str = "x.csv"
) -> PinnedDataset:
    source = Material(location=location, size=3, sha256="0a" * 32)
    return PinnedDataset("d", pin(source, spec=digest), spec)


LOCK = lock_text(Lock({"d": pin(Material(location="x.csv", size=3, sha256="0a" * 32))}))


def test_pin_of_the_same_manifest_is_accepted() -> None:
    assert list(stale_lock(pinned(SPEC, spec_digest(SPEC)))) == []


def test_pin_of_an_older_manifest_is_reported_with_the_changes() -> None:
    (mapping,) = stale_lock(pinned(SPEC))
    (source,) = stale_lock(pinned(SPEC, location="old.csv"))
    assert mapping.path == source.path == ()
    assert mapping.message.startswith("pinned for an older manifest: ")
    assert source.message == "pinned for an older manifest: x.csv is not pinned"
    assert source.hint == "`registry lock d` updates the pin"


def test_pin_without_a_manifest_is_reported() -> None:
    message, hint = "'d' is pinned and in no manifest", "`registry lock` drops it"
    assert list(stale_lock(pinned(None))) == [Finding((), message, hint)]


def test_pinned_file_that_the_catalog_may_not_read_is_reported() -> None:
    boundary = Boundary().allowing(["/c"])
    inside, outside = (
        replace(pinned(SPEC, location=one), boundary=boundary) for one in ("x.csv", "/etc/passwd")
    )
    assert list(outside_path(inside)) == list(outside_path(pinned(None))) == []
    (found,) = outside_path(outside)
    assert found.message.startswith("datasets.lock pins '/etc/passwd', which ")
    assert found.hint == "restore it, or run `registry lock --upgrade d`"


def test_orphaned_pin_is_reported_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "datasets.lock"
    path.write_text(LOCK, encoding="utf-8")
    content = read_lock_content(path)
    assert content.problems == ()
    assert list(orphaned_pins(content, {"d"})) == []
    (problem,) = orphaned_pins(content, {"e"})
    assert (problem.line, problem.column, problem.path) == (5, 3, "$.datasets.d")
    assert (problem.rule, problem.severity) == ("stale-lock", "warning")


def test_missing_lockfile_has_no_pins(tmp_path: Path) -> None:
    content = read_lock_content(tmp_path / "datasets.lock")
    assert (content.lock.pins, content.documents, content.problems) == ({}, (), ())


@pytest.mark.parametrize(
    "text",
    [
        LOCK.replace("samples: 1", "samples: one"),
        LOCK.replace("version: 1", "version: 99"),
        LOCK + "<<<<<<< ours\n",
        "datasets: [",
    ],
)
def test_invalid_lockfile_is_one_blocking_problem_with_a_hint(tmp_path: Path, text: str) -> None:
    path = tmp_path / "datasets.lock"
    path.write_text(text, encoding="utf-8")
    content = read_lock_content(path)
    assert not content.lock.pins
    assert {(one.rule, one.severity) for one in content.problems} == {("bad-lock", "error")}
    assert all(one.hint for one in content.problems)
