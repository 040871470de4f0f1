"""Every input of the corpus, among them those that once failed, is handled as its target says."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fuzz.__main__ import CORPUS
from tests.fuzz.targets import TARGETS, run_target

INPUTS = sorted(path for path in CORPUS.glob("*/*"))


def test_every_target_has_inputs() -> None:
    assert {path.parent.name for path in INPUTS} == TARGETS.keys()


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_input_is_handled(path: Path) -> None:
    start = time.process_time()
    run_target(path.parent.name, path.read_bytes())
    assert time.process_time() - start < 10


REACH = """
import sys
from tests.fuzz.watch import OutsideError, watch
watch()
try:
    {code}
except OutsideError:
    sys.exit(7)
"""


@pytest.mark.parametrize(
    "code",
    [
        "open('/etc/hostname')",
        "import os; os.listdir('/home')",
        "import socket; socket.getaddrinfo('localhost', 1)",
        "import subprocess; subprocess.run(['true'])",
    ],
)
def test_the_watch_sees_what_lies_outside(code: str) -> None:
    """Without this, no input could fail for what it opens."""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", REACH.format(code=code)], cwd=root, check=False)
    assert done.returncode == 7


def test_inputs_of_the_corpus_reach_nothing_outside() -> None:
    program = (
        "from pathlib import Path\n"
        "from tests.fuzz.__main__ import CORPUS\n"
        "from tests.fuzz.targets import TARGETS, run_target\n"
        "from tests.fuzz.watch import watch\n"
        "for name in TARGETS: run_target(name, b'')\n"
        "watch()\n"
        "for path in sorted(CORPUS.glob('*/*')): run_target(path.parent.name, path.read_bytes())\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
