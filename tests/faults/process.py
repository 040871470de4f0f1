"""Run the command line as its users do; it ends in time, and reports every fault as its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.command_line import Ran, run_each

__all__ = ["datasets_of", "registry", "registry_each", "write_catalog"]


def write_catalog(folder: Path, datasets: str, *, index: str = "") -> Path:
    """Write the index of a catalog, `datasets` is the YAML below that key; return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = f"version: 1\n{index}datasets:\n{datasets}"
    (folder / "datasets.yaml").write_text(text, encoding="utf-8")
    return folder


def datasets_of(kind: str, paths: Mapping[str, str], more: str = "") -> str:
    """Return the YAML of datasets, by their names, of a source of one type and path each."""
    return "".join(
        f"  {name}: {{source: {{type: {kind}, path: {path}}}{more}}}\n"
        for name, path in paths.items()
    )


def registry(folder: Path, *arguments: str, **environment: str) -> Ran:
    """Run `registry ARGUMENTS`."""
    return _ended(run_each(folder, [arguments], environment=environment))


def registry_each(folder: Path, *commands: str, **environment: str) -> Ran:
    """Run commands in one process; the code is that of the worst."""
    return _ended(run_each(folder, [line.split() for line in commands], environment=environment))


def _ended(ran: Ran) -> Ran:
    assert ran.code in (0, 1, 2, 4, 130), ran.text
    assert "Traceback" not in ran.text
    return ran
