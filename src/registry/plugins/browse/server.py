"""The server: answers the browser that was let in, and tells it when a page changes.

Its gate says who may ask: a browser that was let in, by the name of this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hmac
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import msgspec
from aiohttp import web

from registry import RegistryError
from registry.api import escape_control
from registry.plugins.browse.live_catalog import POLICY, SEARCH_FILE, LiveCatalog
from registry.plugins.site.environment import SCRIPTS, STYLE, asset
from registry.plugins.site.sample_table import Question, SampleTable

__all__ = ["Gate", "Refusal", "application", "free_socket", "serving"]

_ADDRESS = "127.0.0.1"
_TRIED_PORTS = 50
_POLL_SECONDS = 0.5
_MOST_WAITING = 64
_MOST_WORDS = 20
_HEARTBEAT_POLLS = 20
"""A browser that is gone is noticed when it is written to."""
_ENTRY = (
    '<!doctype html><html lang="en"><meta http-equiv="refresh" content="0; url=/">'
    '<link rel="icon" href="data:,"><title>Datasets</title>'
)
_ASSETS = frozenset({STYLE, *SCRIPTS, "ask.js", "live.js"})

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


_LIVE = web.AppKey("live", LiveCatalog)
_GATE = web.AppKey("gate", Gate)
_STOPPING = web.AppKey("stopping", asyncio.Event)
_COUNTERS = web.AppKey("counters", ThreadPoolExecutor)
"""Threads that wait for the states of all datasets: other requests have threads of their own."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def free_socket(port: int) -> socket.socket:
    """Return a socket that listens on loopback: on the port, or else the next one that is free.

    Raises:
        RegistryError: none of the next ports is free.
    """
    for one in range(port, min(port + _TRIED_PORTS, 65_536)):
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        # Else a port stays taken for a minute after the server before.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((_ADDRESS, one))
        except OSError as error:
            listening.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            continue
        return listening
    raise RegistryError(f"no free port from {port} on (`--port 0` takes any)")


@contextlib.asynccontextmanager
async def serving(app: web.Application, listening: socket.socket) -> AsyncIterator[None]:
    """Serve until the block ends."""
    # Without a log of requests, which have the token, nor of what is no request: both are answered.
    runner = web.AppRunner(
        app, access_log=None, logger=_silent_log(), shutdown_timeout=1, handle_signals=False
    )
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        yield
    finally:
        app[_STOPPING].set()
        app[_LIVE].stop()
        app[_COUNTERS].shutdown(wait=False)
        await runner.cleanup()


def _silent_log() -> logging.Logger:
    """Return a logger that discards everything."""
    log = logging.getLogger(__name__)
    log.disabled = True
    return log


def application(live: LiveCatalog, gate: Gate) -> web.Application:
    """Return the application: pages of the catalog, our scripts, and nothing else."""
    app = web.Application(middlewares=[_guard])
    app[_LIVE], app[_GATE], app[_STOPPING] = live, gate, asyncio.Event()
    app[_COUNTERS] = ThreadPoolExecutor(_MOST_WAITING)
    app.router.add_get("/", _home)
    app.router.add_get("/events", _events)
    app.router.add_get("/assets/{name}", _asset)
    app.router.add_get("/datasets/{name}.html", _dataset)
    app.router.add_get("/compare", _compare)
    app.router.add_get(r"/compare/{left}@{right}@{first:[1-9]\d{0,15}}.html", _compare)
    app.router.add_get("/tables/{name}.json", _table)
    app.router.add_get("/tables/{name}/rows.json", _rows)
    app.router.add_get(r"/samples/{name}@{first:[1-9]\d{0,15}}.html", _dataset)
    # `index.html`, `list/2.html`, `search/0.js`: keys of a dict, never paths of files.
    app.router.add_get("/{file:.+}", _listed)
    return app


