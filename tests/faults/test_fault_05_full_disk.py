"""A full disk ends a build with a clean error, keeps what is there, and stops no warm load."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from registry.base.cache_access import versioned_folder
from tests.conftest import Https
from tests.faults.background import finish, start
from tests.faults.crash_sweep import PREVIEWS, Site
from tests.faults.crashes import Crashes
from tests.faults.disks import fill, small_disk
from tests.faults.process import registry, write_catalog
from tests.servers.hub import HubEmulator

SIZE = 4 << 20


@pytest.fixture
def made(tmp_path: Path, https: Https, hub: HubEmulator) -> Iterator[Site]:
    """Make a catalog of three sources, with the cache on a small disk."""
    folder = tmp_path / "site"
    folder.mkdir()
    with small_disk(folder / "cache", SIZE):
        yield Site(folder, https, hub)


@pytest.fixture
def crashes(made: Site) -> Iterator[Crashes]:
    with made.crashes() as running:
        yield running


def test_warm_loads(made: Site, crashes: Crashes) -> None:
    done = crashes.warm("sync", "lock", *PREVIEWS)
    assert done.code == 0, done.out
    expected = crashes.run(*PREVIEWS).out
    for locked in (True, False):
        if not locked:
            made.lockfile.unlink()
        for path in (made.cache / "filler", *made.cache.rglob("*.catalog")):
            path.unlink(missing_ok=True)  # the compiled catalog can't be stored either
        (made.catalog / "d.csv").touch()
        fill(made.cache)
        done = crashes.run(*PREVIEWS)
        assert (done.code, done.out) == (0, expected), locked
        assert crashes.run("list", "cache list", "cache verify", "validate").code == 0
    # A view that isn't stored is computed each time.
    index = made.catalog / "datasets.yaml"
    index.write_text(index.read_text("utf-8").replace("seed: 1", "seed: 2"), encoding="utf-8")
    views = list((versioned_folder(made.cache) / "views").iterdir())
    first, second = (crashes.run("preview local -n 9 --json") for _ in range(2))
    assert (first.code, first.out) == (0, second.out)
    assert first.out not in expected
    assert list((versioned_folder(made.cache) / "views").iterdir()) == views
    assert "removed 0 B" not in crashes.run("cache prune --older 0s").out
    (made.cache / "filler").unlink()
    assert crashes.run("sync").code == 0


def test_a_view_that_fits_in_part(tmp_path: Path) -> None:
    rows = "".join(f"question {number},{number}\n" for number in range(50_000))
    (tmp_path / "d.csv").write_text(f"input,target\n{rows}", encoding="utf-8")
    data = "  data: {source: {type: csv, path: d.csv}}\n"
    write_catalog(tmp_path, f"{data}  mixed: {{extends: data, shuffle: true, seed: 1}}\n")
    cache = str(tmp_path / "cache")
    with small_disk(tmp_path / "cache", SIZE):
        assert registry(tmp_path, "sync", "data", REGISTRY_CACHE_DIR=cache).code == 0
        filler = fill(tmp_path / "cache")
        os.truncate(filler, filler.stat().st_size - 200_000)  # of 400,000
        done = registry(tmp_path, "preview", "mixed", "-n", "1", REGISTRY_CACHE_DIR=cache)
        assert done.code == 0, done.err
        assert "target" in done.out
        assert not list((versioned_folder(tmp_path / "cache") / "tmp").iterdir())


def test_builds(made: Site, crashes: Crashes) -> None:
    done = crashes.warm("sync local", "lock", PREVIEWS[0])
    assert done.code == 0, done.out
    before = made.lockfile.read_bytes()
    fill(made.cache)
    for command in ("sync remote hub --refresh", "sync --refresh", "lock --upgrade"):
        if command.startswith("lock"):
            made.publish(2)
        done = crashes.run(command)
        assert done.code == 1, done.out
        assert "No space left on device" in done.out
        assert "`registry cache prune` frees space" in done.out
        assert made.lockfile.read_bytes() == before
        made.publish(1)
    assert crashes.run(PREVIEWS[0], "cache verify").code == 0
    (made.cache / "filler").unlink()
    assert crashes.run("sync --refresh", *PREVIEWS, "cache verify").code == 0
    assert not list((versioned_folder(made.cache) / "tmp").iterdir())


def test_a_lockfile_on_a_full_disk(tmp_path: Path, https: Https, hub: HubEmulator) -> None:
    with small_disk(tmp_path / "site", SIZE):
        made = Site(tmp_path / "site", https, hub)
        made.cache = tmp_path / "cache"
        with made.crashes() as crashes:
            assert crashes.run("lock").code == 0
            before = made.lockfile.read_bytes()
            made.publish(2)
            fill(made.folder)
            done = crashes.run("lock --upgrade")
            assert done.code == 1
            assert "datasets.lock: can't be written: No space left on device" in done.out
            assert made.lockfile.read_bytes() == before
            names = {path.name for path in made.catalog.iterdir()}
            assert names == {"d.csv", "datasets.lock", "datasets.yaml"}


def test_a_limit_of_the_size_of_files(tmp_path: Path) -> None:
    rows = "".join(json.dumps({"input": "x" * 99, "target": str(n)}) + "\n" for n in range(2000))
    (tmp_path / "d.jsonl").write_text(rows, encoding="utf-8")
    write_catalog(tmp_path, "  data: {source: {type: json, path: d.jsonl}}\n")
    limited = ["sh", "-c", 'ulimit -f 128 && exec "$@"', "sh"]  # of half a KiB each
    code, _, err = finish(start(["-B", "-m", "registry", "sync"], tmp_path, before=limited))
    assert code == 1, err
    assert "can't write to the cache in " in err
    assert "File too large" in err
