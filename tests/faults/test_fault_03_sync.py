"""A `sync` that is killed at any change of a file is made good by the next, and leaves no stray file."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Https
from tests.faults.crash_sweep import PREVIEWS, Site, site, sweep
from tests.faults.crashes import Crashes
from tests.servers.hub import HubEmulator


def settle(made: Site, crashes: Crashes) -> tuple[str, set[str]]:
    """Build what is missing, and tidy up two days later; return the samples and the files."""
    done = crashes.run("sync --jobs 1", *PREVIEWS)
    assert done.code == 0, done.out
    samples = "".join(line for line in done.out.splitlines(keepends=True) if line[:1] == "{")
    made.age()
    done = crashes.run("sync --jobs 1")
    assert done.code == 0, done.out
    return samples, made.files()


def test_the_next_sync_makes_it_good(
    tmp_path: Path, https: Https, hub: HubEmulator, thorough: bool
) -> None:
    with site(tmp_path, https, hub) as (made, crashes):
        expected = settle(made, crashes)
        assert expected[0].count("\n") == 3 + 5 + 5

        def check(_: object) -> None:
            assert settle(made, crashes) == expected

        assert sweep(made, crashes, "sync --jobs 1", check, thorough=thorough) > 100
