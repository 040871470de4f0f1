"""What the caller and the workers of a cluster agree on: versions, caches, and what a task does."""

from __future__ import annotations

import contextlib
import platform
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from registry import RegistryError
from registry.api import (
    Cache,
    Job,
    Order,
    Report,
    Settings,
    SyncResult,
    digest_of,
    package_version_key,
    remote_cache,
    run_job,
)
from registry.plugins.remote_cache.of_dataset import open_remote_cache

__all__ = [
    "Facts",
    "JobRequest",
    "SampleStore",
    "StoppedError",
    "agree",
    "build",
    "call",
    "facts",
    "lost",
    "marker_in",
    "submitted",
]


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


@contextlib.contextmanager
def marker_in(cache: Cache) -> Iterator[Path]:
    """Yield a file in a cache: a process that sees it uses the same folder."""
    with cache.temporary() as folder:
        path = folder / f"seen-{uuid.uuid4().hex}"
        path.touch()
        yield path


def facts(marker: Path | None = None) -> Facts:
    """Return what there is in this process; `marker` is a file of the caller's cache."""
    remote = remote_cache()
    return Facts(
        python=platform.python_version(),
        registry=package_version_key(),
        remote="" if remote is None else digest_of(remote.url),
        sees=marker is None or marker.is_file(),
    )


def agree(order: Order, found: Mapping[str, Facts | Exception], marker: Path) -> JobRequest:
    """Compare what was found on all workers with this process.

    Args:
        order: What is to be built.
        found: The facts of each worker, or why it has none.
        marker: The file that they were asked for.

    Raises:
        RegistryError: a worker differs, or its samples would reach neither this cache nor a
            remote one.
    """
    own = facts()
    seen = {address: _checked(address, there, own).sees for address, there in found.items()}
    is_seen = all(seen.values())
    if not is_seen and not own.remote:
        blind = next(address for address, sees in seen.items() if not sees)
        raise RegistryError(
            f"the worker {blind} does not see the cache {order.cache.root}, and there is no"
            " remote cache for its samples (REGISTRY_REMOTE_CACHE names one, for all workers)"
        )
    push = order.push_to is not None or not is_seen
    place = SampleStore(folder=order.cache.root if is_seen else None, marker=marker, push=push)
    return JobRequest(run=f"registry-{uuid.uuid4().hex}", place=place, expected=own)


def _checked(address: str, there: Facts | Exception, own: Facts) -> Facts:
    if isinstance(there, Exception):
        raise RegistryError(
            f"the worker {address} can't run registry: {type(there).__name__}: {there}"
            " (install the same version there)"
        ) from there
    what = {
        "python": "Python",
        "registry": "registry",
        "remote": "REGISTRY_REMOTE_CACHE",
    }
    for field, shown in what.items():
        mine, other = getattr(own, field), getattr(there, field)
        if mine != other:
            values = "" if field != "python" else f" {other}, here {mine}"
            raise RegistryError(
                f"the worker {address} has another {shown}{values} (make them equal: samples"
                " must not depend on the machine)"
            )
    return there


def submitted(
    order: Order,
    waiting: Iterator[str],
    running: dict[Any, str],
    *,
    most: int,
    submit: Callable[[str, Job], Any],
) -> Iterator[SyncResult]:
    """Submit what waits until `most` tasks are `running`; yield what can't be submitted.

    As many as keep the workers busy are enough: each may hold rows of several files.
    """
    while len(running) < most and (name := next(waiting, None)) is not None:
        try:
            job = order.job(name)
        except RegistryError as error:
            yield SyncResult(name=name, status="failed", error=error)
        else:
            running[submit(name, job)] = name


def lost(names: Iterable[str], what: str) -> Iterator[SyncResult]:
    """Yield the results of the datasets that were not finished when a part of the cluster ended."""
    for name in names:
        error = RegistryError(
            f"{name}: {what} was lost before the samples were built"
            " (run the command again: what was built is cached)"
        )
        yield SyncResult(name=name, status="failed", error=error)


def build(ask: JobRequest, job: Job, *, address: str, report: Report, calls: Any) -> SyncResult:
    """Build a dataset in a task of a worker.

    `report` raises StoppedError when the caller has stopped; `calls` gives the files to further
    tasks.
    """
    # The worker may have come since the caller compared them.
    if text := _difference(ask):
        error = RegistryError(f"the worker {address} {text}")
        return SyncResult(name=job.spec.name, status="failed", error=error)
    try:
        remote = remote_cache() if ask.place.push else None
        push_to = None if remote is None else open_remote_cache(remote)
    except RegistryError as error:
        return SyncResult(name=job.spec.name, status="failed", error=error)
    return run_job(job, ask.place.cache(), push_to=push_to, report=report, elsewhere=calls)


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


def call(ask: JobRequest, function: str, arguments: tuple[Any, ...], report: Report) -> Any:
    """Call a function that takes a `Tell`, with the cache of this process in place of another."""
    module, _, name = function.partition(":")
    own = [ask.place.cache() if isinstance(one, Cache) else one for one in arguments]
    return getattr(import_module(module), name)(report, *own)
