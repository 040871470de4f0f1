"""Inspect AI's own dataset tests pass with our classes in the place of theirs.

REGISTRY_INSPECT_CHECKOUT names a checkout of inspect_ai at the commit that the shim names:

    git clone https://github.com/UKGovernmentBEIS/inspect_ai
    git -C inspect_ai checkout COMMIT
    make upstream INSPECT=inspect_ai
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.upstream.inspect_shim import COMMIT, EXCLUDED

CHECKOUT = os.environ.get("REGISTRY_INSPECT_CHECKOUT", "")
PASSED = 112


@pytest.mark.skipif(
    not CHECKOUT, reason="REGISTRY_INSPECT_CHECKOUT names no checkout of inspect_ai"
)
def test_all_tests_pass_but_the_excluded_ones() -> None:
    folder = Path(CHECKOUT).absolute()
    assert (folder / "tests" / "dataset").is_dir(), (
        f"{folder} is no checkout of inspect_ai {COMMIT}"
    )
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "inspect_shim", "-p", "no:cacheprovider",
         "-c", os.devnull, "--rootdir", str(folder), "tests/dataset"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    counts = {
        what: int(number) for number, what in re.findall(r"(\d+) (\w+)", result.stdout[-200:])
    }
    assert result.returncode == 0, result.stdout
    assert counts["passed"] >= PASSED
    assert counts["xfailed"] == len(EXCLUDED)
