"""The wheel, built from this checkout with its build system, contains all required files."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from email import message_from_bytes
from importlib.metadata import version
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from registry.settings import INDEX_NAME

ROOT = Path(__file__).parents[1]
DIST_INFO = f"eval_registry-{version('eval-registry')}.dist-info"
DATA = DIST_INFO.replace(".dist-info", ".data")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    (built,) = WheelBuilder(str(ROOT)).build(
        directory=str(tmp_path_factory.mktemp("wheel")), versions=["standard"]
    )
    return zipfile.ZipFile(built)


def files_below(folder: str, pattern: str) -> set[str]:
    return {path.relative_to(ROOT / folder).as_posix() for path in (ROOT / folder).rglob(pattern)}


@pytest.mark.parametrize(
    "name", ["py.typed", "datasets.yaml", "datasets.lock", "action.yml", "__main__.py"]
)
def test_wheel_contains_required_file(wheel: zipfile.ZipFile, name: str) -> None:
    assert f"registry/{name}" in wheel.namelist()


@pytest.mark.parametrize(
    ("folder", "pattern", "target"),
    [
        ("src/registry", "*.py", "registry"),
        ("src/registry", "*.html", "registry"),
        ("src/registry", "*.[cj]s*", "registry"),
        ("registry", "*.*", "registry/registry"),
        ("schemas", "*.json", "registry/schemas"),
    ],
    ids=["modules", "templates", "styles and scripts", "manifests and their data", "schemas"],
)
def test_wheel_contains_every_data_file(
    wheel: zipfile.ZipFile, folder: str, pattern: str, target: str
) -> None:
    files = files_below(folder, pattern)
    assert files
    assert {f"{target}/{name}" for name in files} <= set(wheel.namelist())


def test_wheel_contains_nothing_else(wheel: zipfile.ZipFile) -> None:
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert tops == {"registry", DIST_INFO, DATA}
    shared = {name for name in wheel.namelist() if name.startswith(DATA)}
    assert shared == {f"{DATA}/data/share/man/man1/registry.1"}
    assert not [name for name in wheel.namelist() if name.endswith((".pyc", ".orig"))]


def test_metadata_name_the_license_and_the_types(wheel: zipfile.ZipFile) -> None:
    metadata = message_from_bytes(wheel.read(f"{DIST_INFO}/METADATA"))
    assert metadata["License-Expression"] == "MIT"
    assert f"{DIST_INFO}/licenses/LICENSE" in wheel.namelist()
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])
    # PEP 639: an SPDX expression replaces the classifiers of licenses.
    assert not [one for one in metadata.get_all("Classifier", []) if one.startswith("License ::")]


def test_command_line_runs_from_the_wheel(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """Unpack it as an installer does: the built-in catalog is then inside the package."""
    wheel.extractall(tmp_path / "site")
    code = (
        "from registry import get_dataset; from registry.settings import builtin_root;"
        "print(builtin_root(), len(get_dataset('demo-mcq-small')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(tmp_path / "site" / "registry" / INDEX_NAME), "10"]
