"""Open the store of a remote cache: a folder, or any file system of fsspec."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from registry import CacheError
from registry.api import is_local, local_path, protocol_of, public_location

if TYPE_CHECKING:
    from registry.plugins.remote_cache.objects import Store

__all__ = ["open_store", "public_url", "shown_without_secrets"]


def open_store(url: str) -> Store:
    """Return the store at a path or URL; no request is made.

    Raises:
        CacheError: no installed package knows the protocol.
    """
    if is_local(url):
        from registry.plugins.remote_cache.folder_store import FolderStore

        return FolderStore(Path(local_path(url)))
    from registry.plugins.remote_cache.fsspec_store import FsspecStore

    try:
        return FsspecStore(url)
    except (ImportError, ValueError) as error:
        raise CacheError(f"can't open {protocol_of(url)}:// ({error})") from error


def public_url(url: str) -> str:
    """Return the place of a remote cache for messages, without user, password and query.

    Unlike in the locations of sources, `?` starts a query with every protocol: a token may follow,
    and nobody's folder is named so.
    """
    if is_local(url):
        return url
    place, asked, _ = public_location(url).partition("?")
    return f"{place}?…" if asked else place


def shown_without_secrets(text: str, url: str) -> str:
    """Return a library's message without the user, password and query of a URL."""
    parts = urlsplit(url)
    text = text.replace(url, public_url(url))
    values = [one.partition("=")[2] for one in parts.query.split("&")]
    secrets = {parts.password or "", parts.query, *values}
    # A library shows them as they are in the URL or as it sends them; the longest has others in it.
    for secret in sorted(secrets | set(map(unquote, secrets)), key=len, reverse=True):
        text = text.replace(secret, "…") if len(secret) > 2 else text
    return text
