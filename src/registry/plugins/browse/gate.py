"""Who may ask the server: a browser that was let in, by the name of this machine."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from registry.plugins.site.environment import LINKED_POLICY

__all__ = ["HEADERS", "POLICY", "Gate", "Refusal"]

POLICY = LINKED_POLICY.replace("form-action 'none'", "form-action 'self'") + "; connect-src 'self'"
"""That of the pages, which may also listen for changes, and ask this server alone by a form."""

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

_NOT_LET_IN = (
    "open the address that `registry browse` printed; it works once (start it again for another)"
)


class Refusal(NamedTuple):
    """Why a request is not answered."""

    status: int
    reason: str


def _secret() -> str:
    return secrets.token_urlsafe(32)


def _is_equal(secret: str, text: str) -> bool:
    """Compare in a time that does not tell how much of a text is right."""
    return hmac.compare_digest(text.encode("utf-8", "replace"), secret.encode())


@dataclass(frozen=True)
class Gate:
    """What a request must have, for one server."""

    port: int
    session: str = field(default_factory=_secret, repr=False)
    """Value of the cookie: no URL has it, so no history and no list of processes either."""
    _tokens: set[str] = field(default_factory=set, repr=False)
    """Those of URLs that were not opened yet."""

    def new_url(self) -> str:
        """Return an address that lets one browser in, once."""
        token = _secret()
        self._tokens.add(token)
        return f"http://127.0.0.1:{self.port}/?token={token}"

    def admit(self, token: str) -> bool:
        """Return whether a token lets in; after that it no longer does."""
        found = [one for one in self._tokens if _is_equal(one, token)]
        self._tokens.difference_update(found)
        return bool(found)

    @property
    def cookie(self) -> str:
        """Name of the cookie; browsers do not tell ports apart."""
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
            if cookie is not None and _is_equal(self.session, cookie)
            else Refusal(403, _NOT_LET_IN)
        )

    def refuse_host(self, method: str, hosts: list[str]) -> Refusal | None:
        """Return why a request is refused whatever its token, or None."""
        # A page elsewhere may point a name of its own to 127.0.0.1, and is then of "our" origin.
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return Refusal(403, f"this server is http://127.0.0.1:{self.port} alone")
        if method not in ("GET", "HEAD"):
            return Refusal(405, "this server only shows pages")
        return None

    @property
    def _hosts(self) -> tuple[str, ...]:
        names = [f"{name}:{self.port}" for name in ("127.0.0.1", "localhost")]
        return (*names, "127.0.0.1", "localhost") if self.port == 80 else tuple(names)
