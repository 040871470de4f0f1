"""The lock of a catalog that includes packages: its own rows, and theirs for the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry import Catalog, LockError
from registry.base.materials import Material
from registry.lockfile.catalog_lock import catalog_lock
from registry.lockfile.models import CommitPin, Lock, Pin, write_lock
from registry.lockfile.pin_cache import CatalogPins
from registry.settings import Settings

DIGEST = f"sha256:{'0' * 64}"
TABLE = "{source: {type: csv, path: x.csv}}"


def pin(samples: int) -> Pin:
    sources = (Material(location="x.csv", size=1, sha256="0" * 64),)
    return Pin(
        spec=DIGEST,
        sources=sources,
        samples=samples,
        columns=("q",),
        ordered=DIGEST,
        unordered=DIGEST,
        format=1,
    )


COMMIT = CommitPin(spec=DIGEST, sources=(Material(location="x", revision="0" * 40),), format=1)


def index(folder: Path, *names: str, include: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    datasets = ", ".join(f"{name}: {TABLE}" for name in names)
    text = f"version: 1\ninclude: [{include}]\ndatasets: {{{datasets}}}\n"
    (folder / "datasets.yaml").write_text(text, encoding="utf-8")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site" / "lock_lib"
    index(folder, "theirs", "both", "commit", "floating")
    (folder / "__init__.py").touch()
    pins = {"theirs": pin(1), "both": pin(2), "mine": pin(3)}
    write_lock(folder / "datasets.lock", Lock(pins, {"commit": COMMIT}))
    monkeypatch.syspath_prepend(str(folder.parent))
    return folder


@pytest.fixture
def root(tmp_path: Path, package: Path) -> Path:
    folder = tmp_path / "own"
    index(folder, "mine", include=f"'package:{package.name}'")
    write_lock(folder / "datasets.lock", Lock({"both": pin(4)}))
    return folder


def test_a_package_pins_its_own_datasets_alone(root: Path) -> None:
    catalog = Catalog.open(root)
    lock = catalog_lock(catalog)
    assert {name: one.samples for name, one in lock.pins.items()} == {"theirs": 1, "both": 4}
    assert dict(lock.commits) == {"commit": COMMIT}
    pins = CatalogPins.read(Settings.from_environment(root=root))
    found = {name: pins.get(name, catalog.entries[name].folder) for name in catalog}
    assert {name: one for name, one in found.items() if one is not None} == lock.pins, "one meaning"


def test_without_any_lockfile_nothing_is_locked(root: Path, package: Path) -> None:
    (root / "datasets.lock").unlink()
    (package / "datasets.lock").unlink()
    assert catalog_lock(Catalog.open(root)) == Lock()


def test_an_invalid_lockfile_of_a_package_is_an_error_with_its_file(
    root: Path, package: Path
) -> None:
    (package / "datasets.lock").write_text("version: 1\ndatasets: []\n", encoding="utf-8")
    with pytest.raises(LockError, match=r"lock_lib/datasets\.lock:2"):
        catalog_lock(Catalog.open(root))
