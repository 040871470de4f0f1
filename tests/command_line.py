"""Run the command line as its users do: a process of its own, in the folder of their catalog.

`run` asks one process, which has imported the command line, to fork another: importing takes most
of the time of a command on a small catalog, and the tests start thousands. `install` does so for
commands in a shell.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from select import select
from typing import Any, NoReturn

__all__ = ["Ran", "install", "run", "run_apart", "run_each"]

# What most commands import, at once or later; none of it reads the environment as it is imported.
_COMMANDS = ("add", "diff", "list", "lock", "preview", "show", "sync", "validate")
_LATER = (
    *("decode.csv_tables", "lint.data_checks", "manifest.source_checks", "pipeline.builder"),
    *("pipeline.file_rows", "pipeline.execute", "yamldoc.reader"),
    *("plugins.doctor.command", "plugins.site.command"),
)
_STREAMS = ("out", "err")
_INSTALLED = """\
#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    request = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]) + "\\n"
    socket.send_fds(server, [request.encode()], [0, 1, 2])
    sys.exit(int(server.recv(8) or 70))
"""
_IMPORTED = (
    *(f"registry.cli.commands.{name}" for name in _COMMANDS),
    *(f"registry.{name}" for name in _LATER),
    # pyarrow imports pandas, when it is there, with the first values that it turns into a column.
    *("jsonschema_rs", "pandas", "pyarrow.parquet"),
)


@dataclass(frozen=True)
class Ran:
    """What a process printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """All that it printed."""
        return self.out + self.err

    @property
    def json(self) -> Any:
        """The output as JSON data."""
        return json.loads(self.out)


def run(folder: Path, *arguments: str, **how: Any) -> Ran:
    """Run `python -I -m registry ARGUMENTS`; `how` are the arguments of `run_each`."""
    return run_each(folder, [arguments], **how)


def run_each(
    folder: Path,
    commands: Sequence[Sequence[str]],
    *,
    environment: Mapping[str, str] | None = None,
    site: Path | None = None,
    before: str = "",
    errors: str = "strict",
    timeout: float = 180,
) -> Ran:
    """Run commands in one process; the code is that of the worst.

    `environment` is added to that of the tests; `site` is a folder of further installed packages;
    `before` is Python that the process runs first; `errors` is that of `bytes.decode`.
    """
    ran = run_apart(
        folder,
        commands,
        environment=environment,
        site=site,
        before=before,
        errors=errors,
        timeout=timeout,
    )
    out, err = "".join(one.out for one in ran), "".join(one.err for one in ran)
    return Ran(max((one.code for one in ran), key=abs), out, err)


def run_apart(
    folder: Path,
    commands: Sequence[Sequence[str]],
    *,
    environment: Mapping[str, str] | None = None,
    site: Path | None = None,
    before: str = "",
    before_each: str = "",
    errors: str = "strict",
    timeout: float = 180,
) -> list[Ran]:
    """Run commands in one process, and return what each printed; arguments as for `run_each`.

    `before_each` is Python that the process runs before each command, when its streams are open. A
    process that ends before its last command gives its code to the command at which it ended.
    """
    with tempfile.TemporaryDirectory(prefix="registry-tests-") as written:
        request = {
            "commands": commands,
            "folder": str(folder),
            "environment": {**os.environ, **(environment or {})},
            "site": [] if site is None else [str(site)],
            "before": before,
            "before_each": before_each,
            "written": written,
        }
        ended = _asked(request, timeout)
        codes = [int(code) for code in Path(written, "codes").read_text().split()]
        codes = [*codes[: len(commands) - 1], ended]
        return [
            Ran(
                code, *(Path(written, f"{name}{n}").read_text("utf-8", errors) for name in _STREAMS)
            )
            for n, code in enumerate(codes)
        ]


def install(folder: Path) -> None:
    """Write a command `registry` for shells, with the packages of PYTHONPATH, into a folder."""
    command = folder / "registry"
    text = _INSTALLED.format(python=sys.executable, address=_server()[1])
    command.write_text(text, encoding="utf-8")
    command.chmod(0o755)


