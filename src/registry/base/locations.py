"""Inspect paths and URLs: protocol, suffixes, and a form without secrets."""

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
    """Return the protocol of a URL, or `file` for a path."""
    return location.partition("://")[0] if "://" in location else "file"


def is_local(location: str) -> bool:
    """Return whether a location is a path or a `file://` URL."""
    return protocol_of(location) in ("file", "local")


def local_path(location: str) -> str:
    """Return the absolute path of a local location; `~` is the home folder."""
    path = location.partition("://")[2] if "://" in location else location
    return os.path.abspath(os.path.expanduser(path))


def public_location(location: str) -> str:
    """Return a location for messages and pins: a URL without user, password and query.

    `?` starts a query only with http(s); in an S3 key it is an ordinary character.
    """
    if is_local(location):
        return location
    scheme, _, rest = location.partition("://")
    host, slash, path = rest.partition("/")
    path, mark, _ = path.partition("?") if scheme in _WEB else (path, "", "")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}{'?…' if mark else ''}"


def has_secret(location: str) -> bool:
    """Return whether a location has a user, a password or a query that may be secret."""
    return public_location(location) != location


def _path_of(location: str) -> str:
    """Return the path in a location, in lower case, for its suffixes."""
    is_web = protocol_of(location) in _WEB
    return (urlsplit(location).path if is_web else location).lower()


def packed_suffix(location: str) -> str:
    """Return the suffix of a compressed file, such as `.gz` for `x.csv.gz`; otherwise ""."""
    suffix = os.path.splitext(_path_of(location))[1]
    return suffix if suffix in PACKED_SUFFIXES else ""


def unpacked_suffix(location: str) -> str:
    """Return the suffix before any compression suffix, such as `.jsonl` for `x.jsonl.gz?sig=…`."""
    path = _path_of(location).removesuffix(packed_suffix(location))
    return os.path.splitext(path)[1]
