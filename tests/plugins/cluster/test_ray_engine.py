"""A Ray cluster gives the samples of one process, whatever ends in between (`make interop`)."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="needs ray, as `make interop` has it")

import ray

from registry.errors import RegistryError
from registry.plugins.cluster import agreement
from registry.plugins.cluster.ray_worker import Board
from registry.progress import Progress
from registry.workflows.engines import engine_of
from tests.plugins.cluster.lost import check_lost
from tests.workflows.conftest import BAD, MakeCatalog, digest_in, make_catalog, run

__all__ = ["make_catalog"]

# The cluster's own sockets and loops end when Python collects them.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Start workers, each a process of its own, and connect to them."""
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def workers() -> list[int]:
    """Return the processes that map files."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (folder / "cmdline").read_bytes().startswith(b"ray::call"):
                found.append(int(folder.name))
    return found


@pytest.mark.usefixtures("cluster")
def test_killed_workers_change_nothing(make_catalog: MakeCatalog, tmp_path: Path) -> None:
    catalog = make_catalog(files=20, records=4_000, bad=BAD)
    local = run(catalog, tmp_path / "local", "local", jobs=1, processes=1)
    killed: list[int] = []
    is_over = threading.Event()

    # Not at a report of progress: when the first one comes, all files may be mapped.
    def kill() -> None:
        while not killed and not is_over.wait(0.005):
            for process in workers():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                    killed.append(process)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = run(catalog, tmp_path / "ray", "ray")
    finally:
        is_over.set()
        killer.join()
    assert {name: one.status for name, one in found.items()} == {"bad": "failed", "many": "built"}
    assert str(found["bad"].error) == str(local["bad"].error)
    assert digest_in(catalog, tmp_path / "ray") == digest_in(catalog, tmp_path / "local")
    assert found["many"].samples == 80_000
    assert killed


@pytest.mark.usefixtures("cluster")
def test_worker_with_other_code_is_named(
    make_catalog: MakeCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agreement, "package_version_key", lambda: "other")
    with pytest.raises(RegistryError, match=r"the worker [\d.:]+ has another registry"):
        run(make_catalog(files=2), tmp_path / "ray", "ray")


@pytest.mark.usefixtures("cluster")
def test_a_stopped_caller_ends_the_tasks(make_catalog: MakeCatalog, tmp_path: Path) -> None:
    catalog = make_catalog(files=40, records=500)

    def stop(name: str, progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(catalog, tmp_path / "ray", "ray", report=stop)
    deadline = time.monotonic() + 30
    while ray.available_resources().get("CPU") != 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert ray.available_resources()["CPU"] == 2
    assert not list((tmp_path / "ray").rglob("samples.arrow"))


def test_board_tells_the_last_event_of_each_dataset_once_and_that_the_caller_has_stopped() -> None:
    board = Board()
    for done in range(3):
        assert board.tell(("a", "map", done, 3, "")) is False
    assert board.take() == [("a", "map", 2, 3, "")]
    assert board.take() == []
    board.stop()
    assert board.tell(("a", "map", 3, 3, "")) is board.is_stopped() is True


def test_head_that_is_not_there_is_an_error(make_catalog: MakeCatalog, tmp_path: Path) -> None:
    ray.shutdown()
    engine: Any = engine_of("ray", "127.0.0.1:9")
    with pytest.raises(RegistryError, match=r"127\.0\.0\.1:9: no head node of Ray answers"):
        run(make_catalog(files=1), tmp_path / "ray", engine)


def test_command_starts_workers_and_ends_them(make_catalog: MakeCatalog, tmp_path: Path) -> None:
    make_catalog(files=3)
    done = subprocess.run(
        [sys.executable, "-m", "registry", "sync", "--engine", "ray"],
        cwd=tmp_path / "catalog",
        env={**os.environ, "REGISTRY_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.splitlines()[:-1]) == (0, [])
    assert "built" in done.stdout
    assert list((tmp_path / "cache").rglob("samples.arrow"))


@pytest.fixture
def head(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Callable[[], None]]]:
    """Start a head node with a worker; yield its address, and how to kill all its processes."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block"]
    process = subprocess.Popen(
        [*command, "--port", str(port), "--include-dashboard=false", "--num-cpus=1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )

    def kill() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    while not is_open(port):
        assert process.poll() is None
        time.sleep(0.1)
    yield f"127.0.0.1:{port}", kill
    kill()
    process.wait()


def is_open(port: int) -> bool:
    with socket.socket() as found:
        return found.connect_ex(("127.0.0.1", port)) == 0


def test_lost_cluster_ends_the_run_with_what_is_done_and_what_is_not(
    make_catalog: MakeCatalog, tmp_path: Path, head: tuple[str, Callable[[], None]]
) -> None:
    address, kill = head
    what = "the Ray cluster"
    check_lost(make_catalog, tmp_path, "ray", address, kill, what=what, records=20_000)
