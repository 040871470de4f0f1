"""Time builds in a process that does nothing else, one build whenever it is asked.

Two that are compared would slow each other in one process: the samples of the peer are so many
objects that later allocations of both take longer.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from benchmarks.clock import seconds

__all__ = ["Actions", "Timer", "serve", "side"]

Timer = Callable[[str, Path], float]
"""Returns the seconds that a build of a file by a mapping takes."""
Actions = Callable[[str, Path], Callable[[], object]]
"""Returns such a build, prepared."""


@contextmanager
def side(who: str) -> Iterator[Timer]:
    """Start a process that builds for one of the two; yield what asks it for a time."""
    command = [sys.executable, "-m", "benchmarks.real", who]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        asked, told = process.stdin, process.stdout
        assert asked is not None and told is not None  # noqa: PT018, S101 (both are pipes)

        def timed(name: str, file: Path) -> float:
            asked.write(f"{json.dumps([name, str(file)])}\n")
            asked.flush()
            answer = told.readline()
            if not answer:  # the process has said why
                raise RuntimeError(f"{' '.join(command)} ended at {name}")
            return float(answer)

        yield timed


def serve(actions: Actions, asked: Iterable[str], told: TextIO) -> None:
    """Answer each line, a mapping and a file, with the seconds of one build."""
    for line in asked:
        name, file = json.loads(line)
        action = actions(name, Path(file))
        gc.collect()
        print(seconds(action), file=told, flush=True)
