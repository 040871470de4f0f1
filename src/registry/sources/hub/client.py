"""Limits for the Hub's client while a dataset is read; `datasets` makes most of the requests.

By itself the client waits for an answer for ever, and sleeps as long as a server asks it to. Here
its requests time out, what comes too slowly is an error, and an answer that asks to come back later
ends the call, which the policy of all sources repeats.
"""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any

import httpx2
from huggingface_hub import errors, get_session
from huggingface_hub.utils import _http

from registry.base.process_state import ForkSafeLock
from registry.base.threads import NoProgressError, run_limited
from registry.errors import AccessError, SourceError, count_text
from registry.progress import Deadline
from registry.sources.retry import Meter, causes, hub_host, is_transient, network_policy

__all__ = ["METERED", "PassingError", "limited_client", "refusal_of"]

METERED = "registry_metered"
"""Extension of a request whose sender counts the bytes by itself."""

_REPOSITORY = re.compile(r"(?:hf://datasets/)?([\w.-]+/[\w.-]+)")
_limits: ContextVar[tuple[str, Deadline] | None] = ContextVar("_limits", default=None)
_lock = ForkSafeLock()


class PassingError(Exception):
    """A request failed for now. Not an error that the client, or `datasets`, takes for its own."""

    def __init__(self, message: str, response: httpx2.Response) -> None:
        self.response = response
        super().__init__(message)


def refusal_of(error: BaseException, where: str) -> SourceError | None:
    """Return the error for what the Hub says of a repository as a whole; None for others."""
    kinds = {type(link) for link in causes(error)}
    if errors.GatedRepoError in kinds:
        repository = _REPOSITORY.match(where)
        page = f" at {hub_host()}/datasets/{repository[1]}" if repository else ""
        todo = f"accept its terms{page} with an account, then set HF_TOKEN to a token of it"
        return AccessError(f"{where}: the dataset is gated ({todo})")
    if errors.RevisionNotFoundError in kinds:
        return SourceError(f"{where}: no such revision (its page lists branches and tags)")
    if errors.RepositoryNotFoundError in kinds:
        return AccessError(f"{where}: no such dataset, or a private one (then set HF_TOKEN)")
    return None


@contextlib.contextmanager
def limited_client(where: str, deadline: Deadline) -> Iterator[None]:
    """Limit the requests of this thread, for `where`; those of others are left as they are."""
    with _lock():
        _limit(get_session())
        # After a refused connection, huggingface_hub makes a new client, in the middle of a call.
        # `set_client_factory` would close the present one, which other threads may be using.
        factory = _http._GLOBAL_CLIENT_FACTORY  # noqa: SLF001
        if getattr(factory, "func", None) is not _made:
            _http._GLOBAL_CLIENT_FACTORY = partial(_made, factory)  # noqa: SLF001
    before = _limits.set((where, deadline))
    try:
        yield
    finally:
        _limits.reset(before)


def _made(make: Callable[[], httpx2.Client]) -> httpx2.Client:
    """Make a client that has our hooks."""
    return _limit(make())


def _limit(client: httpx2.Client) -> httpx2.Client:
    hooks = client.event_hooks
    if _check_answer not in hooks["response"]:
        client.event_hooks = {
            "request": [*hooks["request"], _set_timeouts],
            "response": [*hooks["response"], _check_answer],
        }
        client.send = partial(_send, client.send)  # type: ignore[method-assign]
    return client


