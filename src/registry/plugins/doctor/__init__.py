"""The checks of `registry doctor`: each returns observations, without secrets, and prints none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from registry.plugins.remote_cache.stores import has_divided_user, public_url, secrets_in

__all__ = ["Observation", "Status", "fail", "fine", "mask", "masked_url", "secrets_of", "warn"]


Status = Literal["ok", "warn", "fail"]

_MASK = "***"
_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|(?:^|_)KEY(?:_|$)|CREDENTIAL", re.IGNORECASE
)
_PATH_NAME = re.compile(r"_(?:PATH|FILE|DIR|HOME)$", re.IGNORECASE)
_LEAST = 4
"""Characters of a secret: shorter ones are parts of ordinary words."""


class Observation(Struct, frozen=True, kw_only=True):
    """One line of the report."""

    name: str
    """What was checked."""
    status: Status
    text: str
    """What is there, without any secret."""
    next: str = ""
    """What to do; empty if nothing is."""


def fine(name: str, text: str) -> Observation:
    """Return that all is well."""
    return Observation(name=name, status="ok", text=text)


def warn(name: str, text: str, step: str) -> Observation:
    """Return something that may be meant, or will be a problem."""
    return Observation(name=name, status="warn", text=text, next=step)


def fail(name: str, text: str, step: str) -> Observation:
    """Return something that does not work."""
    return Observation(name=name, status="fail", text=text, next=step)


def masked_url(url: str) -> str:
    """Return a URL that a variable has, without user, password and parameters."""
    # A proxy may be given without a scheme, as `user:password@host:3128`.
    scheme, marked, _ = url.partition("://")
    if marked:
        return public_url(url)
    return _MASK if has_divided_user(url) else scheme.rpartition("@")[2].partition("?")[0]


def secrets_of(environ: Mapping[str, str], *more: str | None) -> list[str]:
    """Return all that a variable may hide: values by their names, and parts of URLs."""
    found = {value.strip() for value in more if value}
    for name, value in environ.items():
        if _SECRET_NAME.search(name) and not _PATH_NAME.search(name):
            found.add(value.strip())
        if "://" in value or "@" in value:
            found.update(secrets_in(value))
    # The longest first: it may have others in it.
    return sorted((one for one in found if len(one) >= _LEAST), key=len, reverse=True)


def mask(text: str, secrets: Iterable[str]) -> str:
    """Return a text of a library in which no secret is left."""
    for secret in secrets:
        text = text.replace(secret, _MASK)
    return text