@web.middleware
async def _guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse who was not let in; give every answer the headers that protect it."""
    gate = request.app[_GATE]
    hosts = request.headers.getall("Host", [])
    if refused := gate.refuse_host(request.method, hosts):
        return _text(refused.reason, status=refused.status)
    token = request.query.get("token")
    if request.path == "/" and token is not None and gate.admit(token):
        return _let_in(gate)
    if refused := gate.refusal(request.method, hosts, request.cookies.get(gate.cookie)):
        return _text(refused.reason, status=refused.status)
    try:
        return await handler(request)
    except web.HTTPException as error:
        return _text(error.reason, status=error.status)
    except RegistryError as error:
        return _text(str(error), status=500)
    except Exception as error:  # noqa: BLE001 (the server goes on)
        bug = f"unexpected {type(error).__name__}: {error}. This is a bug in registry."
        return _text(bug, status=500)


def _let_in(gate: Gate) -> web.Response:
    """Return a page that stores the cookie, and opens the URL without the token."""
    # A redirect would belong to the page that had the link, and take no strict cookie along.
    response = web.Response(text=_ENTRY, content_type="text/html", headers=HEADERS)
    response.set_cookie(gate.cookie, gate.session, httponly=True, samesite="Strict", path="/")
    return response


async def _home(request: web.Request) -> web.StreamResponse:
    return _page(await asyncio.to_thread(request.app[_LIVE].list_file, "index.html"))


async def _listed(request: web.Request) -> web.StreamResponse:
    file = request.match_info["file"]
    threads = request.app[_COUNTERS] if file == SEARCH_FILE else None
    loop = asyncio.get_running_loop()
    text = await loop.run_in_executor(threads, request.app[_LIVE].list_file, file)
    return _page(text) if file.endswith(".html") else _script(text)


async def _dataset(request: web.Request) -> web.StreamResponse:
    first = int(request.match_info.get("first", "1"))
    name = _name_of(request.match_info["name"])
    page = partial(request.app[_LIVE].dataset_page, name, first, is_whole="whole" in request.query)
    return _page(await asyncio.to_thread(page))


async def _compare(request: web.Request) -> web.StreamResponse:
    """Show two datasets: those of the path, or those that the form of the page sent."""
    asked, found = request.query, request.match_info
    left, right = (_name_of(found.get(one, asked.get(one, ""))) for one in ("left", "right"))
    first = int(found.get("first", "1"))
    return _page(await asyncio.to_thread(request.app[_LIVE].compare_page, left, right, first))


def _name_of(stem: str) -> str:
    return stem.replace("+", ":")  # as `file_stem` writes it


async def _table(request: web.Request) -> web.StreamResponse:
    return await _answered(request, SampleTable.head)


async def _rows(request: web.Request) -> web.StreamResponse:
    """Answer a question about the samples of a dataset."""
    asked = request.query
    try:
        question = Question(
            words=tuple(asked.getall("word", ()))[:_MOST_WORDS],
            chosen=tuple(_pair(one) for one in asked.getall("chosen", ())),
            sort=None if (column := int(asked.get("sort", "-1"))) < 0 else column,
            descending=asked.get("descending") == "1",
            first=max(int(asked.get("first", "0")), 0),
        )
    except ValueError as error:
        raise web.HTTPBadRequest(reason="a part of the question is no number") from error
    return await _answered(request, lambda table: _answer(table, question))


async def _answered(
    request: web.Request, answer: Callable[[SampleTable], object]
) -> web.StreamResponse:
    """Answer about the table of a dataset: with its problem while it can't be read.

    Its files are edited, so that is no failure of the server, nor of the page that asks.
    """
    name = _name_of(request.match_info["name"])
    try:
        if (table := await asyncio.to_thread(request.app[_LIVE].table, name)) is None:
            raise RegistryError(f"{name} has no samples here now")
        return _json(await asyncio.to_thread(answer, table))
    except RegistryError as error:
        return _json({"problem": escape_control(str(error))})


def _answer(table: SampleTable, question: Question) -> dict[str, Any]:
    try:
        answer = table.answer(question)
    except IndexError as error:  # the dataset has changed meanwhile
        raise RegistryError("the table has no such column or group") from error
    return {"total": answer.total, "rows": answer.rows, "counts": answer.counts}


def _pair(text: str) -> tuple[int, int]:
    facet, _, group = text.partition(".")
    return int(facet), int(group)


async def _asset(request: web.Request) -> web.StreamResponse:
    name = request.match_info["name"]
    if name not in _ASSETS:
        raise web.HTTPNotFound
    if name == STYLE:
        return web.Response(text=asset(name), content_type="text/css", headers=HEADERS)
    return _script(asset(name))


async def _events(request: web.Request) -> web.StreamResponse:
    """Tell a page when it shows an old state."""
    live, stopping = request.app[_LIVE], request.app[_STOPPING]
    name, shown = request.query.get("name", ""), request.query.get("state", "")
    headers = {**HEADERS, "Content-Type": "text/event-stream"}
    response = web.StreamResponse(headers=headers)
    await response.prepare(request)
    # Of 10,000 datasets, it takes seconds to count the states.
    loop, threads = asyncio.get_running_loop(), request.app[_COUNTERS]
    counting: asyncio.Future[str | None] | None = None
    is_counted = bool(name)
    polls = 0
    # A browser that is gone resets the connection.
    with contextlib.suppress(ConnectionError):
        while not stopping.is_set():
            if await asyncio.to_thread(live.state, name) != shown:
                await response.write(b"event: changed\ndata: \n\n")
                break
            if counting is not None and counting.done() and not stopping.is_set():
                if (summary := counting.result()) is not None:
                    await response.write(f"event: summary\ndata: {summary}\n\n".encode())
                    is_counted = True
                counting = None  # None: a tab of another state has interrupted it
            if counting is None and not is_counted:
                counting = loop.run_in_executor(threads, live.summary, shown)
            if polls % _HEARTBEAT_POLLS == 0:
                await response.write(b": no change\n\n")
            polls += 1
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), _POLL_SECONDS)
    return response


def _page(text: str | None) -> web.Response:
    if text is None:
        raise web.HTTPNotFound
    return web.Response(text=text, content_type="text/html", headers=HEADERS)


def _script(text: str | None) -> web.Response:
    if text is None:
        raise web.HTTPNotFound
    return web.Response(text=text, content_type="text/javascript", headers=HEADERS)


def _json(data: object) -> web.Response:
    body = msgspec.json.encode(data)
    return web.Response(body=body, content_type="application/json", headers=HEADERS)


def _text(text: str, *, status: int) -> web.Response:
    return web.Response(text=f"{escape_control(text)}\n", status=status, headers=HEADERS)
