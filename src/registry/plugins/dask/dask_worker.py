"""What runs on the workers of a Dask cluster."""

from __future__ import annotations

import platform
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from dask import distributed
from msgspec import Struct
from msgspec.structs import replace

from registry import RegistryError
from registry.api import (
    Cache,
    Job,
    Progress,
    Settings,
    SyncResult,
    WorkerLostError,
    digest_of,
    package_version_key,
    remote_cache,
    run_job,
)
from registry.plugins.remote_cache.of_dataset import open_remote_cache

__all__ = ["Facts", "JobRequest", "SampleStore", "StoppedError", "build", "facts", "stop"]

_REPORT_SECONDS = 0.25
_CALLS_FIRST = 10
"""Priority of a part of a dataset: one that has begun is finished before others begin."""

_stopped: set[str] = set()
"""Runs whose caller has stopped."""


class StoppedError(Exception):
    """Raised to end cancelled work."""


class Facts(Struct, frozen=True, kw_only=True):
    """What must be equal in all processes, and what a worker can reach."""

    python: str
    registry: str
    remote: str
    """Digest of the remote cache's URL, which may have a secret; empty without one."""
    sees: bool = True
    """Whether the cache's folder is that of the caller."""


class SampleStore(Struct, frozen=True, kw_only=True):
    """Where workers put samples: the folder that they share with the caller, or their own."""

    folder: Path | None
    marker: Path
    """A file of the caller's cache while it runs: who sees it shares the folder."""
    push: bool
    """Whether they go to the remote cache too, which the environment of the worker names."""

    def cache(self) -> Cache:
        """Return the cache of this process."""
        return Cache(self.folder or Settings.from_environment().cache_dir)


class JobRequest(Struct, frozen=True, kw_only=True):
    """The arguments that all tasks share."""

    run: str
    """Names the run of the caller."""
    place: SampleStore
    expected: Facts


def facts(marker: Path | None = None) -> Facts:
    """Return what there is in this process; `marker` is a file of the caller's cache."""
    remote = remote_cache()
    return Facts(
        python=platform.python_version(),
        registry=package_version_key(),
        remote="" if remote is None else digest_of(remote.url),
        sees=marker is None or marker.is_file(),
    )


async def stop(run: str) -> None:
    """End the tasks of a run in this process at their next report.

    Asynchronous, as the caller does not wait for it.
    """
    _stopped.add(run)


def build(ask: JobRequest, job: Job) -> SyncResult:
    """Build a dataset; with several files, by tasks of their own."""
    name = job.spec.name
    # A worker may have come since the caller compared them.
    if text := _difference(ask):
        address = distributed.get_worker().address
        text = f"the worker {address} {text}"
        return SyncResult(name=name, status="failed", error=RegistryError(text))
    try:
        remote = remote_cache() if ask.place.push else None
        push_to = None if remote is None else open_remote_cache(remote)
    except RegistryError as error:
        return SyncResult(name=name, status="failed", error=error)
    return run_job(
        job,
        ask.place.cache(),
        push_to=push_to,
        report=_Reports(ask.run, name),
        elsewhere=_Calls(ask),
    )


def _difference(ask: JobRequest) -> str:
    """Return how this process differs from the caller; empty if it does not."""
    own = facts(ask.place.marker if ask.place.folder else None)
    if replace(own, remote=ask.expected.remote, sees=True) != ask.expected:
        return "has another version of Python or registry"
    if not own.sees:
        return (
            f"came later, and does not see the cache {ask.place.folder}, which the others share"
            " (mount it there, or let no worker see it and set REGISTRY_REMOTE_CACHE)"
        )
    return ""


def call(ask: JobRequest, function: str, arguments: tuple[Any, ...]) -> Any:
    """Call a function that takes a `Tell`, with the cache of this process in place of another."""
    module, _, name = function.partition(":")
    own = [ask.place.cache() if isinstance(one, Cache) else one for one in arguments]
    return getattr(import_module(module), name)(_Reports(ask.run, ""), *own)


class _Reports:
    """Sends progress to the caller, at a rate that the scheduler can take; ends cancelled work."""

    def __init__(self, run: str, name: str) -> None:
        self._run, self._name = run, name
        self._worker = distributed.get_worker()
        self._next = 0.0
        self._stage = ""

    def __call__(self, progress: Progress) -> None:
        if self._run in _stopped:
            raise StoppedError
        now = time.monotonic()
        if not self._name or (now < self._next and progress.stage == self._stage):
            return
        self._next, self._stage = now + _REPORT_SECONDS, progress.stage
        event = (self._name, progress.stage, progress.done, progress.total, progress.note)
        self._worker.log_event(self._run, event)


class _Calls:
    """Calls by any worker of the cluster, from a task of it."""

    def __init__(self, ask: JobRequest) -> None:
        self._ask = ask
        self._client: Any = None

    @property
    def most(self) -> int:
        """One call for each thread of the cluster, and as many that wait."""
        threads: dict[str, int] = self._connected().nthreads()
        return 2 * max(1, sum(threads.values()))

    def call(self, function: str, *arguments: Any) -> _Call:
        """Submit a task."""
        future = self._connected().submit(
            call,
            self._ask,
            function,
            arguments,
            pure=False,
            priority=_CALLS_FIRST,
            key=f"part-{distributed.get_worker().name}-{time.monotonic_ns()}",
        )
        return _Call(future)

    def _connected(self) -> Any:
        if self._client is None:
            self._client = distributed.get_client()
            # Else this task, which only waits, would take a thread of the worker.
            distributed.secede()
        return self._client


class _Call:
    """A task whose result comes later."""

    def __init__(self, future: Any) -> None:
        self._future = future

    def result(self, timeout: float | None = None) -> Any:
        """Return the result; a task of a lost worker is run again by the scheduler."""
        # `Future.result` would drop what has arrived of a large result at each time limit.
        distributed.wait(self._future, timeout=timeout)
        try:
            return self._future.result()
        except distributed.KilledWorker as error:
            raise WorkerLostError(f"workers ended again and again: {error}") from error

    def done(self) -> bool:
        """Return whether it has ended."""
        return bool(self._future.done())

    def cancel(self) -> None:
        """Drop the task."""
        self._future.cancel()
