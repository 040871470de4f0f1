"""A `sync` by a cluster that is lost after the first dataset."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from registry.base.cache_access import CACHE_FORMAT
from tests.workflows.conftest import MakeCatalog

__all__ = ["check_lost"]

FEW = "{source: {type: json, path: '../../p0000.jsonl'}, fields: {input: q, target: a}}"


def check_lost(
    make_catalog: MakeCatalog,
    folder: Path,
    engine: str,
    address: str,
    kill: Callable[[], None],
    *,
    what: str,
    records: int,
) -> None:
    """Kill `what` when `few` is cached: the command says so, with `many`, and what to do."""
    make_catalog(files=40, records=records, few=FEW.replace("../..", str(folder)))
    command = [sys.executable, "-m", "registry", "sync", "--engine", engine, "--jobs", "1"]
    running = subprocess.Popen(
        [*command, "--scheduler", address, "few", "many"],
        cwd=folder / "catalog",
        env={**os.environ, "REGISTRY_CACHE_DIR": str(folder / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    samples = folder / "cache" / f"v{CACHE_FORMAT}" / "samples"
    while not samples.is_dir() or not any(samples.iterdir()):
        assert running.poll() is None, running.communicate()
        time.sleep(0.02)
    kill()
    out, err = running.communicate(timeout=120)
    assert running.returncode == 1, err
    assert "few" in out, (out, err)
    # The samples of `few` are there, but its result may not have been told.
    assert f"{what} was lost before the samples were built" in err, err
    assert "many" in err
    assert "run the command again: what was built is cached" in err
    assert "Traceback" not in err
    assert "bug" not in err
