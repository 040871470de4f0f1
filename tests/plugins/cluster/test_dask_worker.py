"""What a worker of a cluster does by itself."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("distributed", reason="needs the extra `dask`")

from dask import distributed
from msgspec.structs import replace

from registry.boundary.boundary import UNBOUNDED
from registry.manifest.models import to_spec
from registry.plugins.cluster import dask_worker
from registry.plugins.cluster.agreement import JobRequest, SampleStore, StoppedError, facts
from registry.plugins.cluster.dask_worker import stop
from registry.progress import Progress
from registry.workflows.engines import Job


class Worker:
    """Notes what is sent to the scheduler."""

    def __init__(self) -> None:
        self.sent: list[object] = []

    def log_event(self, topic: str, message: object) -> None:
        self.sent.append((topic, message))


def test_reports_are_sent_seldom_and_end_what_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker()
    monkeypatch.setattr(distributed, "get_worker", lambda: worker)
    monkeypatch.setattr(dask_worker, "_stopped", set())
    monkeypatch.setattr(dask_worker, "_REPORT_SECONDS", 3600.0)
    report = dask_worker._Reports("run", "data")
    for done in range(100):
        report(Progress("map", done))
    report(Progress("fetch", 1, 2))
    assert worker.sent == [
        ("run", ("data", "map", 0, None, "")),
        ("run", ("data", "fetch", 1, 2, "")),
    ]
    asyncio.run(stop("run"))
    with pytest.raises(StoppedError):
        report(Progress("map", 100))


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("0.0.0", "has another version of Python or registry"),
        (facts().registry, "came later, and does not see the cache CACHE, which the others share"),
    ],
    ids=["other code", "no cache"],
)
def test_worker_that_came_later_and_differs_builds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, text: str
) -> None:
    monkeypatch.setattr(distributed, "get_worker", lambda: SimpleNamespace(address="tcp://late:1"))
    source = {"type": "json", "path": ["none.jsonl"]}
    spec = to_spec({"name": "d", "folder": tmp_path, "source": source, "fields": {"input": "q"}})
    job = Job(spec=spec, boundary=UNBOUNDED, lock=None, offline=True, refresh=False)
    place = SampleStore(folder=tmp_path, marker=tmp_path / "of the caller", push=False)
    asked = JobRequest(run="run", place=place, expected=replace(facts(), registry=version))
    result = dask_worker.build(asked, job)
    assert result.status == "failed"
    assert text.replace("CACHE", str(tmp_path)) in str(result.error)
    assert str(result.error).startswith("the worker tcp://late:1 ")
    assert not list(tmp_path.iterdir())
