"""The engine that builds datasets as tasks of a Dask cluster."""

from __future__ import annotations

import contextlib
import logging
import uuid
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from registry import MissingDependencyError, RegistryError
from registry.api import Progress, SyncResult, install_advice

if TYPE_CHECKING:
    from registry.api import Cache, Order
    from registry.plugins.dask.dask_worker import Facts, JobRequest

__all__ = ["DaskEngine"]

_CONNECT_SECONDS = 30
# They log tracebacks of a lost scheduler, which is reported; the second has a level of its own.
_LOGGERS = ("distributed", "distributed.client")
# Run by workers of this machine: Ctrl-C reaches all processes of a terminal, and each would print
# where it was. The caller ends them.
_IGNORE_INTERRUPTS = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"


class DaskEngine:
    """Builds datasets, and the files of large ones, by the workers of a cluster."""

    def __init__(self, scheduler: str | None = None) -> None:
        """Connect to nothing yet; without a scheduler, workers of this machine are started."""
        self._scheduler = scheduler
        try:
            from dask import distributed
        except ImportError as error:
            message = "the engine `dask` needs dask and distributed"
            raise MissingDependencyError(f"{message} ({install_advice(error)})") from error
        self._distributed: Any = distributed

    def run(self, order: Order) -> Generator[SyncResult]:
        """Build the datasets."""
        with _quiet(), self._client(order) as client, _marker(order.cache) as marker:
            ask = self._agree(client, order, marker)
            try:
                yield from self._results(client, order, ask)
            except BaseException:  # an interrupt, or a caller that stops early
                from registry.plugins.dask.dask_worker import stop

                with contextlib.suppress(OSError):  # a cluster that is gone has nothing to end
                    client.run(stop, ask.run, wait=False, on_error="ignore")
                raise

    @contextlib.contextmanager
    def _client(self, order: Order) -> Iterator[Any]:
        if self._scheduler is None:
            with (
                self._distributed.LocalCluster(
                    n_workers=max(1, order.processes),
                    threads_per_worker=1,
                    dashboard_address=":0",
                    preload=[_IGNORE_INTERRUPTS],
                    silence_logs=logging.ERROR,  # what it warns of at its end is no news
                ) as cluster,
                self._distributed.Client(cluster) as client,
            ):
                yield client
            return
        try:
            client = self._distributed.Client(self._scheduler, timeout=_CONNECT_SECONDS)
            client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            text = f"{self._scheduler}: no scheduler with a worker answers: {error}"
            raise RegistryError(f"{text} (--scheduler tcp://HOST:PORT)") from error
        with client:
            yield client

    def _agree(self, client: Any, order: Order, marker: Path) -> JobRequest:
        """Compare all workers with this process; return the arguments that all tasks share.

        Raises:
            RegistryError: a worker differs, or its samples would reach neither this cache nor a
                remote one.
        """
        from registry.plugins.dask.dask_worker import JobRequest, SampleStore, facts

        own = facts()
        found: Mapping[str, Any] = client.run(facts, marker, on_error="return")
        for address, there in found.items():
            _check_worker(address, there, own)
        is_seen = all(there.sees for there in found.values())
        if not is_seen and not own.remote:
            blind = next(address for address, there in found.items() if not there.sees)
            raise RegistryError(
                f"the worker {blind} does not see the cache {order.cache.root}, and there is no"
                " remote cache for its samples (REGISTRY_REMOTE_CACHE names one, for all workers)"
            )
        push = order.push_to is not None or not is_seen
        folder = order.cache.root if is_seen else None
        place = SampleStore(folder=folder, marker=marker, push=push)
        return JobRequest(run=f"registry-{uuid.uuid4().hex}", place=place, expected=own)

    def _results(self, client: Any, order: Order, ask: JobRequest) -> Generator[SyncResult]:
        def show(event: tuple[float, tuple[Any, ...]]) -> None:
            name, stage, done, total, note = event[1]
            order.report(name, Progress(stage, done, total, note))

        client.subscribe_topic(ask.run, show)
        waiting = iter(order.names)
        running: dict[Any, str] = {}
        scheduler = client.scheduler.address
        try:
            yield from self._finished(client, order, ask, waiting, running)
        except (self._distributed.CancelledError, self._distributed.comm.CommClosedError):
            # The client has waited for the scheduler to come back.
            for name in [*running.values(), *waiting]:
                error = RegistryError(
                    f"{name}: the scheduler {scheduler} was lost before the samples were built"
                    " (run the command again: what was built is cached)"
                )
                yield SyncResult(name=name, status="failed", error=error)
            return
        except BaseException:
            client.unsubscribe_topic(ask.run)
            client.cancel(list(running))
            raise
        client.unsubscribe_topic(ask.run)

    def _finished(
        self,
        client: Any,
        order: Order,
        ask: JobRequest,
        waiting: Iterator[str],
        running: dict[Any, str],
    ) -> Generator[SyncResult]:
        """Submit what waits, and yield what is finished; `running` is what is neither."""
        from registry.plugins.dask import dask_worker

        finished = self._distributed.as_completed()
        while True:
            # As many as keep the workers busy: each may hold rows of several files.
            most = max(order.jobs, sum(client.nthreads().values()))
            while len(running) < most and (name := next(waiting, None)) is not None:
                try:
                    job = order.job(name)
                except RegistryError as error:
                    yield SyncResult(name=name, status="failed", error=error)
                    continue
                key = f"{name}-{ask.run}"
                future = client.submit(dask_worker.build, ask, job, pure=False, key=key)
                running[future] = name
                finished.add(future)
            if not running:
                return
            future = next(finished)
            result = self._result(future, running[future])
            del running[future]
            yield result

    def _result(self, future: Any, name: str) -> SyncResult:
        try:
            result: SyncResult = future.result()
        except self._distributed.KilledWorker as error:
            text = f"{name}: the workers that built it ended again and again: {error}"
            return SyncResult(name=name, status="failed", error=RegistryError(text))
        return result


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    levels = {logger: logger.level for logger in map(logging.getLogger, _LOGGERS)}
    for logger in levels:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


@contextlib.contextmanager
def _marker(cache: Cache) -> Iterator[Path]:
    """Yield a file in a cache: a process that sees it uses the same folder."""
    with cache.temporary() as folder:
        path = folder / f"seen-{uuid.uuid4().hex}"
        path.touch()
        yield path


def _check_worker(address: str, there: Facts | Exception, own: Facts) -> None:
    if isinstance(there, Exception):
        raise RegistryError(
            f"the worker {address} can't run registry: {type(there).__name__}: {there}"
            " (install the same version there)"
        ) from there
    if replace(there, sees=True) == own:
        return
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
