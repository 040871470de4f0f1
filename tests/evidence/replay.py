"""Build a dataset from a real file on the whole road: decode, steps, mapping, `expect`, digest."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import tarfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec.structs import replace

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.load.load import load
from registry.manifest.models import DatasetSpec, View
from registry.manifest.source import Source
from registry.samples.dataset import Dataset
from tests.evidence.conversions import BY_FILE, CONVERSIONS

__all__ = ["build", "converted", "decode", "located", "named_paths", "written"]

csv.field_size_limit(1 << 28)
_TABLES: dict[str, Callable[[Path], pa.Table]] = {
    ".parquet": pq.read_table,
    ".arrow": lambda path: pa.ipc.open_stream(path).read_all(),
}
_HEADLESS = {
    "mgsm_*.tsv": ("input", "target"),
    "dataset.tsv": ("language", "origin", "note", "sentence", "tokens", "pronoun", "candidates"),
}
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def decode(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file, read without Registry's decoders."""
    suffix = Path(path.stem).suffix if path.suffix in _OPENERS else path.suffix
    if suffix in _TABLES:
        records: list[dict[str, Any]] = _TABLES[suffix](path).to_pylist()
        return records
    if suffix == ".jpg":
        return [{"bytes": path.read_bytes(), "path": path.name}]
    if path.name.endswith(".tar.gz"):
        with tarfile.open(path) as archive:
            (member,) = archive.getmembers()
            member_file = archive.extractfile(member)
            text = member_file.read().decode() if member_file else ""
        return list(_json(io.StringIO(text)))
    with _OPENERS.get(path.suffix, open)(path, "rb") as packed:
        data = packed.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("mac_roman")
    file = io.StringIO(text, newline="")
    file.name = str(path)
    return list(_READERS[suffix](file))


def _json(file: IO[str]) -> Iterator[dict[str, Any]]:
    text = file.read()
    try:
        data = json.loads(text)
    except json.JSONDecodeError:
        # Some files of this name have a record per line. `splitlines` also splits at U+2028.
        yield from (json.loads(line) for line in text.split("\n") if line.strip())
        return
    if isinstance(data, dict) and [type(one) for one in data.values()].count(list) == 1:
        # The records may stand beside other keys, such as `canary`.
        data = next(one for one in data.values() if isinstance(one, list))
    yield from data if isinstance(data, list) else [data]


def _csv(file: IO[str], delimiter: str = ",") -> Iterator[dict[str, Any]]:
    columns = next(
        (found for name, found in _HEADLESS.items() if Path(file.name).match(name)), None
    )
    header = file.readline()
    file.seek(0)
    delimiter = ";" if header.count(";") > header.count(delimiter) else delimiter
    yield from csv.DictReader(file, columns, delimiter=delimiter)


def _text(file: IO[str]) -> Iterator[dict[str, Any]]:
    if file.read(1) == "{":
        file.seek(0)
        yield from _json(file)
        return
    file.seek(0)
    yield from ({"text": line.rstrip("\r\n")} for line in file)


_READERS: dict[str, Callable[[IO[str]], Iterator[dict[str, Any]]]] = {
    ".json": _json,
    ".jsonl": _json,
    ".csv": _csv,
    ".txt": _text,
    ".lst": lambda file: ({"label": record["text"]} for record in _text(file)),
    ".tsv": partial(_csv, delimiter="\t"),
}


def converted(files: Sequence[Path], convert: str, folder: Path) -> Path | Sequence[Path]:
    """Return what to build from: the files as they are, or one file of all of them converted."""
    if not convert:
        return files[0] if len(files) == 1 else files
    by_name = {file.name: decode(file) for file in files}
    if convert in BY_FILE:
        records = BY_FILE[convert](by_name)
    else:
        records = CONVERSIONS[convert]([one for some in by_name.values() for one in some])
    return written(list(records), folder)


def written(records: list[dict[str, Any]], folder: Path) -> Path:
    """Write records to a file: lines of JSON, or Parquet where they have bytes."""
    try:
        lines = [json.dumps(record) + "\n" for record in records]
    except TypeError:
        path = folder / "records.parquet"
        pq.write_table(pa.Table.from_pylist(records), path)
        return path
    path = folder / "records.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def named_paths(spec: DatasetSpec) -> list[str]:
    """Return the files that a dataset names: of its sources, then its lookup table."""
    table = () if spec.join is None else (spec.join.source,)
    return [path for source in (*spec.sources, *table) for path in source.paths()]


def located(spec: DatasetSpec, files: Sequence[Path]) -> DatasetSpec:
    """Return a dataset with files in place of those that it names."""
    left = iter(files)

    def moved(source: Source) -> Source:
        paths = (Location(path).with_file(lambda _: str(next(left))) for path in source.paths())
        found: Source = replace(source, path=tuple(paths), sha256=None)  # type: ignore[type-var]
        return found

    sources = tuple(map(moved, spec.sources))
    concat = sources if spec.concat else ()
    join = None if spec.join is None else replace(spec.join, source=moved(spec.join.source))
    return replace(spec, source=sources[0], concat=concat, join=join)


def build(
    catalog: Catalog,
    name: str,
    file: Path | Sequence[Path],
    cache: Path,
    *,
    whole: bool,
    view: bool = True,
) -> Dataset:
    """Build a dataset from a file of its records.

    Args:
        catalog: Where the dataset is.
        name: The dataset.
        file: The file, or all those that the manifest names, in their order.
        cache: A folder.
        whole: Whether these are all records, so that `expect.samples` holds too.
        view: Whether its limit and its orders of samples and choices apply.
    """
    spec = catalog.resolve(name)
    expect = spec.expect if whole else replace(spec.expect, samples=None)
    files = [file] if isinstance(file, Path) else file
    if isinstance(file, Path) and not (whole and len(named_paths(spec)) == len(files)):
        spec = catalog.resolve(name, source=str(file))
    else:
        spec = located(spec, files)
    spec = replace(spec, expect=expect)
    if not view:
        spec = replace(spec, view=View(auto_id=spec.view.auto_id))
    return load(spec, Cache(cache), boundary=UNBOUNDED).dataset.as_stored()
