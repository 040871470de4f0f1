"""Sources of several parts, and a process that maps them as another one does."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from registry.base.executor import Executor, WorkerLostError
from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.errors import RegistryError
from registry.manifest.models import DatasetSpec, to_spec
from registry.pipeline.builder import build
from registry.pipeline.fingerprint import pin_all
from registry.pipeline.map_source import answer
from registry.sources.pins import SourceContext

FIELDS = {"input": "q", "target": "a", "metadata": ["m"]}
Records = list[dict[str, Any]]
RECORDS: Records = [{"q": f"q{n}", "a": "x", "m": n} for n in range(7)]


@dataclass
class Now:
    """The result of a call that was made at once."""

    value: Any

    def result(self, timeout: float | None = None) -> Any:
        if isinstance(self.value, Exception):
            raise self.value
        return self.value

    def cancel(self) -> None: ...


@dataclass
class Here:
    """Calls by this process, through pickles as if it were another one."""

    most: int = 3
    lost: bool = False
    answers: list[Any] = field(default_factory=list)

    def call(self, function: str, *arguments: Any) -> Now:
        assert function == f"{answer.__module__}:answer"
        if self.lost:
            return Now(WorkerLostError("a worker process was killed by signal 9"))
        task, cache = pickle.loads(pickle.dumps(arguments))
        try:
            found = answer(lambda message: None, task, cache)
        except RegistryError as error:
            return Now(error)
        self.answers.append(found)
        return Now(pickle.loads(pickle.dumps(found)))


def spec_of(folder: Path, **keys: Any) -> DatasetSpec:
    source = {"type": "json", "path": [str(folder / "p*.jsonl")]}
    return to_spec({"name": "d", "folder": folder, "source": source, "fields": FIELDS, **keys})


def write(folder: Path, parts: list[Records]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("p*.jsonl"):
        old.unlink()
    for number, records in enumerate(parts):
        text = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"p{number:03}.jsonl").write_text(text)


def parquet_spec(folder: Path, **keys: Any) -> DatasetSpec:
    source = {"type": "parquet", "path": [str(folder / "*.parquet")]}
    return to_spec({"name": "d", "folder": folder, "source": source, "fields": FIELDS, **keys})


def write_groups(path: Path, columns: dict[str, Any], rows: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, row_group_size=rows, compression="none")


def columns_of(count: int, **other: Any) -> dict[str, Any]:
    numbers = range(count)
    return {
        "q": [f"question {n}?" for n in numbers],
        "a": ["x"] * count,
        "m": list(numbers),
        **other,
    }


def built(spec: DatasetSpec, folder: Path, elsewhere: Executor | None) -> Any:
    """Return the rows and what is known about them, or the error."""
    own = folder / ("one" if elsewhere is None else f"other-{id(elsewhere)}")
    own.mkdir(parents=True)
    context = SourceContext(boundary=UNBOUNDED, cache=Cache(folder / "cache"), elsewhere=elsewhere)
    try:
        made = build(spec, pin_all(spec, context), context, own)
    except RegistryError as error:
        return f"{type(error).__name__}: {error}"
    file = made.open()
    rows = [row for n in range(file.batch_count) for row in file.batch(n).to_pylist()]
    return made.sha256, made.rows, made.columns, made.quality, made.repeated, rows
