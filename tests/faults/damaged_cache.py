"""A warm cache of several datasets, and a process that loads them after each damage to it.

    python -m tests.faults.damaged_cache ROOT PRISTINE

reads damages from its input, a JSON object on each line, and prints what each dataset was then. For
each, the cache of the environment is made anew from the folder PRISTINE.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["COLD", "WARM", "digest_of", "files_of", "outcomes"]

WARM = ("web", "hub", "local")
"""Datasets whose samples are in the cache."""
COLD = ("web-again", "hub-again")
"""Datasets that are built from bytes in the cache."""
_TIMEOUT = 1800


def outcomes(
    root: Path, pristine: Path, damages: Sequence[Mapping[str, Any]]
) -> list[dict[str, str]]:
    """Return the digest, or the error, of each dataset after each damage; {} for a crash."""
    found: list[dict[str, str]] = []
    while len(found) < len(damages):
        lines = "".join(json.dumps(damage) + "\n" for damage in damages[len(found) :])
        command = [sys.executable, "-m", "tests.faults.damaged_cache", str(root), str(pristine)]
        done = subprocess.run(
            command,
            input=lines,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            timeout=_TIMEOUT,
            cwd=Path(__file__).parents[2],
        )
        found += map(json.loads, done.stdout.splitlines())
        if done.returncode != 0:  # the process died of the damage after those that it reported
            found.append({})
    return found


def files_of(folder: Path) -> list[str]:
    """Return the relative paths of the files with content, without locks."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    return sorted(str(path.relative_to(folder)) for path in paths)


def digest_of(dataset: Iterable[Any]) -> str:
    """Return a digest of the content of samples in their order."""
    found = hashlib.sha256()
    for sample in dataset:
        found.update(repr(sorted(vars(sample).items())).encode())
    return found.hexdigest()


def _main() -> None:
    from registry import RegistryError, get_dataset

    root, pristine, cache = sys.argv[1], Path(sys.argv[2]), Path(os.environ["REGISTRY_CACHE_DIR"])
    for line in sys.stdin:
        damage = json.loads(line)
        _restore(pristine, cache, damage.get("path", ""))
        _apply(cache, damage)
        result = {}
        for name in damage["names"]:
            try:
                dataset = get_dataset(name, root=root, offline=damage["offline"])
                result[name] = digest_of(dataset)
            except RegistryError as error:
                result[name] = f"{type(error).__name__}: {error}"
            except Exception as error:  # a foreign error is a fault of ours
                result[name] = f"foreign {type(error).__name__}: {error}"
        print(json.dumps(result), flush=True)


def _restore(pristine: Path, cache: Path, changed: str) -> None:
    """Copy a cache by links, but for the file that is to be changed in place."""

    def copy(source: str, target: str) -> None:
        same = os.path.samefile(source, pristine / changed) if changed else False
        (shutil.copy2 if same else os.link)(source, target)

    shutil.rmtree(cache, ignore_errors=True)
    shutil.copytree(pristine, cache, copy_function=copy)


def _apply(cache: Path, damage: Mapping[str, Any]) -> None:
    if "position" in damage:
        with open(cache / damage["path"], "r+b") as file:
            file.seek(damage["position"])
            (byte,) = file.read(1)
            file.seek(damage["position"])
            file.write(bytes([byte ^ damage["mask"]]))


if __name__ == "__main__":
    _main()
