"""A cluster of worker processes gives the samples of one process, whatever ends in between.

`make cluster` runs it over 200 files with 20 million records, `make test` with few.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("distributed", reason="needs the extra `dask`")

from dask import distributed

from registry.catalog.catalog import Catalog
from registry.errors import RegistryError
from registry.plugins.cluster import agreement, dask_engine, dask_worker
from registry.progress import Progress
from registry.workflows.engines import engine_of
from tests.conftest import S3, permit
from tests.plugins.cluster.lost import check_lost
from tests.workflows.conftest import BAD, MakeCatalog, digest_in, run

# The cluster's own sockets and loops end when Python collects them.
pytestmark = pytest.mark.filterwarnings("default")

RECORDS = int(os.environ.get("REGISTRY_CLUSTER_RECORDS", "4000"))
WORKERS = int(os.environ.get("REGISTRY_CLUSTER_WORKERS", "2"))
FILES = 200 if RECORDS >= 100_000 else 40


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start workers, each a process of its own."""
    with distributed.LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0", memory_limit="1GiB"
    ) as found:
        yield found


def peak_memory() -> int:
    """Return the most memory that this process has had, in bytes; 0 where only Linux says it."""
    if sys.platform != "linux":
        return 0
    # `ru_maxrss` would begin with the peak of the process that has started this one.
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]


def stopped_runs() -> int:
    """Return how many runs this worker was told to end."""
    return len(dask_worker._stopped)


