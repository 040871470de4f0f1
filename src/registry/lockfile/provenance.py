"""Provenance of pins: the file and line of each value in a lockfile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from registry.manifest.provenance import Origin
from registry.yamldoc.reader import DataPath, Document, json_path

__all__ = ["pin_provenance"]


def pin_provenance(documents: Iterable[Document]) -> dict[str, tuple[Origin, ...]]:
    """Return the values of each dataset's pin, with their lines and keys such as `pin.samples`."""
    found: dict[str, tuple[Origin, ...]] = {}
    for document in documents:
        for name, pin in document.value["datasets"].items():
            found[name] = tuple(
                Origin(
                    key=json_path(("pin", *path)).removeprefix("$."),
                    value=value,
                    layer="lock",
                    file=document.file,
                    line=document.position(("datasets", name, *path)).line,
                    dataset=name,
                )
                for path, value in _flatten((), pin)
            )
    return found


def _flatten(path: DataPath, value: Any) -> Iterator[tuple[DataPath, Any]]:
    """Yield each value with its path; a list of scalars is one value."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _flatten((*path, key), item)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            yield from _flatten((*path, number), item)
    else:
        yield path, value
