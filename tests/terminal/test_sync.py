"""`sync` on terminals of any width: what is left on the screen, and what was there on the way."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.invocation import write
from tests.terminal.conftest import Captured, RunInTerminal

OFFLINE = "datasets:\n" + "".join(
    f"  needs-the-network-{number}: {{source: {{type: hf, path: org/name-{number}, split: test}}}}\n"
    for number in range(20)
)
GONE = "datasets:\n  gone: {source: {type: csv, path: a-folder-with-a-long-name/gone.csv}}\n"


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_failures_are_printed_once_by_cause(
    terminal: RunInTerminal, captured: Captured, own: Path, columns: int
) -> None:
    write(own, "hub", OFFLINE)
    write(own, "gone", GONE)
    screen = terminal("sync", "--offline", "--jobs", "1", columns=columns)
    assert screen.code == 1
    # The length of the folder of a test differs.
    text = re.sub(r"error: gone:(.|\n)*?\nerror:", "error: gone: (…)\nerror:", screen.text)
    captured(screen.with_text(text), f"sync-{columns}")


def test_pipe_gets_plain_lines(piped: RunInTerminal, captured: Captured, own: Path) -> None:
    write(own, "hub", OFFLINE)
    screen = piped("sync", "--offline", "--jobs", "1")
    assert "\x1b" not in screen.raw
    captured(screen, "sync-piped")


def test_dumb_terminal_gets_no_control_code(terminal: RunInTerminal, own: Path) -> None:
    screen = terminal("sync", "--jobs", "1", environment={"TERM": "dumb"})
    assert (screen.code, screen.codes) == (0, [])
    assert screen.lines[1].split()[:3] == ["qa", "built", "3"]


class Slow(BaseHTTPRequestHandler):
    """Sends a file in pieces."""

    body = b"q,a\n" + b"".join(b"%d?,%d\n" % (number, number) for number in range(60_000))

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.body)))
        self.send_header("ETag", '"1"')
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        size = len(self.body) // 8 + 1
        for start in range(0, len(self.body), size):
            self.wfile.write(self.body[start : start + size])
            time.sleep(0.5)  # a command on loaded cores still shows a rate, which takes it a second

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def slow_url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/d.csv"
    server.shutdown()
    thread.join()
    server.server_close()


def test_download_has_a_true_total_and_a_rate_and_ends_in_one_line(
    terminal: RunInTerminal, own: Path, slow_url: str
) -> None:
    write(
        own,
        "slow",
        f"datasets:\n  slow: {{source: {{type: csv, path: '{slow_url}'}}, fields: {{input: q, target: a}}}}\n",
    )
    screen = terminal("sync", "--jobs", "1", "slow", "qa", environment={"http_proxy": None})
    assert screen.code == 0, screen.text
    frames = "\n".join(screen.frames)
    assert re.search(
        r"slow +[━╺╸]+ +0:\d\d:\d\d download [\d.]+ kB of 757.8 kB +[\d.]+ [kM]?B/s", frames
    )
    assert re.search(r"2 datasets +━+ 0:\d\d:\d\d 0 finished", frames)
    # The bars are gone.
    assert [line.split()[0] for line in screen.lines] == ["dataset", "slow", "qa", "2"]
    assert "\x1b[?25h" in screen.codes  # the cursor is shown again
