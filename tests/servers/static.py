"""A server of static files on the loopback, with validators and ranges."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Self

__all__ = ["StaticFiles"]


@dataclass
class StaticFiles:
    """Serves `files` as nginx does: a strong ETag, ranges, `If-Range`; a context manager."""

    files: dict[str, bytes] = field(default_factory=dict)
    """Path → body; may change while it runs."""
    requests: list[str] = field(default_factory=list)
    """The parts that were requested, as `bytes=START-`, `bytes=START-LAST`, `bytes=-COUNT`; "" for a whole file."""
    sends_ranges: bool = True
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """Its root, without a slash at the end."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        files, requests, sends_ranges = self.files, self.requests, self.sends_ranges

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                body = files.get(self.path)
                etag = f'"{hashlib.md5(body or b"", usedforsecurity=False).hexdigest()}"'
                part = self._part(etag, len(body or b""))
                if body is None:
                    self.send_response(404)
                    body = b""
                elif part is None:
                    self.send_response(200)
                else:
                    self.send_response(206)
                    about = f"bytes {part.start}-{part.stop - 1}/{len(body)}"
                    self.send_header("Content-Range", about)
                    body = body[part.start : part.stop]
                self.send_header("ETag", etag)
                if sends_ranges:
                    self.send_header("Accept-Ranges", "bytes")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    with suppress(ConnectionError):  # of a file, only a part may be wanted
                        self.wfile.write(body)

            do_HEAD = do_GET  # noqa: N815

            def _part(self, etag: str, size: int) -> range | None:
                """Return the requested part; None for the whole file."""
                found = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
                if self.command == "GET":
                    requests.append(self.headers.get("Range", ""))
                if found is None or not sends_ranges or self.headers.get("If-Range", etag) != etag:
                    return None
                first, last = found.groups()
                if not first:
                    return range(max(0, size - int(last)), size)
                part = range(int(first), min(size, int(last) + 1) if last else size)
                return part or None

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        serve = self._server.serve_forever
        Thread(target=serve, args=(0.01,), name="static-files", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()
