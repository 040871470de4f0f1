"""The engine that builds datasets as tasks of a Ray cluster."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry import MissingDependencyError, RegistryError
from registry.api import Progress, SyncResult, install_advice
from registry.plugins.cluster.agreement import Facts, agree, facts, lost, marker_in, submitted

if TYPE_CHECKING:
    from registry.api import Job, Order

__all__ = ["RayEngine"]

_CONNECT_SECONDS = 30
_LOST_SECONDS = 30
_POLL_SECONDS = 0.25


class RayEngine:
    """Builds datasets, and the files of large ones, by the workers of a cluster."""

    def __init__(self, scheduler: str | None = None) -> None:
        """Connect to nothing yet; without a scheduler, workers of this machine are started."""
        self._scheduler = scheduler
        # Else Ray sends what it calls usage statistics.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ImportError as error:
            message = "the engine `ray` needs ray"
            raise MissingDependencyError(f"{message} ({install_advice(error)})") from error
        self._ray: Any = ray
        self._is_lost = False

    def run(self, order: Order) -> Generator[SyncResult]:
        """Build the datasets."""
        from registry.plugins.cluster import ray_worker

        with self._connected(order), marker_in(order.cache) as marker:
            ask = agree(order, self._facts(marker), marker)
            board = self._ray.remote(ray_worker.Board).options(num_cpus=0).remote()
            build = self._ray.remote(ray_worker.build)

            def submit(_: str, job: Job) -> Any:
                return build.remote(ask, board, job)

            waiting = iter(order.names)
            running: dict[Any, str] = {}
            try:
                yield from self._results(order, submit, board, waiting, running)
            except self._ray.exceptions.RayTaskError:
                raise
            except self._ray.exceptions.RayError:
                self._is_lost = True
                yield from lost([*running.values(), *waiting], "the Ray cluster")
            except BaseException:  # an interrupt, or a caller that stops early
                with contextlib.suppress(self._ray.exceptions.RayError):
                    self._ray.get(board.stop.remote(), timeout=_POLL_SECONDS)
                for task in running:
                    self._ray.cancel(task, force=False)
                raise

    @contextlib.contextmanager
    def _connected(self, order: Order) -> Iterator[None]:
        """Connect, unless this process is connected: its connection is its own."""
        if self._ray.is_initialized():
            yield
            return
        if self._scheduler is not None:
            _require_answer(self._scheduler)
        own = {"num_cpus": max(1, order.processes), "include_dashboard": False}
        try:
            self._ray.init(
                address=self._scheduler or "local",
                log_to_driver=False,
                logging_level=logging.CRITICAL,
                **({} if self._scheduler else own),
            )
        # Ray exits where it can't go on.
        except (OSError, RuntimeError, ValueError, SystemExit) as error:
            raise RegistryError(f"{self._scheduler or 'Ray'}: can't be used: {error}") from error
        try:
            yield
        finally:
            if not self._is_lost:  # else it would end this process before it has said so
                self._ray.shutdown()

    def _facts(self, marker: Path) -> dict[str, Facts | Exception]:
        """Return what each node has, by its address."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        ask = self._ray.remote(facts)
        asked = {}
        for node in self._ray.nodes():
            if node["Alive"] and node["Resources"].get("CPU"):
                there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                task = ask.options(num_cpus=0, max_retries=0, scheduling_strategy=there)
                asked[f"{node['NodeManagerAddress']}:{node['NodeManagerPort']}"] = task.remote(
                    marker
                )
        found: dict[str, Facts | Exception] = {}
        for address, later in asked.items():
            try:
                found[address] = self._ray.get(later, timeout=_CONNECT_SECONDS)
            except self._ray.exceptions.RayTaskError as error:
                found[address] = error.cause
            except self._ray.exceptions.RayError as error:
                found[address] = error
        if not found:
            raise RegistryError(f"{self._scheduler}: its nodes have no processors for tasks")
        return found

    def _results(
        self,
        order: Order,
        submit: Any,
        board: Any,
        waiting: Iterator[str],
        running: dict[Any, str],
    ) -> Generator[SyncResult]:
        """Submit what waits, and yield what is finished; `running` is what is neither."""
        most = max(order.jobs, int(self._ray.cluster_resources().get("CPU", 1)))
        while True:
            yield from submitted(order, waiting, running, most=most, submit=submit)
            if not running:
                return
            finished, _ = self._ray.wait(list(running), timeout=_POLL_SECONDS)
            # Ray ends this process when the head has been gone for a minute.
            events = self._ray.get(board.take.remote(), timeout=_LOST_SECONDS)
            for name, stage, done, total, note in events:
                order.report(name, Progress(stage, done, total, note))
            for task in finished:
                yield self._result(task, running.pop(task))

    def _result(self, task: Any, name: str) -> SyncResult:
        try:
            result: SyncResult = self._ray.get(task)
        except self._ray.exceptions.RayTaskError:
            raise
        except self._ray.exceptions.RayError as error:
            first = str(error).strip().partition("\n")[0]
            text = f"{name}: the workers that built it ended again and again: {first}"
            return SyncResult(name=name, status="failed", error=RegistryError(text))
        return result


def _require_answer(scheduler: str) -> None:
    """Raise an error if nothing listens: Ray would try for two minutes, and exit."""
    host, _, port = scheduler.rpartition("://")[2].rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=_CONNECT_SECONDS).close()
    except (OSError, ValueError, OverflowError) as error:
        text = f"{scheduler}: no head node of Ray answers: {error}"
        raise RegistryError(f"{text} (--scheduler HOST:PORT)") from error