def _send(
    send: Callable[..., httpx2.Response],
    request: httpx2.Request,
    *,
    stream: bool = False,
    **options: Any,
) -> httpx2.Response:
    """Send a request whose header must arrive in time as a whole, also behind redirects.

    The client's own time-out begins again with each byte, and with each `100 Continue`.
    """
    if _limits.get() is None:
        return send(request, stream=stream, **options)
    seconds = network_policy().read_seconds
    context, is_given_up = copy_context(), threading.Event()

    def receive_header(_: Callable[[], None]) -> httpx2.Response | Exception:
        try:
            response: httpx2.Response = context.run(send, request, stream=True, **options)
        except Exception as error:  # noqa: BLE001 - raised again in the thread that asks
            return error
        if is_given_up.is_set():
            response.close()
        return response

    try:
        response = run_limited(receive_header, seconds)
    except NoProgressError:
        is_given_up.set()
        message = f"no whole header in {count_text(round(seconds), 'second')}"
        raise httpx2.ReadTimeout(message, request=request) from None
    if isinstance(response, Exception):
        raise response
    if not stream:
        try:
            response.read()
        except BaseException:
            response.close()
            raise
    return response


def _set_timeouts(request: httpx2.Request) -> None:
    if _limits.get() is None:
        return
    policy = network_policy()
    seconds = policy.read_seconds
    ours = {"connect": policy.connect_seconds, "read": seconds, "write": seconds, "pool": seconds}
    given = request.extensions.get("timeout", {})
    request.extensions["timeout"] = {
        name: min(given.get(name) or limit, limit) for name, limit in ours.items()
    }


def _check_answer(response: httpx2.Response) -> None:
    limits = _limits.get()
    if limits is None:
        return
    if response.is_error:
        error = PassingError(f"status {response.status_code}", response)
        if is_transient(error):
            raise error
    body = response.stream
    if isinstance(body, httpx2.SyncByteStream):
        is_metered = METERED not in response.request.extensions
        meter = Meter(*limits, network_policy()) if is_metered else None
        response.stream = _Limited(body, meter, response)


class _Limited(httpx2.SyncByteStream):
    """The body of an answer, which must not come too slowly, nor wait for its next piece for long.

    The client's own time-out begins again with each byte, also with those that are none of the
    body, such as the lengths of its chunks. A thread looks at the clock, and ends the connection.
    """

    def __init__(
        self, body: httpx2.SyncByteStream, meter: Meter | None, response: httpx2.Response
    ) -> None:
        self._body = body
        self._meter = meter
        self._response = response
        self._seconds = network_policy().read_seconds
        self._waits_since: float | None = None
        self._is_late = False

    def __iter__(self) -> Iterator[bytes]:
        is_done = threading.Event()
        threading.Thread(target=self._watch, args=(is_done,), daemon=True, name="watch").start()
        position, chunks = 0, iter(self._body)
        try:
            while True:
                self._waits_since = time.monotonic()
                chunk = next(chunks, None)
                self._waits_since = None
                if self._is_late:
                    raise httpx2.ReadTimeout("", request=self._response.request)
                if chunk is None:
                    return
                position += len(chunk)
                if self._meter is not None:
                    self._meter.add(len(chunk), position)
                yield chunk
        except httpx2.TransportError as error:
            if self._is_late:
                text = f"no more of the body in {count_text(round(self._seconds), 'second')}"
                late = httpx2.ReadTimeout(text, request=self._response.request)
                raise self._own(late) from error
            if self._meter is None:
                raise
            raise self._own(error) from error
        finally:
            is_done.set()

    def _own(self, error: httpx2.TransportError) -> Exception:
        """Return the error for the sender of the request: `datasets` takes others for its own."""
        if self._meter is None:
            return error
        return PassingError(f"{type(error).__name__}: {error}", self._response)

    def _watch(self, is_done: threading.Event) -> None:
        stream = self._response.extensions["network_stream"]
        while not is_done.wait(min(1, self._seconds / 4)):
            since = self._waits_since
            if since is not None and time.monotonic() - since >= self._seconds:
                self._is_late = True
                # Not the method of an SSLSocket, which the other thread is reading.
                with contextlib.suppress(OSError):  # the server has ended it
                    socket.socket.shutdown(stream.get_extra_info("socket"), socket.SHUT_RDWR)
                return

    def close(self) -> None:
        self._body.close()
