"""Where each value of a lockfile stands, in the words of `origins`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from registry.manifest.provenance import Origin
from registry.yamldoc.reader import DataPath, Document, json_path

__all__ = ["lock_origins"]


def lock_origins(documents: Iterable[Document]) -> dict[str, tuple[Origin, ...]]:
    """Return the values of each pin of a lockfile, by dataset, with their lines."""
    return {
        name: tuple(_origins(name, pin, document))
        for document in documents
        for name, pin in document.value["datasets"].items()
    }


def _origins(name: str, pin: Any, document: Document) -> Iterator[Origin]:
    for path, value in _flat((), pin):
        line = document.position(("datasets", name, *path)).line
        key = json_path(("pin", *path)).removeprefix("$.")
        file = document.file
        yield Origin(key=key, value=value, layer="lock", file=file, line=line, dataset=name)


def _flat(path: DataPath, value: Any) -> Iterator[tuple[DataPath, Any]]:
    """Yield each value by its path; a list of plain values is one."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _flat((*path, key), item)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            yield from _flat((*path, number), item)
    else:
        yield path, value
