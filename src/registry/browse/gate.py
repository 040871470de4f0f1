"""Who may ask the server: the browser that got the token, by the name of this machine."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from registry.pages.assets import LINKED_POLICY

__all__ = ["HEADERS", "POLICY", "Gate", "Refusal"]

POLICY = f"{LINKED_POLICY}; connect-src 'self'"
"""That of the pages, which may also listen for changes."""

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Server": "registry",
}
"""Headers of every answer, of refusals too. None of them allows another origin to read it."""


class Refusal(NamedTuple):
    """Why a request is not answered."""

    status: int
    reason: str


@dataclass(frozen=True)
class Gate:
    """What a request must have, for one server."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def url(self) -> str:
        """The address that lets a browser in."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """Name of the cookie that has the token; browsers do not tell ports apart."""
        return f"registry-browse-{self.port}"

    def refusal(self, method: str, hosts: list[str], cookie: str | None) -> Refusal | None:
        """Return why a request is refused, or None.

        Args:
            method: Its method.
            hosts: Values of its headers `Host`.
            cookie: Value of the cookie.
        """
        return self.refuse_host(method, hosts) or (
            None
            if cookie is not None and self.is_token(cookie)
            else Refusal(403, "open the address that `registry browse` printed")
        )

    def refuse_host(self, method: str, hosts: list[str]) -> Refusal | None:
        """Return why a request is refused whatever its token, or None."""
        # A page elsewhere may point a name of its own to 127.0.0.1, and is then of "our" origin.
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return Refusal(403, f"this server is http://127.0.0.1:{self.port} alone")
        if method not in ("GET", "HEAD"):
            return Refusal(405, "this server only shows pages")
        return None

    def is_token(self, text: str) -> bool:
        """Return whether a text is the token, in constant time."""
        return hmac.compare_digest(text.encode("utf-8", "replace"), self.token.encode())

    @property
    def _hosts(self) -> tuple[str, ...]:
        names = [f"{name}:{self.port}" for name in ("127.0.0.1", "localhost")]
        return (*names, "127.0.0.1", "localhost") if self.port == 80 else tuple(names)
