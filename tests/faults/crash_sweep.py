"""Kill a command at each change that it makes to a file, and see what the next one makes of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import Https
from tests.faults.crashes import Crashes
from tests.servers.hub import HubEmulator, parquet_repo

__all__ = ["Site", "points", "site", "sweep"]

NAMES = ("local", "remote", "hub")
PREVIEWS = [f"preview {name} -n 9 --json" for name in NAMES]
_DAY = 86_400
_SAMPLE = 4
_SAMPLED = {"write", "fsync", "rename", "unlink"}


class Site:
    """A catalog of a local file, a remote file and a Hub dataset, with a cache that is reset."""

    def __init__(self, folder: Path, https: Https, hub: HubEmulator) -> None:
        self.folder, self._https, self._hub = folder, https, hub
        self.catalog, self.cache = folder / "catalog", folder / "cache"
        self.lockfile = self.catalog / "datasets.lock"
        self.catalog.mkdir()
        self.publish(1)
        (self.catalog / "datasets.yaml").write_text(
            "version: 1\n"
            "datasets:\n"
            "  local: {source: {type: csv, path: d.csv}, shuffle: true, seed: 1, limit: 3}\n"
            f"  remote: {{source: {{type: json, path: '{https.url}/d.jsonl'}}}}\n"
            "  hub: {source: {type: hf, path: org/crashes, split: test}}\n",
            encoding="utf-8",
        )

    def crashes(self, *watched: Path) -> Crashes:
        """Make the process that runs commands here; those on watched folders can be killed."""
        downloads = self.cache.parent / "huggingface"
        environment = {"REGISTRY_CACHE_DIR": str(self.cache), "HF_HOME": str(downloads)}
        return Crashes(self.catalog, environment, watched)

    def publish(self, version: float) -> None:
        """Change what the sources have."""
        rows = [
            {"input": f"What is {number}?", "target": str(number * version)} for number in range(5)
        ]
        table = "".join(f"{row['input']},{row['target']}\n" for row in rows)
        (self.catalog / "d.csv").write_text(f"input,target\n{table}", encoding="utf-8")
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        self._https.put("/d.jsonl", lines.encode(), etag=str(version))
        self._hub.commit("org/crashes", parquet_repo({"default": {"test": rows}}))

    def clear(self) -> None:
        """Return to the state before any command."""
        shutil.rmtree(self.folder / "saved", ignore_errors=True)
        self.reset()
        self.publish(1)

    def save(self) -> None:
        """Let `reset` return to the present state."""
        shutil.rmtree(self.folder / "saved", ignore_errors=True)
        (self.folder / "saved").mkdir()
        for path in (self.cache, self.lockfile):
            if path.is_dir():
                shutil.copytree(path, self.folder / "saved" / path.name)
            elif path.exists():
                shutil.copy2(path, self.folder / "saved" / path.name)

    def reset(self) -> None:
        """Return to the saved state of cache and lockfile; without one, to none."""
        shutil.rmtree(self.cache, ignore_errors=True)
        shutil.rmtree(self.folder / "huggingface", ignore_errors=True)
        for path in self.catalog.glob("*datasets.lock*"):
            path.unlink()
        saved = self.folder / "saved"
        if (saved / "cache").is_dir():
            shutil.copytree(saved / "cache", self.cache)
        if (saved / "datasets.lock").is_file():
            shutil.copy2(saved / "datasets.lock", self.lockfile)

    def lock(self) -> bytes:
        """Return the lockfile; without one, nothing."""
        return self.lockfile.read_bytes() if self.lockfile.exists() else b""

    def age(self) -> None:
        """Let two days pass."""
        then = time.time() - 2 * _DAY
        for path in [*self.cache.rglob("*"), *self.catalog.glob(".*")]:
            os.utime(path, (then, then), follow_symlinks=False)

    def files(self) -> set[str]:
        """Return the files and folders of the cache, and the catalog's lockfiles."""
        found = {*self.cache.rglob("*"), *self.catalog.glob("*datasets.lock*")}
        names = {path.relative_to(self.folder).as_posix() for path in found}
        # What a run remembers of sources depends on what it finds to do; its temporary files count.
        return {name for name in names if not re.fullmatch(r".*/sources/[0-9a-f]{64}\.json", name)}


@contextmanager
def site(folder: Path, https: Https, hub: HubEmulator) -> Iterator[tuple[Site, Crashes]]:
    """Make the catalog, and a process that forks those that are killed."""
    made = Site(folder, https, hub)
    with made.crashes(made.cache, made.catalog, folder / "huggingface") as crashes:
        warmed = crashes.warm("sync", "lock", *PREVIEWS)
        assert warmed.code == 0, warmed.out
        made.reset()
        yield made, crashes


def points(calls: Sequence[Sequence[str]], *, thorough: bool) -> list[int]:
    """Return at which calls to kill: at all, or at a few of different kinds."""
    if thorough:
        return list(range(1, len(calls) + 1))
    kinds: dict[tuple[str, str], int] = {}
    for number, (name, path) in enumerate(calls, 1):
        if name in _SAMPLED:
            # The folder that the file is in, whatever its digest or its random name.
            kinds.setdefault((name, re.sub("[0-9a-f]{20,}.*", "", path)), number)
    numbers = sorted(kinds.values())
    step = max(1, len(numbers) / _SAMPLE)
    return [numbers[int(at * step)] for at in range(min(_SAMPLE, len(numbers)))]


def sweep(
    made: Site, crashes: Crashes, command: str, check: Callable[[int], object], *, thorough: bool
) -> list[list[str]]:
    """Kill a command at its calls that change a file, `check` each state; return the calls."""
    made.reset()
    calls = crashes.trace(command).calls
    numbers, ended = points(calls, thorough=thorough), 0
    for number in numbers:
        made.reset()
        done = crashes.trace(command, kill_at=number)
        # pytest shows it if the check fails.
        sys.stderr.write(f"{command}: killed at {number} of {len(calls)}, {done.calls[-1]}\n")
        ended += done.code != -9
        check(number)
    # Threads are not equally fast in each run, so that the last calls may not be reached.
    assert ended <= 1 + len(numbers) // 20
    return calls
