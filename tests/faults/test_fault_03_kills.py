"""A command that is killed at any change of a file is made good by the next run, and leaves no stray file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import HUB, Https
from tests.faults.crash_sweep import PREVIEWS, Site, site, sweep
from tests.faults.crashes import Crashes
from tests.faults.kill_points import missing

State = tuple[list[str], list[str], bytes]
"""The samples, the names of all files, and the lockfile."""


@pytest.fixture(scope="module")
def place(
    tmp_path_factory: pytest.TempPathFactory, https_server: Https, pytestconfig: pytest.Config
) -> Iterator[tuple[Site, Crashes]]:
    if reason := missing():
        pytest.skip(reason)
    with site(tmp_path_factory.mktemp("kills"), https_server, pytestconfig.stash[HUB]) as made:
        yield made


def settle(made: Site, crashes: Crashes, command: str) -> State:
    """Run a command again, and tidy up two days later."""
    done = crashes.run(command, *PREVIEWS)
    assert done.code == 0, done.out
    samples = [line for line in done.out.splitlines() if line.startswith("{")]
    assert len(samples) == 3 + 5 + 5
    made.age()
    done = crashes.run("sync")
    assert done.code == 0, done.out
    lock = made.lockfile.read_bytes() if made.lockfile.exists() else b""
    return samples, made.files(), lock


def test_sync(place: tuple[Site, Crashes], thorough: bool) -> None:
    made, crashes = place
    made.clear()
    expected = settle(made, crashes, "sync")

    def check() -> None:
        assert settle(made, crashes, "sync") == expected

    assert len(sweep(made, crashes, "sync", check, thorough=thorough)) > 100


@pytest.mark.parametrize("command", ["lock", "lock --upgrade"])
def test_lock(place: tuple[Site, Crashes], command: str, thorough: bool) -> None:
    made, crashes = place
    made.clear()
    before = b""
    assert crashes.run("sync").code == 0
    if command == "lock --upgrade":
        before = settle(made, crashes, "lock")[2]
        made.publish(2)
    made.save()
    expected = settle(made, crashes, command)
    assert expected[2] != before

    def check() -> None:
        now = made.lockfile.read_bytes() if made.lockfile.exists() else b""
        assert now in (before, expected[2])
        assert settle(made, crashes, command) == expected

    calls = sweep(made, crashes, command, check, thorough=thorough)
    assert {"write", "rename"} <= {name for name, path in calls if "datasets.lock" in path}
