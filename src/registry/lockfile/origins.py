"""Provenance of pins: the file and line of each value in a lockfile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from registry.base.process_state import cached_property
from registry.lockfile.models import read_documents
from registry.lockfile.text import blocks, read_bytes
from registry.manifest.origins import Origin
from registry.yamldoc.reader import DataPath, Document, json_path, parse_yaml

__all__ = ["NAMED", "PinOrigins", "pin_origins"]

NAMED = ("files", "sandbox")
"""The keys of a pin with the files that samples name."""


class PinOrigins:
    """The provenance of the pins in a valid lockfile; a large one is parsed a dataset at a time."""

    def __init__(self, path: Path, *, shown_as: str) -> None:
        self._path = path
        self._shown_as = shown_as

    def of(self, name: str) -> tuple[Origin, ...]:
        """Return the provenance of a pin; nothing if the file does not have it."""
        if name not in self._blocks:  # somebody has edited the file
            return self._all.get(name, ())
        line, text = self._blocks[name]
        document = parse_yaml(f"datasets:\n{text}", file=self._shown_as)
        return pin_origins([document], lines_before=line - 2)[name]

    @cached_property
    def _blocks(self) -> Mapping[str, tuple[int, str]]:
        data = read_bytes(self._path, shown_as=self._shown_as) or b""
        return blocks(data.decode("utf-8"))

    @cached_property
    def _all(self) -> Mapping[str, tuple[Origin, ...]]:
        return pin_origins(read_documents(self._path, shown_as=self._shown_as))


def pin_origins(
    documents: Iterable[Document], *, lines_before: int = 0
) -> dict[str, tuple[Origin, ...]]:
    """Return the values of each dataset's pin, with their lines and keys such as `pin.samples`.

    Args:
        documents: The lockfile, or parts of it.
        lines_before: How many lines of the file are before each of the documents.
    """
    found: dict[str, tuple[Origin, ...]] = {}
    for document in documents:
        for name, pin in document.value["datasets"].items():
            found[name] = tuple(
                Origin(
                    key=_key(path, pin),
                    value=value,
                    layer="lock",
                    file=document.file,
                    line=document.position(("datasets", name, *path)).line + lines_before,
                    dataset=name,
                )
                for path, value in _flatten((), pin)
                if not (path[0] in NAMED and path[-1] in ("location", "size"))
            )
    return found


def _key(path: DataPath, pin: Mapping[str, Any]) -> str:
    """Return the key of a value: a file that samples name has its location in place of a number."""
    if path[0] in NAMED and len(path) == 3:
        location = pin[str(path[0])][path[1]]["location"]
        return f"pin.{path[0]}.{location}" + ("" if path[2] == "sha256" else f".{path[2]}")
    return json_path(("pin", *path)).removeprefix("$.")


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
