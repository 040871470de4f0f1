"""`browse`: show the catalog in a browser while it is edited."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from registry import Catalog
from registry.api import CLEAN, INTERRUPTED, Settings, options, print_line
from registry.plugins.browse.live_catalog import LiveCatalog
from registry.plugins.browse.server import Gate, application, free_socket, serving

if TYPE_CHECKING:
    import socket

__all__ = ["command"]

_PORT = 8321

_ENTRY_PAGE = (
    '<!doctype html><html lang="en"><meta name="referrer" content="no-referrer">'
    '<meta http-equiv="refresh" content="0; url={url}"><title>Datasets</title>'
)

_EXAMPLES = """\b
Example: registry browse
registry browse --build --no-open --port 9000
"""


@click.command("browse", epilog=_EXAMPLES)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=_PORT,
    show_default=True,
    metavar="N",
    help="The port; if it is taken, the next one that is free. 0 means any.",
)
@click.option("--no-open", is_flag=True, help="Open no browser, only print the URL.")
@click.option(
    "--build",
    is_flag=True,
    help="Build a dataset that is not cached when its page is opened. Without it, the first records"
    " of local files are shown as samples, and no request is made.",
)
@options.offline
@options.locked
@options.frozen
@options.root
def command(port: int, no_open: bool, build: bool, **access: Unpack[options.Access]) -> int:
    """Show the catalog in a browser; pages change when a manifest or a local file is saved.

    The pages are those of `registry site`. The server is reachable from this machine only. The
    printed URL has a secret that lets one browser in, once. Ctrl-C ends it.
    """
    settings = Settings.from_environment(**access)
    live = LiveCatalog(settings, build)
    if not settings.index.is_file():
        Catalog.open(settings=settings)  # raises what every command says; an invalid one is shown
    with free_socket(port) as listening:
        gate = Gate(listening.getsockname()[1])
        if port not in (0, gate.port):
            print_line(f"port {port} is taken: using {gate.port}", err=True)
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_serve(live, gate, listening, opens=not no_open))
    print_line("stopped", err=True)
    return CLEAN


async def _serve(live: LiveCatalog, gate: Gate, listening: socket.socket, *, opens: bool) -> None:
    stop = _signalled()
    async with serving(application(live, gate), listening):
        print_line(gate.new_url())
        sys.stdout.flush()  # a program may wait for it
        print_line("Ctrl-C ends it", err=True)
        with tempfile.TemporaryDirectory(prefix="registry-browse-") as folder:
            if opens and _has_screen():
                page = _entry_page(Path(folder), gate.new_url())
                await asyncio.to_thread(webbrowser.open, page.as_uri())
            await stop.wait()


def _entry_page(folder: Path, url: str) -> Path:
    """Write a page that leads to a URL, for this user alone.

    Every user of the machine can read the arguments of the browser's process. A browser in a
    sandbox may be unable to read the page, so the printed URL has a token of its own.
    """
    page = folder / "open.html"
    page.touch(mode=0o600)
    page.write_text(_ENTRY_PAGE.format(url=url), encoding="utf-8")
    return page


def _signalled() -> asyncio.Event:
    """Return an event that Ctrl-C or SIGTERM sets; after that, a second one ends the process."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def on_signal(*_: object) -> None:
        if stop.is_set():  # a page that is being built may take long to end
            os._exit(INTERRUPTED)
        loop.call_soon_threadsafe(stop.set)

    # Not handlers of the loop, which are gone before the process is: SIGTERM would then kill it.
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, on_signal)
    return stop


def _has_screen() -> bool:
    """Return whether a browser would be a window: one in the terminal would take it over."""
    screens = ("DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform in ("win32", "darwin") or any(map(os.environ.get, screens))
