"""Datasets of installed packages, compared with the digests of their pins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from registry.base.materials import Material
from registry.diff.checkout import folder_checkout
from registry.diff.snapshots.contents import Contents, read_contents
from registry.diff.snapshots.packages import PACKAGE_KEY, changed_in_packages, package_notes
from registry.lockfile.models import Lock, lock_text, parse_lock
from registry.lockfile.origins import pin_origins
from registry.lockfile.spec_digest import spec_digest
from registry.yamldoc.reader import parse_yaml
from tests.lockfile.pins import DIGEST as OTHER
from tests.lockfile.pins import pin_of

INDEX = (
    "version: 1\ninclude: [package:registry]\n"
    "datasets: {own: {source: {type: csv, path: a.csv}}, mine: {extends: demo-mcq, limit: 3}}\n"
)


def pinned(contents: Contents, **specs: str) -> Contents:
    """Return contents with pins for manifests with these digests."""
    sources = (Material(location="a", size=1, sha256="0" * 64),)
    pins = {
        name.replace("_", "-"): pin_of(spec=spec, sources=sources) for name, spec in specs.items()
    }
    text = lock_text(Lock(pins))
    lock = parse_lock(text.encode(), "datasets.lock")
    origins = pin_origins([parse_yaml(text, file="datasets.lock")])
    return replace(contents, lock=lock, pins=origins)


@pytest.fixture(scope="module")
def side(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    folder = tmp_path_factory.mktemp("catalog")
    (folder / "datasets.yaml").write_text(INDEX)
    return read_contents(folder_checkout(folder / "datasets.yaml", "x"))


def test_pins_for_the_installed_version_are_no_difference(side: Contents) -> None:
    same = pinned(side, demo_mcq=spec_digest(side.specs["demo-mcq"]))
    assert changed_in_packages(same, same) == {}
    assert changed_in_packages(side, side) == {}


def test_base_that_is_pinned_for_another_version_differs(side: Contents) -> None:
    base = pinned(side, demo_mcq=OTHER, mine=OTHER, own=OTHER)
    found = changed_in_packages(base, side)
    assert list(found) == ["demo-mcq", "mine"], "a dataset of no package has its own manifest"
    old, new = found["demo-mcq"]
    assert (old.key, old.value, old.layer) == (PACKAGE_KEY, OTHER, "lock")
    assert new.value == spec_digest(side.specs["demo-mcq"])
    assert new.place.startswith("registry")


def test_head_that_is_pinned_for_another_version_differs(side: Contents) -> None:
    old, new = changed_in_packages(side, pinned(side, demo_mcq=OTHER))["demo-mcq"]
    assert (old.value, new.value) == (spec_digest(side.specs["demo-mcq"]), OTHER)


def test_change_of_the_own_manifest_explains_a_stale_pin(side: Contents, tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").write_text(INDEX.replace("limit: 3", "limit: 4"))
    head = read_contents(folder_checkout(tmp_path / "datasets.yaml", "x"))
    assert changed_in_packages(side, pinned(head, mine=OTHER)) == {}


def test_note_names_the_version_and_what_has_no_pin(side: Contents) -> None:
    (note,) = package_notes(pinned(side, demo_mcq=OTHER), side)
    assert note.startswith("package registry")
    assert ": both sides are read from the installed version, and 1 of " in note
    assert note.endswith(" more (`registry lock` pins them)")
