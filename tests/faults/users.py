"""Run programs as other users of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

__all__ = ["as_user"]

# In a mount namespace of its own: `$1`, a folder that others may not enter, is replaced by an open
# one in which only `$2` is left, which is moved by way of `$3`.
_OPEN = """
set -e
mkdir -p "$3"
mount --bind "$2" "$3"
mount -t tmpfs -o mode=755 tmpfs "$1"
mkdir -p "$2"
mount --bind "$3" "$2"
shift 3
exec "$@"
"""


def as_user(user: int, group: int, folder: Path) -> list[str]:
    """Return the command prefix that runs Python as another user; `folder` is for a mount.

    Skips the test where that is not possible.
    """
    if os.geteuid() != 0:
        pytest.skip("only root can run a program as another user")
    if not (shutil.which("setpriv") and shutil.which("unshare")):
        pytest.skip("there is no setpriv or unshare")
    prefix = [f"--reuid={user}", f"--regid={group}", "--clear-groups"]
    prefix = [*_opened(Path(sys.base_prefix), folder / "python"), "setpriv", *prefix]
    check = [*prefix, sys.executable, "-c", "import registry, pyarrow"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"another user can't run this Python: {done.stderr[-300:]}")
    return prefix


def _opened(python: Path, at: Path) -> list[str]:
    """Return the prefix that lets other users read a Python below a closed home folder."""
    closed = [one for one in python.parents if not one.stat().st_mode & 0o001]
    if not closed:
        return []
    return ["unshare", "--mount", "sh", "-c", _OPEN, "sh", str(closed[-1]), str(python), str(at)]
