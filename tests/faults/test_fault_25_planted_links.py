"""A symbolic link that appears at a temporary path is never written through: the command goes on without, or ends with an error."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.crashes import Crashes
from tests.faults.kill_points import missing
from tests.faults.process import write_catalog

DATASETS = "  d: {source: {type: csv, path: d.csv}, shuffle: true, seed: 1}\n"
PRECIOUS = b"what the user would miss"


@pytest.fixture
def crashes(tmp_path: Path, cache_dir: Path) -> Iterator[Crashes]:
    if reason := missing():
        pytest.skip(reason)
    catalog = write_catalog(tmp_path / "catalog", DATASETS)
    (catalog / "d.csv").write_text("input,target\n1,2\n3,4\n")
    with Crashes(catalog, {}, [cache_dir, catalog]) as made:
        yield made


def created(calls: list[list[str]]) -> dict[str, int]:
    """Return which of the calls is the first to create each kind of file."""
    kinds: dict[str, int] = {}
    for number, (name, path) in enumerate(calls, 1):
        if name.startswith("open"):
            kinds.setdefault(re.sub("[0-9a-f]{20,}", "*", Path(path).name), number)
    return kinds


def test_it_is_not_followed(tmp_path: Path, cache_dir: Path, crashes: Crashes) -> None:
    precious = tmp_path / "precious"
    lockfile = tmp_path / "catalog" / "datasets.lock"
    first = crashes.warm("sync", "lock")
    assert first.code == 0, first.out
    for command, expected in (("sync", 5), ("lock", 1)):
        if command == "sync":
            shutil.rmtree(cache_dir)
        lockfile.unlink(missing_ok=True)
        kinds = created(crashes.trace(command).calls)
        assert len(kinds) >= expected, kinds
        for kind, number in kinds.items():
            if command == "sync":
                shutil.rmtree(cache_dir)
            lockfile.unlink(missing_ok=True)
            precious.write_bytes(PRECIOUS)
            done = crashes.plant(command, link=precious, at=number)
            assert precious.read_bytes() == PRECIOUS, kind
            assert done.code == 0 or "File exists" in done.out, (kind, done.out)
            assert done.code in (0, 1), (kind, done.out)
    assert crashes.run("sync", "preview d --offline").code == 0
