"""The table of engines: each is there, and says what it lacks."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from registry.base.executor import Workers, _Worker
from registry.base.materials import SamplesId
from registry.cache.cache import Cache, CacheEntry
from registry.errors import MissingDependencyError
from registry.pipeline import map_source
from registry.plugins.remote_cache.remote_cache import RemoteCache
from registry.progress import Progress, silent
from registry.settings import Remote
from registry.workflows.engines import CLUSTERS, ENGINES, Job, engine_of, run_job
from tests.workflows.conftest import BAD, MakeCatalog, digest_in, run


@pytest.mark.parametrize("name", sorted(ENGINES.keys() - CLUSTERS))
def test_engine_needs_no_package(name: str) -> None:
    assert callable(engine_of(name).run)


@pytest.mark.parametrize("name", sorted(CLUSTERS))
def test_engine_without_its_package_says_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependencyError, match=rf"pip install 'eval-registry\[{name}\]'"):
        engine_of(name, "tcp://127.0.0.1:1")


def test_processes_give_what_threads_give(
    make_catalog: MakeCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = make_catalog(bad=BAD)
    here = run(catalog, tmp_path / "local", "local")
    asked: list[str] = []
    call = Workers.call

    def noted(self: Workers, function: str, *arguments: Any, **options: Any) -> Any:
        if function == f"{map_source.__name__}:answer":
            asked.append(arguments[0].part.pinned.files[0].location)
        return call(self, function, *arguments, **options)

    monkeypatch.setattr(Workers, "call", noted)
    there = run(catalog, tmp_path / "processes", "processes")
    assert {name: one.status for name, one in there.items()} == {"bad": "failed", "many": "built"}
    assert str(there["bad"].error) == str(here["bad"].error)
    assert "all.yaml:3" in str(there["bad"].error)
    assert len(asked) == 5
    assert asked == sorted(asked)
    found = [digest_in(catalog, tmp_path / name) for name in ("local", "processes")]
    assert found[0] == found[1]
    assert found[0].number == 100


def test_lost_process_changes_nothing(
    make_catalog: MakeCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = make_catalog(files=12)
    run(catalog, tmp_path / "local", "local")
    killed: list[int] = []
    receive = _Worker.receive

    def receive_of_a_dead_one(self: _Worker, *arguments: Any) -> Any:
        if not killed:
            killed.append(self.process_id)
            os.kill(self.process_id, signal.SIGKILL)
        return receive(self, *arguments)

    monkeypatch.setattr(_Worker, "receive", receive_of_a_dead_one)
    found = run(catalog, tmp_path / "processes", "processes")
    assert found["many"].status == "built"
    assert killed
    assert digest_in(catalog, tmp_path / "processes") == digest_in(catalog, tmp_path / "local")


def test_interrupt_stops_the_build(make_catalog: MakeCatalog, tmp_path: Path) -> None:
    def interrupt(name: str, progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(make_catalog(), tmp_path / "cache", "processes", report=interrupt)


def job_of(make_catalog: MakeCatalog, expected: SamplesId | None = None) -> Job:
    catalog = make_catalog()
    return Job(
        spec=catalog["many"],
        boundary=catalog.boundary,
        lock=None,
        offline=False,
        refresh=False,
        expected=expected,
    )


def test_job_and_result_survive_a_pickle(make_catalog: MakeCatalog, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    sent = pickle.loads(pickle.dumps(job_of(make_catalog)))
    found = run_job(sent, cache, push_to=None, report=silent)
    assert (found.status, found.samples) == ("built", 100)
    again = pickle.loads(pickle.dumps(run_job(sent, cache, push_to=None, report=silent)))
    assert (again.status, again.to_dict()["error"]) == ("cached", None)


def test_unexpected_samples_are_an_error(make_catalog: MakeCatalog, tmp_path: Path) -> None:
    job = job_of(make_catalog, expected=SamplesId(1, "sha256:0"))
    found = run_job(job, Cache(tmp_path / "cache"), push_to=None, report=silent)
    assert found.status == "failed"
    assert "its samples are not the reviewed ones" in str(found.error)
    assert found.to_dict()["error"]["type"] == "ReviewError"


def test_samples_that_are_gone_before_they_are_pushed_are_built_again(
    make_catalog: MakeCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, shared = Cache(tmp_path / "cache"), tmp_path / "shared"
    shared.mkdir()
    push = RemoteCache.push

    def push_late(self: RemoteCache, entry: CacheEntry, **options: Any) -> Any:
        monkeypatch.undo()
        cache.discard("samples", entry.meta["fingerprint"])  # as another process does
        return push(self, entry, **options)

    monkeypatch.setattr(RemoteCache, "push", push_late)
    remote = RemoteCache(Remote(url=str(shared)))
    found = run_job(job_of(make_catalog), cache, push_to=remote, report=silent)
    assert (found.status, found.pushed, found.push_error) == ("built", "pushed", "")
