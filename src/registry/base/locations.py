"""Paths and URLs: what kind they are, how their names end, how they may be shown."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

__all__ = [
    "PACKED_SUFFIXES",
    "has_secret",
    "is_local",
    "local_path",
    "packed_suffix",
    "protocol_of",
    "public_location",
    "unpacked_suffix",
]

PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
"""Suffixes of compressed files."""

_WEB = ("http", "https")


def protocol_of(location: str) -> str:
    """Return the protocol of a URL, `file` for a path."""
    return location.partition("://")[0] if "://" in location else "file"


def is_local(location: str) -> bool:
    """Return whether a location is a path or a `file://` URL."""
    return protocol_of(location) in ("file", "local")


def local_path(location: str) -> str:
    """Return the absolute path of a local location; `~` is the home folder."""
    path = location.partition("://")[2] if "://" in location else location
    return os.path.abspath(os.path.expanduser(path))


def public_location(location: str) -> str:
    """Return a location without what may be secret in a URL: user, password and query."""
    if is_local(location):
        return location
    scheme, _, rest = location.partition("://")
    host, slash, path = rest.partition("/")
    path, mark, _ = path.partition("?") if scheme in _WEB else (path, "", "")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}{'?…' if mark else ''}"


def has_secret(location: str) -> bool:
    """Return whether a location holds what `public_location` leaves out."""
    return public_location(location) != location


def _path_of(location: str) -> str:
    """Return the part of a location that names the file, lower-case."""
    is_web = protocol_of(location) in _WEB
    return (urlsplit(location).path if is_web else location).lower()


def packed_suffix(location: str) -> str:
    """Return the suffix of a compressed file, or an empty text."""
    suffix = os.path.splitext(_path_of(location))[1]
    return suffix if suffix in PACKED_SUFFIXES else ""


def unpacked_suffix(location: str) -> str:
    """Return the suffix below any compression's, lower-case: `.jsonl` of `x.jsonl.gz?sig=…`."""
    path = _path_of(location).removesuffix(packed_suffix(location))
    return os.path.splitext(path)[1]
