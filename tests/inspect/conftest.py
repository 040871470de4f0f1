"""Processes of their own for Inspect AI: offline, with a provider of models that is installed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from tests.inspect.forks import run_module

ROOT = Path(__file__).parents[2]
IS_OLDEST = version("inspect_ai") == "0.3.240"
"""Whether this is the oldest supported version of Inspect AI, with which `make inspect` runs this."""
_NOBODY = "http://127.0.0.1:9"
"""A proxy that refuses every connection."""

Run = Callable[..., str]
"""Runs a module as `python -m` does, and returns its output, or if there is none its errors."""
Evaluate = Callable[..., dict[str, Any]]
"""Runs `inspect eval`, and returns its log."""


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the home folder of somebody, with an empty folder `work`."""
    folder = tmp_path_factory.mktemp("home") / "jane"
    (folder / "work").mkdir(parents=True)
    return folder


@pytest.fixture(scope="session")
def run(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a function that runs a module in a process of its own, without a network."""
    packages = tmp_path_factory.mktemp("packages")
    metadata = packages / "known_model-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: known-model\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[inspect_ai]\nknown = tests.inspect.known_model\n")
    names = ("PATH", "LANG", "REGISTRY_SHARED_DATA")
    environment = {name: os.environ[name] for name in names if name in os.environ} | {
        "HOME": str(home),
        "HF_HUB_OFFLINE": "1",
        "HTTPS_PROXY": _NOBODY,
        "HTTP_PROXY": _NOBODY,
        "COLUMNS": "200",
    }

    def run(*command: str, root: Path | None = ROOT, code: int = 0) -> str:
        rooted = environment if root is None else {**environment, "REGISTRY_ROOT": str(root)}
        found, out, err = run_module(command, home / "work", rooted, packages)
        assert found == code, out + err
        return out or err

    return run


@pytest.fixture
def evaluate(run: Run, tmp_path: Path) -> Evaluate:
    """Return a function that evaluates a dataset or a group by the task of its kind."""

    def evaluate(
        kind: str, name: str, *options: str, model: str = "known/right", root: Path = ROOT
    ) -> dict[str, Any]:
        logs = Path(mkdtemp(dir=tmp_path))
        named = (f"registry/{kind}", "-T", argument(kind, name), "--model", model)
        written = ("--log-format", "json", "--log-dir", str(logs), "--display", "plain")
        run("inspect_ai", "eval", *named, *written, *options, root=root)
        (path,) = logs.glob("*.json")
        log: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        assert log["status"] == "success"
        return log

    return evaluate


def argument(kind: str, name: str) -> str:
    """Return the argument of a task that names its dataset or group."""
    # Up to some version, Inspect passes the arguments of a task beside one of its own, `name`.
    return f"{kind if IS_OLDEST else 'name'}={name}"
