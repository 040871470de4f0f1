"""The interface that a remote cache needs of a store: objects by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from msgspec import Struct

__all__ = ["Moved", "Store", "StoredObject"]

Moved = Callable[[int], None]
"""Called with the number of bytes each time that some have been moved."""


class StoredObject(Struct, frozen=True):
    """An object of a store, without its content."""

    name: str
    size: int
    written: float
    """Seconds since the epoch."""


class Store(Protocol):
    """Objects by names such as `v2/samples/KEY/entry.json`.

    Any method may raise whatever its library raises; `RemoteCache` translates it.
    """

    @property
    def is_concurrent(self) -> bool:
        """Whether several threads may use it at the same time."""

    def read(self, name: str, most: int) -> bytes | None:
        """Return the content of an object, or the first `most` bytes; None if there is none."""

    def size(self, name: str) -> int | None:
        """Return the number of bytes of an object; None if there is none."""

    def download(self, name: str, path: Path, size: int, moved: Moved) -> None:
        """Write the first `size` bytes of an object to a new file."""

    def upload(self, path: Path, name: str, moved: Moved) -> None:
        """Store a file as an object; readers see all of it or none."""

    def write(self, name: str, data: bytes) -> None:
        """Store bytes as an object, in place of what is there; readers see all of it or none."""

    def write_new(self, name: str, data: bytes) -> bool:
        """Store bytes as an object unless it is there; return whether it was not."""

    def objects(self) -> Iterator[StoredObject]:
        """Yield all objects."""

    def remove(self, name: str) -> None:
        """Remove an object; none is there afterwards, whoever removed it."""
