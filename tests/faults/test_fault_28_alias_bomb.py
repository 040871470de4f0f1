"""A YAML alias bomb, in a manifest or a lockfile, is an error with its line, and not work without end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.process import registry, write_catalog


def bomb(levels: int) -> str:
    """Return lists of ten aliases of the list before, which hold 10^levels words."""
    lists = [
        f"    - &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, levels)
    ]
    return "    - &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(lists)


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    (tmp_path / "d.csv").write_text("input,target\n1,2\n")
    return write_catalog(tmp_path, "  d:\n    source: {type: csv, path: d.csv}\n")


@pytest.mark.parametrize("command", ["validate", "sync d"])
def test_a_bomb_in_a_manifest(catalog: Path, command: str) -> None:
    index = catalog / "datasets.yaml"
    index.write_text(f"{index.read_text()}    tags:\n{bomb(9)}")
    ended = registry(catalog, *command.split())
    assert ended.code == 1
    assert "datasets.yaml:10:22 $: more than 32 aliases (use `extends`" in ended.text


def test_a_bomb_in_a_lockfile(catalog: Path) -> None:
    assert registry(catalog, "lock").code == 0
    lockfile = catalog / "datasets.lock"
    lockfile.write_text(f"{lockfile.read_text()}    tags:\n{bomb(9)}")
    ended = registry(catalog, "sync", "--locked")
    assert ended.code == 1
    assert "datasets.lock:" in ended.text
    assert "more than 32 aliases" in ended.text
