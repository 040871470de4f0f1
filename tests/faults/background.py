"""Processes of the command line and of `get_dataset`, that run beside each other."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.command_line import run_apart

__all__ = ["LOAD", "finish", "load", "loaded", "registry", "start"]

LOAD = """
import json, sys
from registry import RegistryError, get_dataset

try:
    found = [[one.input, one.choices, one.target] for one in get_dataset(sys.argv[1])]
    print(json.dumps(found))
except RegistryError as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""
"""Prints the samples of a dataset, or the error."""


def start(
    arguments: Sequence[str], root: Path, *, before: Sequence[str] = (), **environ: str
) -> subprocess.Popen[str]:
    """Start Python in the folder of a catalog, as the last part of the command `before`."""
    return subprocess.Popen(
        [*before, sys.executable, *arguments],
        cwd=root,
        env={**os.environ, **environ},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def load(name: str, root: Path, **options: Any) -> subprocess.Popen[str]:
    """Start `get_dataset`; the output of the process is JSON."""
    return start(["-c", LOAD, name], root, **options)


def loaded(name: str, root: Path, **environment: str) -> tuple[int, str, str]:
    """Run `get_dataset` in a process of its own, with no other beside it; return as `finish`."""
    program = f"import sys; sys.argv[1:] = [{name!r}]\n{LOAD}"
    (ran,) = run_apart(root, [], environment=environment, before=program)
    return ran.code, ran.out, ran.err


def registry(*arguments: str, root: Path, **options: Any) -> subprocess.Popen[str]:
    """Start the command line."""
    return start(["-m", "registry", *arguments], root, **options)


def finish(process: subprocess.Popen[str], *, timeout: float = 180) -> tuple[int, str, str]:
    """Wait for the end of a process; return exit code, stdout and stderr."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, out, err
