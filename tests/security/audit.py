"""Run the command line as a process that records every file it opens and every connection."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.command_line import Ran, run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["FILE_EVENTS", "Audited", "run_audited"]

FILE_EVENTS = ("open", "os.listdir", "os.scandir")

# Written with `os.write`, as a file object would raise the event again.
_HOOK = """
import json, os, sys
log = os.open(os.environ.pop("AUDIT_LOG"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
events = ("open", "os.listdir", "os.scandir", "socket.connect", "socket.getaddrinfo",
          "subprocess.Popen", "exec")
def hook(event, arguments):
    if event in events:
        row = [event, *(getattr(one, "co_filename", str(one)) for one in arguments[:3])]
        os.write(log, json.dumps(row).encode() + b"\\n")
sys.addaudithook(hook)
"""


@dataclass(frozen=True)
class Audited(Ran):
    """What a process printed and did."""

    events: list[list[str]]
    """The name of each audit event, and its first arguments."""

    @property
    def opened(self) -> set[str]:
        """The absolute paths of files that it opened, and of folders that it listed."""
        return {os.path.abspath(event[1]) for event in self.events if event[0] in FILE_EVENTS}

    @property
    def connections(self) -> list[list[str]]:
        """The connections that it opened, and the host names that it looked up."""
        return [event for event in self.events if event[0].startswith("socket.")]

    @property
    def executed(self) -> set[str]:
        """The files whose code it ran: modules too, but not those that most commands import."""
        return {event[1] for event in self.events if event[0] == "exec"}


def run_audited(
    arguments: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    timeout: float = 60,
) -> Audited:
    """Run `registry ARGUMENTS` in a folder, with an empty cache; it ends without a traceback.

    Only the calls of Python raise audit events; `strace` also sees those of libraries.
    """
    with TemporaryDirectory() as private:
        log, cache = Path(private, "events"), Path(private, "cache")
        own = {"REGISTRY_CACHE_DIR": str(cache), **(environment or {}), "AUDIT_LOG": str(log)}
        how: dict[str, Any] = {"before": _HOOK, "errors": "surrogateescape", "timeout": timeout}
        ran = run(folder, *arguments, environment=own, **how)
        events = [json.loads(line) for line in log.read_text().splitlines()]
        assert "Traceback" not in ran.text
        return Audited(ran.code, ran.out, ran.err, events)
