"""Transfer a file from the Hub: all of it, resumed where it broke off, or ranges of it."""

from __future__ import annotations

import contextlib
import io
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from registry.base.cache_access import create_file
from registry.errors import SourceError
from registry.progress import Progress, silent
from registry.sources.hub.api import hub_errors
from registry.sources.retry import Meter, network_policy, with_retries

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx2

    from registry.progress import Deadline, Report
    from registry.sources.pins import SourceContext

__all__ = ["Remote", "download", "open_remote"]

_PART_BYTES = 1 << 20


class Remote(Struct, frozen=True):
    """A file on a server."""

    url: str
    size: int
    """As the Hub says."""
    token: str | bool | None
    where: str
    """Its name in messages."""


def download(remote: Remote, path: Path, context: SourceContext) -> None:
    """Download a file to a new file.

    Raises:
        SourceError: its bytes do not arrive.
    """
    limits, policy = context.boundary.limits, network_policy()
    if remote.size > limits.unpacked_bytes:
        message = limits.message("unpacked_bytes", "the file has", "bytes")
        raise SourceError(f"{remote.where}: {message}")
    meter = Meter(remote.where, context.deadline, policy)
    end = time.monotonic() + limits.seconds

    def attempt() -> None:
        start = file.tell()
        if start == remote.size:  # the connection was lost after the last byte
            return
        with hub_errors(remote.where), _request(remote, f"{start}-" if start else "") as response:
            if start and response.status_code != 206:  # the server ignored the range
                file.seek(0)
                file.truncate()
            for chunk in _chunks(response, meter, file.tell()):
                file.write(chunk)
                context.report(Progress("fetch", file.tell(), remote.size))
                if file.tell() > remote.size:
                    break
                if time.monotonic() > end:
                    message = limits.message("seconds", "the transfer takes", "seconds")
                    raise SourceError(f"{remote.where}: {message}")
        if file.tell() != remote.size:
            raise _incomplete(remote, file.tell(), remote.size)

    with create_file(path) as file:
        with_retries(attempt, context.deadline, report=context.report)
    context.deadline.progress()


def open_remote(
    remote: Remote, deadline: Deadline, *, report: Report = silent
) -> io.BufferedReader:
    """Open a file that is read by ranges."""
    return io.BufferedReader(_Ranges(remote, deadline, report), _PART_BYTES)


class _Ranges(io.RawIOBase):
    def __init__(self, remote: Remote, deadline: Deadline, report: Report) -> None:
        super().__init__()
        self._remote = remote
        self._deadline = deadline
        self._report = report
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        starts = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._remote.size}
        self._position = starts[whence] + offset
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer)
        stop = min(self._position + view.nbytes, self._remote.size)
        if stop <= self._position:
            return 0
        read = partial(_read_range, self._remote, self._position, stop, self._deadline)
        content = with_retries(read, self._deadline, report=self._report)
        view[: len(content)] = content
        self._position = stop
        return len(content)


def _read_range(remote: Remote, start: int, stop: int, deadline: Deadline) -> bytes:
    meter = Meter(remote.where, deadline, network_policy())
    expected = f"bytes {start}-{stop - 1}/{remote.size}"
    with hub_errors(remote.where), _request(remote, f"{start}-{stop - 1}") as response:
        # Unchecked, the start of the file would be taken for the part.
        found = response.headers.get("Content-Range")
        if found != expected:
            raise SourceError(f"{remote.where}: requested {expected}, the server sent {found}")
        content = b"".join(_chunks(response, meter, start))
    if len(content) != stop - start:
        raise _incomplete(remote, len(content), stop - start)
    return content


def _chunks(response: httpx2.Response, meter: Meter, position: int) -> Iterator[bytes]:
    """Yield the bytes of an answer, which must not come too slowly."""
    meter.restart()
    for chunk in response.iter_bytes():
        position += len(chunk)
        meter.add(len(chunk), position)
        yield chunk


@contextlib.contextmanager
def _request(remote: Remote, span: str) -> Iterator[httpx2.Response]:
    """Request a file, or the bytes of a span such as `0-99`, as the Hub's client does."""
    import httpx2
    from huggingface_hub import get_session
    from huggingface_hub.utils._headers import build_hf_headers
    from huggingface_hub.utils._http import hf_raise_for_status

    from registry.sources.hub.client import METERED

    policy = network_policy()
    # Packed, a text has another length, and its ranges mean nothing.
    headers = {**build_hf_headers(token=remote.token), "Accept-Encoding": "identity"}
    if span:
        headers["Range"] = f"bytes={span}"
    timeout = httpx2.Timeout(policy.read_seconds, connect=policy.connect_seconds)
    # The client takes the token off a redirect to another host.
    known = {METERED: True}
    with get_session().stream(
        "GET", remote.url, headers=headers, timeout=timeout, extensions=known
    ) as response:
        hf_raise_for_status(response)
        yield response


def _incomplete(remote: Remote, found: int, expected: int) -> SourceError:
    error = SourceError(f"{remote.where}: {found:,} bytes arrived, not {expected:,} (try again)")
    error.transient = found < expected
    return error
