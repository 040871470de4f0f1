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
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["COLD", "HARMS", "WARM", "digest_of", "files_of", "outcomes", "verdict"]

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


def verdict(name: str, found: Mapping[str, str], right: Mapping[str, str], *, offline: bool) -> str:
    """Return what became of a dataset: right, reported, wrong, crash or not rebuilt."""
    text = found.get(name, "")
    if text == right[name]:
        return "right"
    if not text:
        return "crash"
    if len(text) == len(right[name]):
        return "wrong"
    return "reported" if offline else "not rebuilt"


def files_of(folder: Path) -> list[str]:
    """Return the relative paths of the files, but for locks, which say nothing about data."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(str(path) for path in paths if "locks" not in path.parts)


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
        if "harm" in damage:
            HARMS[damage["harm"]](cache / damage["path"], damage)
        result = {}
        for name in damage["names"]:
            try:
                dataset = get_dataset(name, root=root, offline=damage["offline"])
                result[name] = digest_of(dataset)
            except RegistryError as error:
                result[name] = f"{type(error).__name__}: {error}"
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()


def _restore(pristine: Path, cache: Path, changed: str) -> None:
    """Copy a cache by links, but for the file that is to be changed in place."""

    def copy(source: str, target: str) -> None:
        same = os.path.samefile(source, pristine / changed) if changed else False
        (shutil.copy2 if same else os.link)(source, target)

    shutil.rmtree(cache, ignore_errors=True)
    no_locks = shutil.ignore_patterns("locks")
    shutil.copytree(pristine, cache, copy_function=copy, ignore=no_locks)


def _flip(path: Path, damage: Mapping[str, Any]) -> None:
    with open(path, "r+b") as file:
        file.seek(damage["position"])
        (byte,) = file.read(1)
        file.seek(damage["position"])
        file.write(bytes([byte ^ damage["mask"]]))


def _write_zeros(path: Path, start: int) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:start] + bytes(len(data) - start))


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def _replace(path: Path, content: bytes | None) -> None:
    _remove(path)
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)


def _link(path: Path, target: str) -> None:
    _remove(path)
    path.symlink_to(target)


def _pipe(path: Path) -> None:
    _remove(path)
    os.mkfifo(path)


def _swap(path: Path, damage: Mapping[str, Any]) -> None:
    other = path.parents[len(Path(damage["path"]).parts) - 1] / damage["other"]
    between = path.with_name("between")
    path.rename(between)
    other.rename(path)
    between.rename(other)


HARMS: dict[str, Callable[[Path, Mapping[str, Any]], object]] = {
    "flip": _flip,
    "cut": lambda path, _: os.truncate(path, path.stat().st_size // 2),
    "cut by a byte": lambda path, _: os.truncate(path, path.stat().st_size - 1),
    "zeros at the end": lambda path, _: _write_zeros(path, path.stat().st_size // 2),
    "empty": lambda path, _: os.truncate(path, 0),
    "zero": lambda path, _: _write_zeros(path, 0),
    "longer": lambda path, _: path.write_bytes(path.read_bytes() + b"x"),
    "gone": lambda path, _: _remove(path),
    "foreign": lambda path, _: _replace(path, b"not what was here"),
    "deep JSON": lambda path, _: _replace(path, b"[" * 100_000),
    "folder": lambda path, _: _replace(path, None),
    "file": lambda path, _: _replace(path, b""),
    "link to nothing": lambda path, _: _link(path, "nothing"),
    "link to itself": lambda path, _: _link(path, path.name),
    "pipe": lambda path, _: _pipe(path),
    "extra file": lambda path, _: path.with_name("extra.arrow").write_bytes(b"x"),
    "swap": _swap,
}
"""What can be done to a file or a folder."""


if __name__ == "__main__":
    _main()
