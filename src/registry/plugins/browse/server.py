"""The server: answers the browser that was let in, and tells it when a page changes."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import msgspec
from aiohttp import web

from registry import RegistryError
from registry.api import escape_control
from registry.plugins.browse.gate import HEADERS, Gate
from registry.plugins.browse.live_catalog import SEARCH_FILE, LiveCatalog
from registry.plugins.site.environment import SCRIPTS, STYLE, asset
from registry.plugins.site.sample_table import Question, SampleTable

__all__ = ["application", "free_socket", "serving"]

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
