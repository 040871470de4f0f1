"""Run the command line as a process, and measure its memory and processor time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.command_line import run

__all__ = ["Measured", "run_measured"]

# Registered first, so that it runs when the exit functions of the command line have ended.
_MEASURE = """
import atexit, os, pathlib, resource, sys

def report():
    if sys.platform == "linux":  # where `ru_maxrss` begins with the peak of the parent
        status = pathlib.Path("/proc/self/status").read_text()
        peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024
    else:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"used {peak} {sum(os.times()[:4])}", file=sys.stderr)

atexit.register(report)
os.dup2(os.pipe()[0], 0)  # an input that nobody closes: reading it waits
"""
"""The last line of stderr is the peak of memory in bytes, and the seconds."""


@dataclass(frozen=True)
class Measured:
    """What a process printed, and what it used."""

    code: int
    text: str
    bytes: int
    """Largest resident memory."""
    seconds: float
    """Processor time, with that of processes it started, which other processes don't prolong."""


def run_measured(
    catalog: Path, *arguments: str, cache: Path, before: str = "", timeout: float = 120
) -> Measured:
    """Run `registry ARGUMENTS` in a folder; `before` is Python that the process runs first."""
    own = {"REGISTRY_CACHE_DIR": str(cache)}
    how: dict[str, Any] = {"before": _MEASURE + before, "errors": "replace", "timeout": timeout}
    ran = run(catalog, *arguments, environment=own, **how)
    text, _, used = ran.text.rpartition("used ")
    assert used, f"killed: exit code {ran.code}"
    assert "Traceback" not in text
    peak, seconds = used.split()
    return Measured(ran.code, text, int(peak), float(seconds))
