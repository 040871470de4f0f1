"""Run the command line as its users do: a process, in the folder of their catalog."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Ended", "registry", "registry_each", "write_catalog"]


@dataclass(frozen=True)
class Ended:
    """What a process left behind."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """All that it printed."""
        return self.out + self.err


def write_catalog(folder: Path, datasets: str, *, index: str = "") -> Path:
    """Write the index of a catalog, `datasets` is the YAML below that key; return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = f"version: 1\n{index}datasets:\n{datasets}"
    (folder / "datasets.yaml").write_text(text, encoding="utf-8")
    return folder


def registry(folder: Path, *arguments: str, **environment: str) -> Ended:
    """Run `registry ARGUMENTS`; it ends in time, and reports every fault as its own."""
    return _run(folder, ["-m", "registry", *arguments], environment)


def registry_each(folder: Path, *commands: str, **environment: str) -> Ended:
    """Run commands in one process, which is faster; the code is that of the worst."""
    return _run(folder, ["-c", _EACH, *commands], environment)


_SECONDS = 180
_EACH = """
import sys
from registry.cli import main
sys.exit(max([main(line.split()) for line in sys.argv[1:]]))
"""


def _run(folder: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> Ended:
    done = subprocess.run(
        [sys.executable, "-I", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=_SECONDS,
        check=False,
    )
    ended = Ended(done.returncode, done.stdout, done.stderr)
    assert ended.code in (0, 1, 2, 4, 130), ended.text
    assert "Traceback" not in ended.text
    return ended
