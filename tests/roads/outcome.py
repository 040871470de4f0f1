"""The result of a build by each pipeline: samples or an error, in comparable form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import NoneType
from typing import Any

import pytest

from registry import decode as tables
from registry.base.executor import Executor
from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.decode import arrow_files, csv_tables, json_batches
from registry.decode.frame import AnyFrame, Frame, NotColumnarError
from registry.decode.stream import SourceBytes
from registry.errors import RegistryError
from registry.manifest.models import DatasetSpec, to_spec
from registry.pipeline import parts, pipeline
from registry.pipeline.builder import build
from registry.sources.hub import records as hub_records
from registry.sources.pins import PinnedFile, Pins, SourceContext, SourcePin
from registry.store import writer as sample_writer
from registry.store.arrow_dataset import ArrowDataset
from tests.pipeline.elsewhere import Here

__all__ = [
    "Case",
    "Outcome",
    "by_columns",
    "by_parts",
    "by_records",
    "frozen",
    "run_both_pipelines",
]


@dataclass(frozen=True)
class Case:
    """A file, and how it becomes samples."""

    data: bytes
    name: str
    """Name of the file; its suffix tells the form."""
    source: dict[str, Any] = field(default_factory=dict)
    """The source in a manifest, without its path."""
    keys: dict[str, Any] = field(default_factory=dict)
    """The other keys of a dataset."""
    more: tuple[bytes, ...] = ()
    """Files of the same name that follow."""
    limit: int | None = None
    block: int = 1 << 16
    """Bytes of a block that is decoded at a time."""
    rows: int = 1 << 10
    """Rows that are handled at a time."""
    resolve: Callable[[Path], DatasetSpec] | None = None
    """Gives the dataset of a file, in place of `source` and `keys`."""


@dataclass(frozen=True)
class Outcome:
    """Result of a build."""

    samples: tuple[Any, ...] = ()
    records: tuple[int, ...] = ()
    """Number of each sample's record."""
    repeated: frozenset[str | int] = frozenset()
    choice_starts: tuple[int, ...] = (0,)
    """Where the choices of each sample start among those of all, which a shuffle of them reads."""
    quality: dict[str, Any] = field(default_factory=dict)
    """What is questionable in the samples."""
    error: tuple[str, str] | None = None
    """Class and text of the raised error."""


_PLAIN = frozenset({str, int, float, bool, NoneType})


def frozen(value: Any) -> Any:
    """Return a form of a value in which `==` also compares types, key order and NaN."""
    if type(value) in _PLAIN:
        return (type(value).__name__, repr(value))
    if isinstance(value, dict):
        return ("dict", *((frozen(key), frozen(item)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        return (type(value).__name__, *map(frozen, value))
    if hasattr(value, "model_dump"):
        return (type(value).__name__, frozen(value.__dict__))
    return (type(value).__name__, repr(value))


def run_both_pipelines(case: Case) -> tuple[Outcome, Outcome, int]:
    """Return the outcome of the default and of the row pipeline, and the columnar row count."""
    frames: list[int] = []
    with TemporaryDirectory(prefix="roads-") as folder:
        return by_columns(case, Path(folder), frames), by_records(case, Path(folder)), sum(frames)


def by_columns(case: Case, folder: Path, frames: list[int] | None = None) -> Outcome:
    """Build with both pipelines enabled; `frames` gets the number of records of each frame that was decoded."""
    decode_tables = tables.decode_tables

    def counted(*args: Any) -> Iterator[AnyFrame]:
        for frame in decode_tables(*args):
            if frames is not None:
                frames.append(frame.count)
            yield frame

    return _outcome(case, folder, counted)


def by_records(case: Case, folder: Path) -> Outcome:
    """Build with the columnar pipeline disabled."""
    return _outcome(case, folder, _closed)


def by_parts(case: Case, folder: Path) -> Outcome:
    """Build with parts of the file mapped as another process does."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_LEAST_BYTES", "_LEAST_MAPPER_BYTES"):
            patch.setattr(parts, name, max(64, case.block // 2))
        return _outcome(case, folder, tables.decode_tables, Here())


def _closed(*_: Any) -> Iterator[Frame]:
    raise NotColumnarError("closed")


def _outcome(
    case: Case, folder: Path, decode_tables: Any, elsewhere: Executor | None = None
) -> Outcome:
    paths = _written(case, folder)
    spec = _spec_of(case, paths)
    files = tuple(PinnedFile(Location(str(one)), "", one.stat().st_size) for one in paths)
    pins = Pins((SourcePin({}, files),))
    cache = Cache(folder / "cache")
    context = SourceContext(boundary=UNBOUNDED, cache=cache, elsewhere=elsewhere)
    with _constants(case) as patch, TemporaryDirectory(dir=folder) as made:
        patch.setattr(tables, "decode_tables", decode_tables)
        for name in ("fetch_hub", "fetch_hub_part"):
            patch.setattr(
                hub_records, name, lambda *_: SourceBytes.of_file(str(paths[0]), paths[0])
            )
        try:
            written = build(spec, pins, context, Path(made), limit=case.limit)
        except RegistryError as error:
            return Outcome(error=(type(error).__name__, str(error)))
        file = written.open()
        dataset = ArrowDataset(file, name="d", location="")
        samples = tuple(frozen(vars(sample)) for sample in dataset)
        batches = list(file.full_batches())
        records = tuple(one for batch in batches for one in batch.column("record").to_pylist())
        quality = dict(written.quality)
        if case.limit is not None:  # by columns, more records are read than are needed
            quality.pop("unused_columns", None)
        starts = tuple(file.choice_starts().tolist())
        return Outcome(samples, records, written.repeated, starts, quality)


def _written(case: Case, folder: Path) -> list[Path]:
    paths = []
    for number, data in enumerate((case.data, *case.more)):
        path = folder / str(number) / case.name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        paths.append(path)
    return paths


def _spec_of(case: Case, paths: list[Path]) -> DatasetSpec:
    if case.resolve is not None:
        return case.resolve(paths[0])
    source = case.source
    if source["type"] != "hf":
        source = {**source, "path": tuple(map(str, paths))}
    keys = {**case.keys, "name": "d", "source": source, "folder": paths[0].parent}
    return to_spec(keys)


@contextmanager
def _constants(case: Case) -> Iterator[pytest.MonkeyPatch]:
    """Reduce block and batch sizes so that a small file has many."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in (
            (json_batches, "_BATCH_BYTES", case.block),
            (json_batches, "_BATCH_RECORDS", case.rows),
            (csv_tables, "_BLOCK_BYTES", max(case.block, 256)),
            (arrow_files, "_BATCH_ROWS", case.rows),
            (arrow_files, "_FIRST_ROWS", 2),
            (sample_writer, "_BATCH_ROWS", case.rows),
            (pipeline, "_CHUNK_ROWS", case.rows),
            (pipeline, "_FEW_ROWS", case.rows),
        ):
            patch.setattr(module, name, value)
        yield patch
