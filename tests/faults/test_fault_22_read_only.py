"""A read-only cache serves what it has, and no command claims to have changed it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from registry.base.cache_access import versioned_folder
from tests.faults.crash_sweep import PREVIEWS, Site
from tests.faults.crashes import Crashes
from tests.faults.disks import read_only


def files(made: Site) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in made.cache.rglob("*") if path.is_file()}


def test_loads_and_commands(place: tuple[Site, Crashes]) -> None:
    made, crashes = place
    done = crashes.run("sync", *PREVIEWS)
    assert done.code == 0, done.out
    expected = "".join(line for line in done.out.splitlines(True) if line[:1] == "{")
    assert crashes.run("cache prune").code == 0  # locks
    made.age()
    (made.catalog / "d.csv").touch()
    before = files(made)
    with read_only(made.cache):
        with pytest.raises(OSError, match="Read-only"):
            (made.cache / "x").write_bytes(b"")
        done = crashes.run(*PREVIEWS)
        assert (done.code, done.out) == (0, expected)
        assert crashes.run("sync", "list", "cache list", "cache verify").code == 0
        done = crashes.run("sync --refresh")
        assert done.code == 1
        assert "can't write to the cache in " in done.out
        assert "Read-only file system" in done.out
        for command in ("cache clear", "cache clear local", "cache prune --older 0s"):
            done = crashes.run(command.replace("clear", "clear --yes"))
            assert done.code == 1, done.out
            assert "can't be removed: Read-only file system" in done.out
            assert done.out.endswith(f"removed 0 B under {made.cache}\n")
        done = crashes.run("cache clear --yes --json")
        data = json.loads(done.out)
        assert (data["bytes"], data["removed"]) == (0, [])
        assert {one["reason"] for one in data["errors"]} == {"Read-only file system"}
    assert files(made) == before
    assert crashes.run("cache clear --yes").code == 0
    assert files(made) == {}


def test_damage_that_can_not_be_moved_is_not_served(place: tuple[Site, Crashes]) -> None:
    made, crashes = place
    done = crashes.run(*PREVIEWS)
    assert done.code == 0, done.out
    samples = list((versioned_folder(made.cache) / "samples").glob("*/samples.arrow"))
    for path in samples:
        path.write_bytes(path.read_bytes()[:-1] + b"X")
    with read_only(made.cache):
        done = crashes.run("cache verify")
        assert done.code == 1
        assert done.out.count("it can't be moved to the quarantine: remove it") == len(samples)
        done = crashes.run(PREVIEWS[0])
        assert done.code == 1
        assert "differ from those that were written (make the cache writable" in done.out
        done = crashes.run("sync")  # which reads them all
        assert done.code == 1
        assert done.out.count("can't write to the cache in ") == len(samples)
    assert all(path.exists() for path in samples)
    shutil.rmtree(made.cache)
