"""Show the environment without what is secret in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote, urlsplit

from registry.plugins.remote_cache.stores import public_url

__all__ = ["mask", "masked_url", "secrets_of"]

_MASK = "***"
_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|(?:^|_)KEY(?:_|$)|CREDENTIAL", re.IGNORECASE
)
_PATH_NAME = re.compile(r"_(?:PATH|FILE|DIR|HOME)$", re.IGNORECASE)
_DIVIDERS = frozenset("/?#")
"""Characters that a user or a password can't have in a URL, but may in a variable."""
_LEAST = 4
"""Characters of a secret: shorter ones are parts of ordinary words."""


def masked_url(url: str) -> str:
    """Return a URL that a variable has, without user, password and parameters."""
    # A proxy may be given without a scheme, as `user:password@host:3128`.
    scheme, marked, rest = url.partition("://")
    if _DIVIDERS.intersection(_before_host(url)):
        return f"{scheme}://{_MASK}" if marked else _MASK
    return public_url(url) if marked else scheme.rpartition("@")[2].partition("?")[0] + rest


def secrets_of(environ: Mapping[str, str], *more: str | None) -> list[str]:
    """Return all that a variable may hide: values by their names, and parts of URLs."""
    found = {value.strip() for value in more if value}
    for name, value in environ.items():
        if _SECRET_NAME.search(name) and not _PATH_NAME.search(name):
            found.add(value.strip())
        if "://" in value or "@" in value:
            found.update(_parts(value))
    # The longest first: it may have others in it.
    return sorted((one for one in found if len(one) >= _LEAST), key=len, reverse=True)


def _before_host(url: str) -> str:
    """Return user and password of a URL, even where a `/` in the password ends the host."""
    return (url.partition("://")[2] or url).rpartition("@")[0]


def _parts(url: str) -> Iterable[str]:
    """Return user, password and parameters of a URL, as they are and decoded."""
    if _DIVIDERS.intersection(before := _before_host(url)):
        yield from (before, before.partition(":")[2])
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        user, password = parts.username, parts.password
    except ValueError:
        return
    values = [one.partition("=")[2] for one in parts.query.split("&")]
    for part in (user, password, parts.query, *values, parts.fragment):
        if part:
            yield from (part, unquote(part))


def mask(text: str, secrets: Iterable[str]) -> str:
    """Return a text of a library in which no secret is left."""
    for secret in secrets:
        text = text.replace(secret, _MASK)
    return text
