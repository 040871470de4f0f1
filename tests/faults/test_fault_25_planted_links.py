"""A symbolic link that appears at a temporary path is never written through: the command goes on without, or ends with an error."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.crashes import Crashes
from tests.faults.process import write_catalog

DATASETS = "  d: {source: {type: csv, path: d.csv}, shuffle: true, seed: 1}\n"
PRECIOUS = b"what the user would miss"


@pytest.fixture
def crashes(tmp_path: Path, cache_dir: Path) -> Iterator[Crashes]:
    catalog = write_catalog(tmp_path / "catalog", DATASETS)
    (catalog / "d.csv").write_text("input,target\n1,2\n3,4\n")
    with Crashes(catalog, {}, [cache_dir, catalog]) as made:
        yield made


def created(calls: list[list[str]]) -> set[str]:
    """Return patterns of the files that are created, one for each kind."""
    paths = [path for name, path in calls if name.startswith("open")]
    return {".*/" + re.sub("[0-9a-f]{20,}", "[0-9a-f]+", Path(path).name) for path in paths}


@pytest.mark.parametrize(("command", "kinds"), [("sync", 5), ("lock", 1)])
def test_it_is_not_followed(
    tmp_path: Path, cache_dir: Path, crashes: Crashes, command: str, kinds: int
) -> None:
    precious = tmp_path / "precious"
    lockfile = tmp_path / "catalog" / "datasets.lock"
    assert crashes.warm(command).code == 0

    def reset() -> None:
        precious.write_bytes(PRECIOUS)
        lockfile.unlink(missing_ok=True)
        if command == "sync":
            shutil.rmtree(cache_dir)

    reset()
    patterns = created(crashes.trace(command).calls)
    assert len(patterns) >= kinds
    for pattern in patterns:
        reset()
        done = crashes.plant(command, link=precious, like=pattern)
        assert precious.read_bytes() == PRECIOUS, pattern
        assert done.code == 0 or "File exists" in done.out, (pattern, done.out)
        assert done.code in (0, 1), (pattern, done.out)
    assert crashes.run(command, "preview d --offline").code == 0
