"""What a killed process leaves is never used; `cache prune` removes it, and `sync` does after a day."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.base.cache_access import versioned_folder
from tests.cache.entries import HOUR, leave
from tests.conftest import Https, OneDataset
from tests.faults.background import finish, load, registry
from tests.faults.crash_sweep import PREVIEWS, Site, points
from tests.faults.crashes import Crashes
from tests.faults.damaged_cache import HARMS


def strays(made: Site) -> list[str]:
    """Return what only a process that is running may have."""
    parts = versioned_folder(made.cache)
    found = [path for path in parts.rglob(".*") if path.is_file()]
    for folder in ("tmp", "locks", "quarantine"):
        found += (parts / folder).glob("*")
    found += made.catalog.glob(".datasets.lock*")
    return sorted(str(path.relative_to(made.folder)) for path in found)


@pytest.mark.parametrize("command", ["sync --jobs 1", "lock --upgrade"])
def test_after_a_kill(thorough: bool, command: str, place: tuple[Site, Crashes]) -> None:
    made, crashes = place
    calls = crashes.trace(command).calls
    chosen = points(calls, thorough=thorough)
    # A file that is not renamed yet: a killed process leaves it, whatever its threads did.
    (unpublished, *_) = [n for n, (name, _) in enumerate(calls, 1) if name == "rename"]
    left = 0
    for number in chosen if thorough else [chosen[1], unpublished]:
        made.reset()
        assert crashes.trace(command, kill_at=number).code == -signal.SIGKILL
        left += bool(strays(made))
        assert crashes.run("cache prune").code == 0
        assert [one for one in strays(made) if "datasets.lock" not in one] == [], number
        assert crashes.run(command, "cache prune").code == 0
        assert strays(made) == [], number
    assert left


def test_a_killed_prune(thorough: bool, place: tuple[Site, Crashes]) -> None:
    made, crashes = place
    expected = crashes.run("sync", *PREVIEWS)
    assert expected.code == 0, expected.out
    samples = [line for line in expected.out.splitlines() if line[:1] == "{"]
    left = leave(versioned_folder(made.cache), 0)
    left["entry that is a file"].unlink()  # which `verify` reports
    made.save()
    calls = crashes.trace("cache prune --older 0s").calls
    chosen = points(calls, thorough=thorough)
    for number in chosen if thorough else chosen[::4]:
        made.reset()
        assert crashes.trace("cache prune --older 0s", kill_at=number).code == -signal.SIGKILL
        done = crashes.run("cache verify", *PREVIEWS, "cache prune")
        assert done.code == 0, done.out
        assert [line for line in done.out.splitlines() if line[:1] == "{"] == samples
        assert strays(made) == [], number


def test_sync_waits_for_a_day(place: tuple[Site, Crashes]) -> None:
    made, crashes = place
    for hours, is_left in ((23, True), (25, False)):
        planted = leave(versioned_folder(made.cache), hours * HOUR)
        assert crashes.run("sync local").code == 0
        assert {path.exists() for path in planted.values()} == {is_left}


@pytest.mark.parametrize(
    "command", [["cache", "prune", "--older", "0s"], ["cache", "clear", "--yes"]], ids="-".join
)
def test_a_running_build_is_left_alone(
    one_dataset: OneDataset, https: Https, cache_dir: Path, command: list[str]
) -> None:
    https.put("/d.jsonl", b'{"q": "One?", "a": "1"}\n', etag="1", seconds=4)
    root = one_dataset({"type": "json", "path": f"{https.url}/d.jsonl"})
    building = load("data", root)
    until(lambda: ("GET", "/d.jsonl") in https.requests)
    folders = list((versioned_folder(cache_dir) / "tmp").iterdir())
    assert len(folders) == 1
    code, out, err = finish(registry(*command, root=root))
    assert code == 0, err
    assert folders[0].exists()
    assert "that running processes are using" in err
    code, out, err = finish(building)
    assert (code, out) == (0, '[["One?", null, "1"]]\n'), err
    assert https.requests.count(("GET", "/d.jsonl")) == 1


def until(happened: Callable[[], bool]) -> None:
    waited = threading.Event()
    for _ in range(600):
        if happened():
            return
        waited.wait(0.05)
    pytest.fail("it did not happen in 30 seconds")


DAMAGES = (("file", "."), ("folder", "."), ("folder", "meta.json"), ("deep JSON", "meta.json"))


def test_what_is_in_the_place_of_an_entry(place: tuple[Site, Crashes]) -> None:
    made, crashes = place
    expected = crashes.run(PREVIEWS[0])
    for harm, name in DAMAGES:
        parts = versioned_folder(made.cache)
        for kind in ("samples", "views"):
            (entry,) = (parts / kind).iterdir()
            HARMS[harm](entry / name, {})
        healed = crashes.run(PREVIEWS[0])
        assert (healed.code, healed.samples) == (0, expected.samples), harm
        HARMS[harm](next((parts / "samples").iterdir()) / name, {})
        done = crashes.run("cache list", "cache prune", "sync local", "cache verify")
        assert done.code == 0, (harm, done.out)
    assert crashes.run("cache clear --yes").code == 0  # whatever it is
    assert not [path for path in made.cache.rglob("*") if path.is_file()]
