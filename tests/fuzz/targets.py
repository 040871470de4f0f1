"""What is fuzzed: each target feeds bytes of a stranger to one reader.

A target may raise what its callers expect, `RegistryError` and the documented `ValueError` of
parsers; any other exception, a hang, a file opened elsewhere or a connection is a finding.
"""

from __future__ import annotations

import contextlib
import json
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from registry.base.locations import Location
from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.decode import decode, decode_tables
from registry.decode.frame import NotColumnarError
from registry.decode.stream import SourceBytes
from registry.errors import RegistryError
from registry.lint.runner import check
from registry.load.load import load
from registry.lockfile.models import read_lock, read_sides
from registry.manifest.models import FieldsSpec
from registry.manifest.source_models import CsvSource, JsonSource, ParquetSource
from registry.manifest.templates import parse_template
from registry.mapping.field_mapper import map_fields
from registry.yamldoc.reader import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["TARGETS", "run_target"]

_INDEX = "version: 1\ninclude: [registry/*.yaml]\n"
_MANIFEST = "datasets: {d: {source: {type: csv, path: data.csv}, fields: {input: q, target: a}}}\n"
_DATA = 'q,a,choices,n\nWhat?,B,"[""x"", ""y""]",1\nWhy?,A,"x,y",\n'
_RECORDS: list[dict[str, Any]] = [
    {"q": "What?", "a": "B", "choices": ["x", "y"], "n": 1, "nested": {"x": [{"y": None}]}},
    {"q": "", "a": None, "choices": '["x"]', "n": -0.5, "nested": {}},
]
_MOST_DATASETS = 3
_MOST_RECORDS = 1000


def run_target(name: str, data: bytes) -> None:
    """Run a target on some bytes; an exception that its callers don't expect is a finding."""
    with warnings.catch_warnings(), contextlib.suppress(RegistryError):
        warnings.simplefilter("ignore")
        TARGETS[name](data)


def _catalog(files: dict[str, bytes | str]) -> None:
    """Validate a catalog of these files, and build what resolves, without requests."""
    with TemporaryDirectory(prefix="registry-fuzz-") as folder:
        root = Path(folder)
        for name, content in {"data.csv": _DATA, **files}.items():
            path = root / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        catalog = Catalog.open(root, keep=False)
        check(catalog)
        for name in list(catalog)[:_MOST_DATASETS]:
            with contextlib.suppress(RegistryError):
                spec, cache = catalog[name], Cache(root / "cache")
                load(spec, cache, boundary=catalog.boundary, offline=True, full=True)


def _yaml(data: bytes) -> None:
    parse_bytes(data, file="fuzz.yaml")


def _manifest(data: bytes) -> None:
    _catalog({"datasets.yaml": _INDEX, "registry/m.yaml": data})


def _index(data: bytes) -> None:
    _catalog({"datasets.yaml": data, "registry/m.yaml": _MANIFEST})


def _lock(data: bytes) -> None:
    _catalog({"datasets.yaml": _INDEX, "registry/m.yaml": _MANIFEST, "datasets.lock": data})


def _lock_sides(data: bytes) -> None:
    with TemporaryDirectory(prefix="registry-fuzz-") as folder:
        path = Path(folder, "datasets.lock")
        path.write_bytes(data)
        for read in (read_lock, read_sides):
            with contextlib.suppress(RegistryError):
                read(path)


def _fields(data: bytes) -> None:
    fields = parse_bytes(data, file="fuzz.yaml").value
    if not isinstance(fields, dict) or not fields.keys() <= set(FieldsSpec.__struct_fields__):
        return
    with contextlib.suppress(ValueError):
        mapper = map_fields(fields)
        for record in _RECORDS:
            with contextlib.suppress(ValueError):
                mapper(record)


def _template(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    with contextlib.suppress(ValueError):
        parse_template(text)
        mapper = map_fields({"input": {"template": text}, "target": "a"})
        mapper(_RECORDS[0])


def _url(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    parsed = Location(text)
    for part in ("public", "protocol", "member"):
        getattr(parsed, part)
    parsed.local_path()
    location = json.dumps(text)
    _catalog(
        {
            "datasets.yaml": "version: 1\n"
            f"datasets: {{d: {{source: {{type: csv, path: {location}}}}},"
            f" e: {{source: {{type: hf, path: {location}, split: test}}}}}}\n"
        }
    )


def _decoder(name: str, *sources: Any) -> Callable[[bytes], None]:
    """Return a target that decodes a file by record and by column."""

    def run(data: bytes) -> None:
        with TemporaryDirectory(prefix="registry-fuzz-") as folder:
            path = Path(folder, name)
            path.write_bytes(data)
            file = SourceBytes.of_file(name, path)
            for source in sources:
                with contextlib.suppress(RegistryError):
                    for _, _record in zip(range(_MOST_RECORDS), decode(file, source), strict=False):
                        pass
                with contextlib.suppress(NotColumnarError):
                    for frame in decode_tables(file, source, None):
                        frame.records()

    return run


TARGETS: dict[str, Callable[[bytes], None]] = {
    "yaml": _yaml,
    "manifest": _manifest,
    "index": _index,
    "lock": _lock,
    "lock-sides": _lock_sides,
    "fields": _fields,
    "template": _template,
    "url": _url,
    "csv": _decoder(
        "x.csv", CsvSource(path=("x",)), CsvSource(path=("x",), dialect="excel-tab", skip_rows=1)
    ),
    "json": _decoder("x.json", JsonSource(path=("x",)), JsonSource(path=("x",), records="*")),
    "jsonl": _decoder("x.jsonl", JsonSource(path=("x",))),
    "parquet": _decoder("x.parquet", ParquetSource(path=("x",))),
    "packed": _decoder("x.csv.gz", CsvSource(path=("x",))),
}
"""The targets by name."""
