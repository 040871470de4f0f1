"""One dataset: an error is a result, and what may leave the process has no secret."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from registry.base.materials import SamplesId
from registry.cache.cache import Cache, CacheEntry
from registry.plugins.remote_cache.remote_cache import RemoteCache, RemoteSettings
from registry.progress import silent
from registry.workflows.job import Job, run_job
from tests.workflows.conftest import MakeCatalog


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
    remote = RemoteCache(RemoteSettings(url=str(shared)))
    found = run_job(job_of(make_catalog), cache, push_to=remote, report=silent)
    assert (found.status, found.pushed, found.push_error) == ("built", "pushed", "")
