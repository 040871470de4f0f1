"""Make it a finding if a reader opens a file elsewhere, runs a program or makes a request."""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["OutsideError", "watch"]

_CHECKED = ("open", "os.listdir", "os.scandir")
_NEVER = ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system", "os.exec")
# What Python itself reads: modules, shared libraries, time zones and locales.
_PYTHON = {
    os.path.realpath(path)
    for path in (*sys.path, *sysconfig.get_paths().values(), sys.prefix, sys.base_prefix)
    if path
}
_REPOSITORY = str(Path(__file__).parents[2])
_SYSTEM = ("/usr/share/zoneinfo", "/etc/localtime", "/proc/self/status", "/sys/devices/system")


class OutsideError(BaseException):
    """A reader reached something that its input may not name; no `except Exception` hides it."""


def watch() -> None:
    """Check every audit event of this process from now on; there is no way back."""
    allowed = (*_PYTHON, _REPOSITORY, *_SYSTEM, os.path.realpath(tempfile.gettempdir()))

    def check(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _NEVER:
            raise OutsideError(f"{event}{arguments[:2]!r}")
        if event == "open" and arguments[2] & getattr(os, "O_PATH", 0):
            return  # a place, of which nothing can be read
        if event in _CHECKED and isinstance(arguments[0], str | bytes):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            if not path.startswith(allowed):
                raise OutsideError(f"{event} {path}")

    sys.addaudithook(check)
