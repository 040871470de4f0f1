"""The engine that builds datasets as tasks of a Dask cluster."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

from registry import MissingDependencyError, RegistryError
from registry.api import Progress, SyncResult, install_advice
from registry.plugins.cluster.agreement import agree, facts, lost, marker_in, submitted

if TYPE_CHECKING:
    from registry.api import Job, Order
    from registry.plugins.cluster.agreement import JobRequest

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
        with _quiet(), self._client(order) as client, marker_in(order.cache) as marker:
            ask = agree(order, client.run(facts, marker, on_error="return"), marker)
            try:
                yield from self._results(client, order, ask)
            except BaseException:  # an interrupt, or a caller that stops early
                from registry.plugins.cluster.dask_worker import stop

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
            yield from lost([*running.values(), *waiting], f"the scheduler {scheduler}")
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
        from registry.plugins.cluster import dask_worker

        finished = self._distributed.as_completed()

        def submit(name: str, job: Job) -> Any:
            key = f"{name}-{ask.run}"
            future = client.submit(dask_worker.build, ask, job, pure=False, key=key)
            finished.add(future)
            return future

        while True:
            most = max(order.jobs, sum(client.nthreads().values()))
            yield from submitted(order, waiting, running, most=most, submit=submit)
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
