"""`browse` as a process: it prints its address, serves, and ends with Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from registry.plugins.browse import command as browse
from tests.cli.invocation import Run
from tests.plugins.browse.catalogs import write_catalog

COMMAND = ("-m", "registry", "browse")


def start(*command: str, **variables: str) -> subprocess.Popen[str]:
    """Start Python in a process of its own."""
    return subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONUNBUFFERED": "", **variables},
    )


def printed_url(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def cookie_of(url: str) -> dict[str, str]:
    with urllib.request.urlopen(url) as answer:
        return {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}


def test_process_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    root = write_catalog(tmp_path / "catalog").parent
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with start(*COMMAND, "--no-open", "--port", str(port), "--root", str(root)) as process:
            url = printed_url(process)
            base = url.partition("?")[0]
            request = urllib.request.Request(f"{base}events", headers=cookie_of(url))
            with urllib.request.urlopen(request):  # a page that still listens
                process.send_signal(signal.SIGTERM)
                out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert re.fullmatch(rf"port {port} is taken: using \d+\nCtrl-C ends it\nstopped\n", err)
    assert out == ""


# Plays the browser: notes its argument, and stays until the test has looked at all processes.
BROWSER = """#!/bin/sh
echo "$1" > "$NOTES/argument"
while [ ! -e "$NOTES/end" ]; do sleep 0.05; done
"""


def arguments() -> str:
    """Return the arguments of all processes, as any user of the machine may read them."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            found.append(file.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
    return "\n".join(found)


def status_of(url: str) -> int:
    try:
        with urllib.request.urlopen(url) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="reads /proc")
def test_no_process_has_the_token_in_its_arguments_and_it_works_once(tmp_path: Path) -> None:
    root = write_catalog(tmp_path / "catalog").parent
    browser = tmp_path / "browser"
    browser.write_text(BROWSER, encoding="utf-8")
    browser.chmod(0o700)
    variables = {"BROWSER": f"{browser} %s", "DISPLAY": ":0", "NOTES": str(tmp_path)}
    with start(*COMMAND, "--port", "0", "--root", str(root), **variables) as process:
        try:
            printed = printed_url(process)
            noted = tmp_path / "argument"
            while not noted.exists() or not noted.read_text(encoding="utf-8"):
                assert process.poll() is None
                time.sleep(0.05)
            everywhere = arguments()
            opened = noted.read_text(encoding="utf-8").strip()
            assert opened in everywhere
            assert opened.startswith("file:///")
            page = Path(urllib.request.url2pathname(urlsplit(opened).path))
            assert [path.stat().st_mode & 0o777 for path in (page, page.parent)] == [0o600, 0o700]
            found = re.search(
                r'url=(http://127\.0\.0\.1:\d+/\?token=[\w-]+)"', page.read_text("utf-8")
            )
            assert found is not None
            assert found[1] != printed
            for url in (found[1], printed):
                assert url.partition("=")[2] not in everywhere
                assert [status_of(url), status_of(url)] == [200, 403]
        finally:
            (tmp_path / "end").touch()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)
    assert process.returncode == 0
    assert not page.parent.exists()


SLOW_END = """
import sys, time
from registry.cli import main
from registry.plugins.browse import command as browse

class Slow(browse.LiveCatalog):
    def list_file(self, file):
        print("building", flush=True)
        time.sleep(60)

browse.LiveCatalog = Slow
sys.exit(main(["browse", "--no-open", "--port", "0", "--root", sys.argv[1]]))
"""


def test_second_signal_ends_it_while_a_page_is_built(tmp_path: Path) -> None:
    root = write_catalog(tmp_path / "catalog").parent
    with start("-c", SLOW_END, str(root)) as process:
        assert process.stdout is not None
        url = printed_url(process)
        request = urllib.request.Request(url.partition("?")[0], headers=cookie_of(url))
        with ThreadPoolExecutor() as pool:
            asked = pool.submit(urllib.request.urlopen, request)
            assert process.stdout.readline() == "building\n"
            process.send_signal(signal.SIGINT)
            assert isinstance(asked.exception(timeout=20), OSError)  # the server has stopped
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=20)
    assert process.returncode == 130


@pytest.mark.parametrize(
    ("variables", "opened"), [({}, False), ({"DISPLAY": ":0"}, True), ({"DISPLAY": ""}, False)]
)
def test_browser_is_opened_where_there_is_a_screen(
    variables: dict[str, str], opened: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert browse._has_screen() == opened


def test_missing_catalog_is_an_error_before_anything_is_served(run: Run, tmp_path: Path) -> None:
    made = run("browse", "--no-open", "--root", str(tmp_path / "nothing"))
    assert (made.code, made.out) == (1, "")
    assert "nothing" in made.err
