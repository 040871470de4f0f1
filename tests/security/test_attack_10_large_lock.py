"""A lockfile that was made to exhaust time or memory ends soon."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.base.materials import Material
from registry.lockfile.models import Lock, Pin, lock_text
from tests.command_line import Ran, run_apart
from tests.git_repository import write_files

SECONDS, MEGABYTES = 10, 500


def pin(number: int) -> Pin:
    digest = f"sha256:{number:064x}"
    source = Material(location="data.csv", size=1, sha256=f"{number:064x}")
    digests: dict[str, Any] = {"spec": digest, "ordered": digest, "unordered": digest}
    return Pin(sources=(source,), samples=number, columns=("q", "a"), format=1, **digests)


ONE = lock_text(Lock({"qa": pin(1)}))
"""A lock to which hostile lines are added."""


def largest() -> str:
    return lock_text(Lock({f"data-{number:06}": pin(number) for number in range(17_000)}))


def rows(row: str, count: int) -> str:
    return "".join(f"{row.format(number)}\n" for number in range(count))


HOSTILE: dict[str, tuple[Callable[[], str], str]] = {
    "46 MiB": (lambda: "# x\n" * (46 << 18), "larger than 8 MiB (REGISTRY_MAX_LOCK_MIB sets"),
    "hundreds of thousands of keys": (lambda: rows("    {}: 1", 400_000), "larger than 4 MiB"),
    "unknown keys": (lambda: rows("    k{}: 1", 40_000), "more problems, which are not listed"),
    "invalid names": (lambda: rows("  N{}: 1", 500_000), "more problems, which are not listed"),
    "brackets": (lambda: "    x: " + "[" * 1_000_000 + "\n", "nested deeper than 64 levels"),
    "conflicts": (lambda: "<<<<<<< a\n=======\n>>>>>>> b\n" * 200_000, "unresolved merge conflict"),
}


@pytest.mark.parametrize(("more", "message"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_lock_is_an_error_soon(
    tmp_path: Path, more: Callable[[], str], message: str
) -> None:
    write_files(tmp_path, {"datasets.yaml": "version: 1\n", "datasets.lock": ONE + more()})
    for ran in run(tmp_path, "validate", "lock --check"):
        assert ran.code == 1, ran
        assert message in ran.text
        assert "datasets.lock" in ran.text


def test_one_problem_here_and_there_in_a_large_lock_is_an_error_soon(tmp_path: Path) -> None:
    text = "format: 0".join(largest().split("format: 1", 30))
    write_files(tmp_path, {"datasets.yaml": "version: 1\n", "datasets.lock": text})
    for ran in run(tmp_path, "validate", "lock --check"):
        assert ran.code == 1
        assert "datasets.lock:16" in ran.text
        assert "$.datasets.data-000000.format: must be 1 or more" in ran.text


def test_the_largest_lock_is_read(tmp_path: Path) -> None:
    write_files(tmp_path, {"datasets.yaml": "version: 1\n", "datasets.lock": largest()})
    (ran,) = run(tmp_path, "lock --check --json")
    assert ran.out.count("is pinned but in no manifest") == 17_000


def run(folder: Path, *commands: str) -> list[Ran]:
    """Run commands in a process that is killed if it needs more memory, or computes for longer."""
    limits = {"DATA": MEGABYTES << 20, "CPU": SECONDS * len(commands)}
    before = "import resource"
    for name, most in limits.items():
        before += f"\nresource.setrlimit(resource.RLIMIT_{name}, ({most},) * 2)"
    split = [command.split() for command in commands]
    return run_apart(folder, split, before=before, timeout=6 * SECONDS)
