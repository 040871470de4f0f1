"""Faults, produced for real: how thoroughly, and with which tools."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conftest import HUB, S3, Https
from tests.faults.crash_sweep import Site, site
from tests.faults.crashes import Crashes
from tests.faults.faulty_hub import FaultyHub, faulty_hub
from tests.faults.network import Served
from tests.servers.fault_proxy import FaultProxy
from tests.servers.hub import HubEmulator
from tests.servers.static import StaticFiles


@pytest.fixture(scope="session")
def thorough() -> bool:
    """Tell whether a sweep visits every point, as `make faults` wants, or a sample of them."""
    return os.environ.get("REGISTRY_FAULTS") == "all"


@pytest.fixture(scope="session")
def strace() -> str:
    """Find strace, which kills a process, or fails a call, at a chosen system call."""
    found = shutil.which("strace")
    if found is None:
        pytest.skip("strace is not installed (`apt-get install strace`)")
    return found


@pytest.fixture
def faulty(hub: HubEmulator, tmp_path: Path) -> Iterator[FaultyHub]:
    """Give a Hub whose answers can be spoiled."""
    with faulty_hub(hub, tmp_path) as made:
        yield made


@pytest.fixture(scope="session")
def warmed_place(
    tmp_path_factory: pytest.TempPathFactory, https_server: Https, pytestconfig: pytest.Config
) -> Iterator[tuple[Site, Crashes]]:
    """Make the catalog of `place`; the imports of its process take a second."""
    with site(tmp_path_factory.mktemp("site"), https_server, pytestconfig.stash[HUB]) as made:
        yield made


@pytest.fixture
def place(warmed_place: tuple[Site, Crashes]) -> tuple[Site, Crashes]:
    """Give a catalog of three sources, and the process that runs commands in it."""
    warmed_place[0].clear()
    return warmed_place


@pytest.fixture
def served() -> Iterator[Served]:
    """Serve files, by their path, through a proxy that spoils answers."""
    with ExitStack() as running:

        def serve(files: dict[str, bytes]) -> FaultProxy:
            upstream = running.enter_context(StaticFiles(files))
            return running.enter_context(FaultProxy(upstream.url))

        yield serve


@pytest.fixture
def bucket(s3: S3, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultProxy]:
    """Give the way to an S3, with a bucket `data`, that spoils its answers."""
    s3.bucket("data")
    with FaultProxy(s3.url) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
        yield proxy
