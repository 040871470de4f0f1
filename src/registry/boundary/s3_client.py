"""The HTTP client of S3: a whole header arrives in time, or the request has failed."""

from __future__ import annotations

import asyncio
from typing import Any

from aiobotocore.httpsession import AIOHTTPSession
from botocore.exceptions import ReadTimeoutError

__all__ = ["LimitedSession"]


class LimitedSession(AIOHTTPSession):  # type: ignore[misc]  # it has no types
    """Sends the requests of one client of S3.

    The time-out of aiohttp begins again with each byte, and with each `100 Continue`.
    """

    async def send(self, request: Any) -> Any:
        """Return the answer; its body, if it is streamed, has limits of its own."""
        limits = self._timeout
        try:
            async with asyncio.timeout(limits.sock_connect + limits.sock_read):
                return await super().send(request)
        except TimeoutError as error:
            raise ReadTimeoutError(endpoint_url=request.url, error=error) from error
