"""Tests mirror the packages: a module's test is found by the module's name."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "registry"

# A module without its own test file, and the test that covers it instead.
WITHOUT_OWN_TEST: dict[str, str] = {
    "__main__.py": "one function; tests/cli/test_cli.py runs it as a process",
    "sources/hub/reading.py": "runs in a process of its own, for sources/hub/test_records.py and sources/test_facts.py",
    "plugins/cluster/ray_worker.py": "plugins/cluster/test_ray_engine.py, where there is Ray",
    "cache/remote.py": "protocols alone; mypy compares them with the plugin",
}

MODULES = sorted(
    str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if path.name != "__init__.py"
)


def own_test_of(module: str) -> Path:
    """Return where the tests of a module are found."""
    path = Path("tests") / module
    return ROOT / path.with_name(f"test_{path.name}")


def test_every_module_has_a_test_file_or_a_listed_reason() -> None:
    tested = {module for module in MODULES if own_test_of(module).exists()}
    assert set(MODULES) - tested == WITHOUT_OWN_TEST.keys()


def test_listed_reasons_refer_to_existing_modules() -> None:
    assert set(MODULES) >= WITHOUT_OWN_TEST.keys()


def test_no_folder_has_more_than_sixteen_modules() -> None:
    counts = {folder: len(list(folder.glob("*.py"))) for folder in (SOURCE, *SOURCE.rglob("*/"))}
    assert max(counts.values()) <= 16


def test_pytest_collects_every_test_folder(request: pytest.FixtureRequest) -> None:
    skipped = request.config.getini("norecursedirs")
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    assert ROOT / "tests" / "pipeline" in folders
    assert [
        folder
        for folder in folders
        for part in folder.relative_to(ROOT).parts
        if any(fnmatch(part, pattern) for pattern in skipped)
    ] == []
