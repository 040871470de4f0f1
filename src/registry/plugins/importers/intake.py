"""Import an Intake catalog (https://intake.readthedocs.io): its sources of version 1."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from registry.plugins.importers.models import (
    Imported,
    ImportedDataset,
    ImportOptions,
    LeftOut,
    NotImported,
    UnsupportedError,
    dataset_name,
    problem_at,
    unmapped_dataset,
)
from registry.plugins.importers.tolerant_yaml import read_foreign_yaml

__all__ = ["read"]

_DRIVERS = {"csv": "csv", "json": "json", "jsonfiles": "json", "parquet": "parquet"}
_FOLDER = re.compile(r"\{\{\s*CATALOG_DIR\s*\}\}/?")
_CSV_KEYS = {"sep": "delimiter", "delimiter": "delimiter", "encoding": "encoding"}


def read(file: Path, options: ImportOptions) -> Imported:
    """Read the sources of a catalog.

    Raises:
        ManifestError: it can't be read, or is no catalog.
    """
    document = read_foreign_yaml(file)
    sources = document.value.get("sources") if isinstance(document.value, dict) else None
    if not isinstance(sources, dict):
        raise problem_at(file, "no mapping under `sources`: not a catalog of Intake")
    found, refused = [], []
    for key, entry in sources.items():
        try:
            name = options.name or dataset_name(str(key))
            found.append(_dataset(name, entry, file.parent, document.lines.get(("sources", key))))
        except UnsupportedError as error:
            refused.append(NotImported(str(key), str(error)))
    return Imported(tuple(found), tuple(refused))


def _dataset(name: str, entry: Any, folder: Path, line: int | None) -> ImportedDataset:
    if not isinstance(entry, dict):
        raise UnsupportedError("its entry is not a mapping")
    kind, arguments = _DRIVERS.get(str(entry.get("driver"))), entry.get("args") or {}
    if kind is None:
        raise UnsupportedError(f"no source reads the driver {entry.get('driver')}")
    if not isinstance(arguments, dict) or "urlpath" not in arguments:
        raise UnsupportedError("no `args.urlpath`")
    if entry.get("parameters"):
        raise UnsupportedError("its arguments depend on parameters")
    source = {"type": kind, "path": _paths(arguments["urlpath"], folder)}
    left_out: list[LeftOut] = []
    given = arguments.get("csv_kwargs") or {}
    for key, value in given.items() if isinstance(given, dict) else ():
        if key in _CSV_KEYS and isinstance(value, str):
            source[_CSV_KEYS[key]] = value
        else:
            left_out.append(LeftOut(f"csv_kwargs.{key}", "an argument of the reader", line=line))
    left_out += [
        LeftOut(f"args.{key}", "credentials and options", line=line)
        for key in arguments
        if key not in ("urlpath", "csv_kwargs")
    ]
    about = {"description": " ".join(str(entry.get("description") or "").split())}
    return unmapped_dataset(name, source, about=about, left_out=left_out)


def _paths(value: Any, folder: Path) -> Any:
    """Return paths with the folder of the catalog in place of its variable."""
    if isinstance(value, list) and value:
        return [_paths(one, folder) for one in value]
    if not isinstance(value, str) or not value:
        raise UnsupportedError("`args.urlpath` is not a path")
    path = _FOLDER.sub(lambda _: "" if folder == Path() else f"{folder.as_posix()}/", value)
    if "{" in path or "$" in path:
        raise UnsupportedError(f"its path {value} has variables")
    return path
