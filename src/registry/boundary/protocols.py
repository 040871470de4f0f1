"""The protocols and options that a manifest may use, and which of them need the index's word.

An allow-list, because a file system of fsspec can run code, follow a proxy, or send this machine's
credentials wherever its options say.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

__all__ = ["PROTOCOLS", "Option"]


class Option(Struct, frozen=True):
    """One option of a file system."""

    types: tuple[type, ...]
    """Types of its value."""
    secret: bool = False
    """Whether the value may be `{env: NAME}`."""
    listed: bool = False
    """Whether it needs hosts that the root index lists."""
    is_host: bool = False
    """Whether the value is a URL or a host, which must be listed, too."""
    pattern: str = ""
    """What the whole value must match."""


_TEXT = Option((str,))
_NUMBER = Option((int, float))
_FLAG = Option((bool,))
_SECRET = Option((str,), secret=True)
_LISTED_FLAG = Option((bool,), listed=True)
_LISTED_NUMBER = Option((int, float), listed=True)
_LISTED_TEXT = Option((str,), listed=True)
_ENDPOINT = Option((str,), listed=True, is_host=True)

_HTTP: dict[str, Option] = {
    "headers.*": _SECRET,
    "client_kwargs.headers.*": _SECRET,
    "client_kwargs.trust_env": _LISTED_FLAG,
    "block_size": _NUMBER,
    "encoded": _FLAG,
    "proxy": _ENDPOINT,
    "ssl": _LISTED_FLAG,
}
_S3: dict[str, Option] = {
    "anon": _FLAG,
    "key": _SECRET,
    "secret": _SECRET,
    "token": _SECRET,
    "client_kwargs.aws_access_key_id": _SECRET,
    "client_kwargs.aws_secret_access_key": _SECRET,
    "client_kwargs.aws_session_token": _SECRET,
    # Part of the name of the server.
    "client_kwargs.region_name": Option((str,), pattern=r"[a-z0-9-]+"),
    "client_kwargs.endpoint_url": _ENDPOINT,
    "client_kwargs.verify": _LISTED_FLAG,
    "client_kwargs.use_ssl": _LISTED_FLAG,
    "endpoint_url": _ENDPOINT,
    "use_ssl": _LISTED_FLAG,
    "config_kwargs.signature_version": _LISTED_TEXT,
    "config_kwargs.s3.addressing_style": _LISTED_TEXT,
    "config_kwargs.connect_timeout": _LISTED_NUMBER,
    "config_kwargs.read_timeout": _LISTED_NUMBER,
    "config_kwargs.proxies.*": _ENDPOINT,
    # The owner of the credentials pays.
    "requester_pays": _LISTED_FLAG,
    "version_aware": _FLAG,
    "cache_regions": _FLAG,
    "default_block_size": _NUMBER,
    "max_concurrency": _NUMBER,
}
_HF: dict[str, Option] = {
    "token": Option((bool,), secret=True),
    "endpoint": _ENDPOINT,
    "block_size": _NUMBER,
}

PROTOCOLS: dict[str, Mapping[str, Option]] = {
    "https": _HTTP,
    "http": _HTTP,
    "s3": _S3,
    "s3a": _S3,
    "hf": _HF,
}
"""Options by protocol, with a dot between the levels; `*` is any name.

Files on this machine, in packages and in zip and tar archives take no options.
"""
