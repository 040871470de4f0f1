"""Where a shared cache is: objects by name, in a folder or behind any file system of fsspec."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from registry.base.locations import is_local, local_path, protocol_of, public_location
from registry.errors import CacheError

__all__ = ["Moved", "Store", "StoredObject", "open_store", "shown_without_secrets"]

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

    Any method may raise whatever its library raises; `SharedCache` translates it.
    """

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

    def objects(self, prefix: str) -> Iterator[StoredObject]:
        """Yield the objects whose names start with a folder's."""

    def remove(self, name: str) -> None:
        """Remove an object; none is there afterwards, whoever removed it."""


def open_store(url: str) -> Store:
    """Return the store at a path or URL; no request is made.

    Raises:
        CacheError: no installed package knows the protocol.
    """
    if is_local(url):
        from registry.cache.remote.folder_store import FolderStore

        return FolderStore(Path(local_path(url)))
    from registry.cache.remote.fsspec_store import FsspecStore

    try:
        return FsspecStore(url)
    except (ImportError, ValueError) as error:
        raise CacheError(f"can't open {protocol_of(url)}:// ({error})") from error


def shown_without_secrets(text: str, url: str) -> str:
    """Return a library's message without the user, password and query of a URL."""
    parts = urlsplit(url)
    text = text.replace(url, public_location(url))
    for secret in (parts.password, parts.query):
        text = text.replace(secret, "…") if secret else text
    return text
