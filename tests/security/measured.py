"""Run the command line as a process, and measure its memory and processor time."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PROGRAM", "Measured", "run_measured"]

PROGRAM = """
import os, pathlib, resource, sys
from registry.cli import main
code = main(sys.argv[1:])
if sys.platform == "linux":  # where `ru_maxrss` begins with the peak of the process that started it
    status = pathlib.Path("/proc/self/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(f"used {peak} {sum(os.times()[:4])}", file=sys.stderr)
sys.exit(code)
"""
"""Runs the command line; the last line of stderr is its peak of memory in bytes, and its seconds."""


@dataclass(frozen=True)
class Measured:
    """What a process printed, and what it used."""

    code: int
    text: str
    bytes: int
    """Largest resident memory."""
    seconds: float
    """Processor time, with that of processes it started, which other processes don't prolong."""


def run_measured(catalog: Path, *arguments: str, cache: Path, timeout: float = 120) -> Measured:
    """Run `registry ARGUMENTS` in a folder."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", PROGRAM, *arguments],
        cwd=catalog,
        env={**os.environ, "REGISTRY_CACHE_DIR": str(cache)},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=timeout,
        check=False,
    )
    text, _, used = (done.stdout + done.stderr).rpartition("used ")
    peak, seconds = used.split()
    return Measured(done.returncode, text, int(peak), float(seconds))
