"""Run the command line as a process that records every file it opens and every connection."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Audited", "run_audited", "run_audited_each"]

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
from registry.cli import main
"""
_ONE = f"{_HOOK}sys.exit(main(sys.argv[1:]))"
# A line with a NUL ends what a command printed, and what it did.
_EACH = f"""{_HOOK}
caches = os.environ["REGISTRY_CACHE_DIR"]
for number, arguments in enumerate(json.loads(sys.argv[1])):
    os.environ["REGISTRY_CACHE_DIR"] = os.path.join(caches, str(number))
    code = main(arguments)
    for stream in (sys.stdout, sys.stderr):
        print(f"\\0{{code}}", file=stream, flush=True)
    os.write(log, b"\\0\\n")
"""


@dataclass(frozen=True)
class Audited:
    """What a process did."""

    code: int
    out: str
    err: str
    events: list[list[str]]
    """The name of each audit event, and its first arguments."""

    @property
    def text(self) -> str:
        """All that it printed."""
        return self.out + self.err

    @property
    def opened(self) -> set[str]:
        """The absolute paths of files that it opened, and of folders that it listed."""
        names = ("open", "os.listdir", "os.scandir")
        return {os.path.abspath(event[1]) for event in self.events if event[0] in names}

    @property
    def connections(self) -> list[list[str]]:
        """The connections that it opened, and the host names that it looked up."""
        return [event for event in self.events if event[0].startswith("socket.")]

    @property
    def executed(self) -> set[str]:
        """The files whose code it ran, among them all imported modules."""
        return {event[1] for event in self.events if event[0] == "exec"}


def run_audited(
    arguments: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    timeout: float = 60,
) -> Audited:
    """Run `registry ARGUMENTS` in a folder.

    Only the calls of Python raise audit events; `strace` also sees those of libraries.
    """
    done, log = _run(_ONE, arguments, folder, environment or {}, timeout)
    return Audited(done.returncode, done.stdout, done.stderr, _events(log))


def run_audited_each(
    commands: Sequence[Sequence[str]],
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    timeout: float = 60,
) -> list[Audited]:
    """Run commands in one process, which is faster, each with an empty cache of its own."""
    done, log = _run(_EACH, [json.dumps(commands)], folder, environment or {}, timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    outs, errs = (re.split(r"\0(\d+)\n", text) for text in (done.stdout, done.stderr))
    assert outs[1::2] == errs[1::2]
    logs = log.split("\0\n")[:-1]
    return [
        Audited(int(code), out, err, _events(rows))
        for _, code, out, err, rows in zip(
            commands, outs[1::2], outs[:-1:2], errs[:-1:2], logs, strict=True
        )
    ]


def _run(
    program: str,
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    timeout: float,
) -> tuple[subprocess.CompletedProcess[str], str]:
    """Run a program with an empty cache; return how it ended, and the text of its log."""
    with TemporaryDirectory() as private:
        log = Path(private, "events")
        cache = {"REGISTRY_CACHE_DIR": str(Path(private, "cache"))}
        done = subprocess.run(
            [sys.executable, "-I", "-c", program, *arguments],
            cwd=folder,
            env={**os.environ, **cache, **environment, "AUDIT_LOG": str(log)},
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=timeout,
            check=False,
        )
        return done, log.read_text()


def _events(log: str) -> list[list[str]]:
    return [json.loads(line) for line in log.splitlines()]
