"""A mapper in a package of its own, and builds with workers forced."""

from __future__ import annotations

import itertools
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from registry.base.processes import child, executor, in_order
from registry.boundary.boundary import UNBOUNDED, Boundary
from registry.cache.cache import Cache
from registry.errors import RegistryError
from registry.manifest.models import DatasetSpec, to_spec
from registry.pipeline.builder import build
from registry.pipeline.fingerprint import pin_all
from registry.pipeline.parallel.shards import Shards
from registry.sources.pins import SourceContext

_numbers = itertools.count()
BLOCK_BYTES = 2_000


@dataclass(frozen=True)
class Builds:
    """A dataset, built by one process or by several."""

    spec: DatasetSpec
    folder: Path
    monkeypatch: pytest.MonkeyPatch
    boundary: Boundary = UNBOUNDED

    def result(self, jobs: int, *, left_to_workers: bool = False) -> list[dict[str, Any]] | str:
        """Return the rows, or the error; with several jobs, workers start after the first block.

        This process maps no more blocks then if they are `left_to_workers`. With one job, the row
        pipeline alone maps the records.
        """
        keywords = {"jobs": jobs, "least_seconds": 1e-9, "block_bytes": BLOCK_BYTES}
        with self.monkeypatch.context() as patch:
            patch.setattr(Shards.__init__, "__kwdefaults__", keywords)
            if left_to_workers:
                patch.setattr(Shards, "_can_offer", _can_offer_after_start)
                patch.setattr(in_order, "_is_free", lambda entry: entry.later is None)
            return self._result(jobs)

    def _result(self, jobs: int) -> list[dict[str, Any]] | str:
        context = SourceContext(
            boundary=self.boundary, cache=Cache(self.folder / "cache"), jobs=jobs
        )
        folder = self.folder / f"built-{next(_numbers)}"
        folder.mkdir()
        try:
            made = build(self.spec, pin_all(self.spec, context), context, folder)
        except RegistryError as error:
            return f"{type(error).__name__}: {error}"
        file = made.open()
        batches = [file.batch(number) for number in range(file.batch_count)]
        return [row for batch in batches for row in batch.to_pylist()]


_can_offer = Shards._can_offer


def _can_offer_after_start(self: Shards) -> bool:
    wait(self._ready)
    return _can_offer(self)


class WorkerHere:
    """A worker that is no process: it calls in a thread what it has pickled, and gives it pickled.

    A process would start for each build, and import in a second what maps 400 lines in milliseconds.
    """

    process_id = 0

    def send(self, function: str, *arguments: Any) -> None:
        self._answer = child._answer(None, function, _copied(arguments))  # type: ignore[arg-type]

    def receive(self, on_message: Callable[[Any], None] | None = None) -> Any:
        kind, value = _copied(self._answer)
        if kind == "result":
            return value
        raise value if kind == "error" else executor.WorkerLostError(value)

    def stop(self) -> None:
        """There is nothing to end."""

    close = stop


def _copied(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))


@pytest.fixture
def workers_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have workers that are threads of this process."""
    monkeypatch.setattr(executor, "_Worker", WorkerHere)


MakeBuilds = Callable[..., Builds]


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeBuilds:
    """Return builds of files with a mapper, whose code is given, or with keys of a manifest."""

    def make(*files: bytes, code: str = "", suffix: str = "jsonl", **keys: Any) -> Builds:
        paths = [tmp_path / f"{number}.{suffix}" for number, _ in enumerate(files)]
        for path, data in zip(paths, files, strict=True):
            path.write_bytes(data)
        if code:
            package = f"mapper_{next(_numbers)}"
            (tmp_path / f"{package}.py").write_text(code)
            monkeypatch.syspath_prepend(str(tmp_path))
            keys["mapper"] = f"{package}:f"
            monkeypatch.delitem(sys.modules, package, raising=False)
        source = {"type": "json", "path": [str(path) for path in paths]}
        spec = to_spec({"name": "d", "source": source, "folder": tmp_path, **keys})
        return Builds(spec, tmp_path, monkeypatch)

    return make
