"""A server on the loopback that answers everything, and records what it receives."""

from __future__ import annotations

from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Received", "Recorder"]


class Received(NamedTuple):
    """A request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    """By lower-case name."""


@dataclass
class Recorder:
    """Serves `pages`, one body for all other paths, and `redirects`; a context manager."""

    redirects: dict[str, str] = field(default_factory=dict)
    """Path → where it leads."""
    pages: dict[str, bytes | None] = field(default_factory=dict)
    """Path → body; None is answered with 404."""
    body: bytes = b"q,a\n1,2\n"
    status: int = 200
    """That of answers with a body."""
    received: list[Received] = field(default_factory=list)
    """Every request so far."""
    _server: ThreadingHTTPServer | None = None

    @property
    def port(self) -> int:
        """Where it listens."""
        assert self._server is not None
        return self._server.server_port

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """Return the URL of a path; the server is also `localhost`, as another host."""
        return f"http://{host}:{self.port}{path}"

    def headers(self, path: str) -> Mapping[str, str]:
        """Return the headers of the last request for a path."""
        return [one.headers for one in self.received if one.path == path][-1]

    def __enter__(self) -> Self:
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                recorder.received.append(Received(self.command, self.path, headers))
                target = recorder.redirects.get(self.path)
                page = recorder.pages.get(self.path, recorder.body)
                body = b"" if target or page is None else page
                self.send_response(302 if target else 404 if page is None else recorder.status)
                if target is not None:
                    self.send_header("Location", target)
                self.send_header("Set-Cookie", "server=cookie")
                self.send_header("ETag", f'"{len(body)}"')
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_HEAD = do_GET  # noqa: N815
            do_POST = do_GET  # noqa: N815
            do_CONNECT = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        serve = self._server.serve_forever
        Thread(target=serve, args=(0.01,), name="recorder", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()