def _asked(request: Mapping[str, Any], timeout: float) -> int:
    server, _ = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(request).encode() + b"\n")
    server.stdin.flush()
    if not select([server.stdout], [], [], timeout)[0]:
        os.killpg(server.pid, signal.SIGKILL)
        _server.cache_clear()
        raise subprocess.TimeoutExpired(request["commands"], timeout)
    return int(server.stdout.readline())


@cache
def _server() -> tuple[subprocess.Popen[bytes], str]:
    """Start the process that forks, and ends when its input does; return its socket too."""
    folder = tempfile.mkdtemp(prefix="registry-tests-")
    atexit.register(shutil.rmtree, folder)
    listener = socket.socket(socket.AF_UNIX)
    address = os.path.join(folder, "socket")
    listener.bind(address)
    listener.listen()
    server = subprocess.Popen(
        [sys.executable, "-I", __file__, str(listener.fileno())],
        pass_fds=(listener.fileno(),),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # So that what exceeds its time is killed with it.
        start_new_session=True,
    )
    listener.close()
    atexit.register(server.communicate)
    return server, address


def _serve(listening: int) -> None:
    with socket.socket(fileno=listening) as listener:
        for name in _IMPORTED:
            importlib.import_module(name)
        gc.freeze()  # else the first collection of each process copies all of this one's memory
        while True:
            if listener in select([sys.stdin, listener], [], [])[0]:
                connection, _ = listener.accept()
                if not os.fork():
                    _answer(connection)
                connection.close()
            elif line := sys.stdin.readline():
                child = os.fork()
                if not child:
                    _become(**json.loads(line))
                _, status = os.waitpid(child, 0)
                sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
                sys.stdout.flush()
            else:
                return


def _answer(connection: socket.socket) -> NoReturn:
    """Run the command of a shell in this process, and end it."""
    from registry.cli import main

    request, descriptors, *_ = socket.recv_fds(connection, 1 << 20, 3)
    while not request.endswith(b"\n"):
        request += connection.recv(1 << 20)
    arguments, folder, environment = json.loads(request)
    for target, one in enumerate(descriptors):
        os.dup2(one, target)
        os.close(one)
    sys.stdin = os.fdopen(0)  # what was read ahead is not for the command
    sys.stdout.reconfigure(line_buffering=os.isatty(1))  # type: ignore[union-attr]
    sys.path += filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    _enter(folder, environment)
    code = main(arguments)
    _end(code, lambda: connection.sendall(b"%d" % code))


def _become(
    commands: list[list[str]],
    folder: str,
    environment: Mapping[str, str],
    site: list[str],
    before: str,
    before_each: str,
    written: str,
) -> NoReturn:
    """Run commands in this process, and end it."""
    from registry.cli import main

    def opened(number: int) -> None:
        for target, name in enumerate(_STREAMS, 1):
            path = os.path.join(written, f"{name}{number}")
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
            os.dup2(descriptor, target)
            os.close(descriptor)

    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    codes = os.open(os.path.join(written, "codes"), os.O_WRONLY | os.O_CREAT, 0o600)
    opened(0)
    _enter(folder, environment)
    sys.path += site
    exec(before, {})
    code = 0
    for number, arguments in enumerate(commands):
        if number:
            opened(number)
        exec(before_each, {})
        code = main(arguments)
        sys.stdout.flush()  # what `main` could not write it has sent to the null device
        os.write(codes, f"{code}\n".encode())
    _end(code)


def _enter(folder: str, environment: Mapping[str, str]) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    # Packages of tests change faster than the clock by which Python knows what it has compiled.
    sys.dont_write_bytecode = True


def _end(code: int, tell: Callable[[], object] = lambda: None) -> NoReturn:
    """End as Python does, but for taking all modules apart: half of the time of short commands.

    What goes wrong then is seen by the tests that start `python -m registry`.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    tell()
    os._exit(code)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