def test_killed_workers_change_nothing(
    make_catalog: MakeCatalog, tmp_path: Path, cluster: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    catalog = make_catalog(files=FILES, records=RECORDS // FILES, bad=BAD)
    start = time.perf_counter()
    local = run(catalog, tmp_path / "local", "local", jobs=1, processes=1)
    seconds = [time.perf_counter() - start]
    with distributed.Client(cluster) as client:
        living = list(client.run(os.getpid).values())
    # All in turn, where there is time: also the one that puts the rows of all files in order.
    living = living[: int(os.environ.get("REGISTRY_CLUSTER_KILL", "1"))]
    killed: list[int] = []

    def kill(name: str, progress: Progress) -> None:
        if name == "many" and progress.stage == "map" and living:
            killed.append(living.pop())
            os.kill(killed[-1], signal.SIGKILL)

    start = time.perf_counter()
    engine = engine_of("dask", cluster.scheduler_address)
    found = run(catalog, tmp_path / "dask", engine, report=kill)
    seconds.append(time.perf_counter() - start)
    assert {name: one.status for name, one in found.items()} == {"bad": "failed", "many": "built"}
    assert str(found["bad"].error) == str(local["bad"].error)
    assert digest_in(catalog, tmp_path / "dask") == digest_in(catalog, tmp_path / "local")
    assert found["many"].samples == RECORDS // FILES * FILES
    assert not living
    with distributed.Client(cluster) as client:
        peaks = list(client.run(peak_memory).values())
    assert max(peaks) < 1 << 30
    if "REGISTRY_CLUSTER_RECORDS" in os.environ:
        with capsys.disabled():
            shown = ", ".join(f"{peak >> 20} MiB" for peak in peaks)
            sys.stderr.write(
                f"\n{RECORDS:,} records: one process {seconds[0]:.1f} s, {WORKERS} workers"
                f" {seconds[1]:.1f} s, {len(killed)} killed, peak memory {shown}\n"
            )


def test_graph_names_variables_and_has_no_values(
    make_catalog: MakeCatalog, tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import cloudpickle

    secret = "s3cr3t-value-of-the-token"
    monkeypatch.setenv("DATA_KEY", secret)
    private = (
        "{source: {type: json, path: 's3://bucket/p*.jsonl', fs_options: {key: {env: DATA_KEY},"
        " secret: {env: DATA_KEY}}}, fields: {input: q, target: a}}"
    )
    make_catalog(files=2, private=private)
    root = permit(tmp_path / "catalog", secrets={"DATA_KEY": ["s3.amazonaws.com"]})
    catalog = Catalog.open(root)
    graphs: list[bytes] = []
    submit = distributed.Client.submit

    def submit_and_note(self: Any, *arguments: Any, **options: Any) -> Any:
        graphs.append(cloudpickle.dumps((arguments, options)))
        return submit(self, *arguments, **options)

    monkeypatch.setattr(distributed.Client, "submit", submit_and_note)
    engine = engine_of("dask", cluster.scheduler_address)
    found = run(catalog, tmp_path / "dask", engine, offline=True)
    assert found["many"].status == "built"
    assert found["private"].status == "failed"
    assert any(b"DATA_KEY" in graph for graph in graphs)
    assert not any(secret.encode() in graph for graph in graphs)


def test_worker_with_other_code_is_named(
    make_catalog: MakeCatalog, tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agreement, "package_version_key", lambda: "other")
    engine = engine_of("dask", cluster.scheduler_address)
    with pytest.raises(RegistryError, match=r"the worker tcp://\S+ has another registry"):
        run(make_catalog(files=2), tmp_path / "dask", engine)


class NotHere:
    """The marker of a folder that workers of another machine don't see."""

    def __enter__(self) -> Path:
        return Path("/nonexistent/marker")

    def __exit__(self, *error: object) -> None: ...


def test_samples_that_would_go_nowhere_are_an_error(
    make_catalog: MakeCatalog, tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_engine, "marker_in", lambda cache: NotHere())
    engine = engine_of("dask", cluster.scheduler_address)
    with pytest.raises(RegistryError, match=r"does not see the cache .*REGISTRY_REMOTE_CACHE"):
        run(make_catalog(files=2), tmp_path / "dask", engine)


def test_workers_with_folders_of_their_own_push(
    make_catalog: MakeCatalog, tmp_path: Path, s3: S3, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3.bucket("remote-cache")
    monkeypatch.setenv("REGISTRY_REMOTE_CACHE", "s3://remote-cache/team")
    monkeypatch.setenv("REGISTRY_REMOTE_TRUST", "anyone")
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "of the workers"))
    monkeypatch.setattr(dask_engine, "marker_in", lambda cache: NotHere())
    catalog = make_catalog(files=3)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit="1GiB"
    ) as cluster:
        found = run(catalog, tmp_path / "caller", engine_of("dask", cluster.scheduler_address))
    assert (found["many"].status, found["many"].pushed) == ("built", "pushed")
    assert not list((tmp_path / "caller").rglob("samples.arrow"))
    shutil.rmtree(tmp_path / "of the workers")
    again = run(catalog, tmp_path / "another machine", "local")
    assert again["many"].status == "fetched"


def test_interrupt_ends_the_tasks(make_catalog: MakeCatalog, tmp_path: Path, cluster: Any) -> None:
    import _thread

    told: list[str] = []

    # The first report: later ones may come after the samples, which are few.
    def interrupt(name: str, progress: Progress) -> None:
        if not told:
            told.append(name)
            _thread.interrupt_main()

    engine = engine_of("dask", cluster.scheduler_address)
    catalog = make_catalog(files=FILES)
    with pytest.raises(KeyboardInterrupt):
        run(catalog, tmp_path / "dask", engine, report=interrupt)
    with distributed.Client(cluster) as client:
        deadline = time.monotonic() + 15
        while any(client.processing().values()) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not any(client.processing().values())
        assert all(client.run(stopped_runs).values())
    assert not list((tmp_path / "dask").rglob("samples.arrow"))


def ignores_interrupts() -> bool:
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_interrupt_of_the_terminal_does_not_reach_the_own_workers() -> None:
    engine: Any = engine_of("dask")
    with engine._client(SimpleNamespace(processes=1)) as client:
        assert list(client.run(ignores_interrupts).values()) == [True]


def test_scheduler_that_is_not_there_is_an_error(
    make_catalog: MakeCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_engine, "_CONNECT_SECONDS", 1)
    engine = engine_of("dask", "tcp://127.0.0.1:9")
    with pytest.raises(RegistryError, match="no scheduler with a worker answers"):
        run(make_catalog(files=1), tmp_path / "dask", engine)


def many_bytes(count: int) -> bytes:
    return bytes(count)


def test_large_result_arrives_although_it_is_waited_for_in_steps(cluster: Any) -> None:
    with distributed.Client(cluster) as client:
        later = dask_worker._Call(client.submit(many_bytes, 1 << 26, pure=False))
        for _ in range(1000):
            with contextlib.suppress(TimeoutError):
                # Far less than the transfer takes.
                assert len(later.result(timeout=0.01)) == 1 << 26
                return
        pytest.fail("the result never arrives")


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """Start a scheduler and a worker as processes; yield the address, and how to kill the first."""
    file = tmp_path / "scheduler.json"

    def start(module: str, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", module, "--scheduler-file", str(file), *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    own = ("--host", "127.0.0.1", "--port", "0", "--dashboard-address", ":0")
    found = start("distributed.cli.dask_scheduler", *own)
    while not file.exists() or not file.stat().st_size:  # it is made before it is written
        time.sleep(0.05)
    worker = start("distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")
    yield json.loads(file.read_text())["address"], found.kill
    for process in (found, worker):
        process.kill()
        process.wait()


def test_lost_scheduler_ends_the_run_with_what_is_done_and_what_is_not(
    make_catalog: MakeCatalog, tmp_path: Path, scheduler: tuple[str, Callable[[], None]]
) -> None:
    address, kill = scheduler
    what = f"the scheduler {address}"
    check_lost(make_catalog, tmp_path, "dask", address, kill, what=what, records=2_000)
