"""Processes of their own for Inspect AI: offline, with a provider of models that is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOBODY = "http://127.0.0.1:9"
"""A proxy that refuses every connection."""

Run = Callable[..., "subprocess.CompletedProcess[str]"]
"""Runs a module in an empty folder, and returns what it printed."""


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a function that runs a module in a process of its own, without a network."""
    packages = tmp_path_factory.mktemp("packages")
    metadata = packages / "known_model-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: known-model\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[inspect_ai]\nknown = tests.inspect.known_model\n")
    folder = tmp_path_factory.mktemp("work")
    names = ("PATH", "HOME", "LANG", "REGISTRY_SHARED_DATA")
    environment = {name: os.environ[name] for name in names if name in os.environ} | {
        "PYTHONPATH": f"{packages}{os.pathsep}{ROOT}",
        "REGISTRY_CACHE_DIR": str(tmp_path_factory.mktemp("cache")),
        "HF_HUB_OFFLINE": "1",
        "HTTPS_PROXY": NOBODY,
        "HTTP_PROXY": NOBODY,
        "XDG_DATA_HOME": str(folder / "data"),
        "COLUMNS": "200",
    }

    def run(*command: str, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *command],
            cwd=folder,
            env={**environment, "REGISTRY_ROOT": str(root)},
            capture_output=True,
            encoding="utf-8",
            timeout=900,
            check=False,
        )

    return run
