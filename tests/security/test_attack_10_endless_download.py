"""Attack 10: a host whose answer never ends, which filled the disk of whoever reads it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.git_repository import write_files
from tests.security.measured import run_measured

LINES = b"1,2\n" * (1 << 18)
LARGEST = 300_000_000


class Endless(BaseHTTPRequestHandler):
    """Sends lines without a length, quickly or slowly, until nobody reads them."""

    sent = 0

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        is_slow = "slow" in self.path
        try:
            while Endless.sent < LARGEST:
                self.wfile.write(b"1,2\n" if is_slow else LINES)
                Endless.sent += 4 if is_slow else len(LINES)
                time.sleep(0.2 if is_slow else 0)
        except OSError:
            pass

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    Endless.sent = 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("path", "limit", "message"),
    [
        ("fast.csv", "unpacked_bytes: 20MB", "the file has more than 20,000,000 bytes"),
        ("slow.csv", "seconds: 2", "the transfer takes more than 2 seconds"),
    ],
)
def test_an_answer_without_end_is_refused(
    tmp_path: Path, url: str, path: str, limit: str, message: str
) -> None:
    source = f"{{type: csv, path: '{url}/{path}', fieldnames: [q, a]}}"
    dataset = f"{{source: {source}, fields: {{input: q, target: a}}}}"
    index = f"version: 1\nlimits: {{{limit}}}\ndatasets: {{d: {dataset}}}\n"
    catalog, cache = write_files(tmp_path / "catalog", {"datasets.yaml": index}), tmp_path / "cache"
    result = run_measured(catalog, "sync", cache=cache, timeout=60)
    assert result.code == 1
    assert f"error: d: {url}/{path}: {message} (`limits: " in result.text
    assert Endless.sent < LARGEST
    kept = sum(file.stat().st_size for file in cache.rglob("*") if file.is_file())
    assert kept < 1_000_000
