"""A lockfile that was made to exhaust time or memory, or that is no file, ends soon."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.base.materials import Material
from registry.lockfile.models import Lock, Pin, lock_text
from tests.command_line import Ran, run_apart

SECONDS, MEGABYTES = 10, 500


def pin(number: int) -> Pin:
    digest = f"sha256:{number:064x}"
    return Pin(
        spec=digest,
        sources=(Material(location="data.csv", size=1, sha256=f"{number:064x}"),),
        samples=number,
        columns=("q", "a"),
        ordered=digest,
        unordered=digest,
        format=1,
    )


ONE = lock_text(Lock({"qa": pin(1)}))


def many(count: int) -> str:
    return lock_text(Lock({f"data-{number:06}": pin(number) for number in range(count)}))


HOSTILE: dict[str, tuple[Callable[[], str], str]] = {
    "46 MiB": (lambda: ONE + "# x\n" * (46 << 18), "larger than 8 MiB (REGISTRY_MAX_LOCK_MIB sets"),
    "hundreds of thousands of keys": (
        lambda: ONE + "".join(f"    {number}: 1\n" for number in range(400_000)),
        "a pin is larger than 4 MiB",
    ),
    "unknown keys": (
        lambda: ONE + "".join(f"    k{number}: 1\n" for number in range(40_000)),
        "more problems, which are not listed",
    ),
    "invalid names": (
        lambda: ONE + "".join(f"  N{number}: 1\n" for number in range(500_000)),
        "more problems, which are not listed",
    ),
    "one problem here and there": (
        lambda: "format: 0".join(many(17_000).split("format: 1", 30)),
        "$.datasets.data-000000.format: must be 1 or more",
    ),
    "brackets": (lambda: ONE + "    x: " + "[" * 1_000_000 + "\n", "nested deeper than 64 levels"),
    "aliases": (
        lambda: ONE + "    x: &a [1, 2, 3]\n" + "    y: *a\n" * 100_000,
        "more than 32 aliases",
    ),
    "conflicts": (
        lambda: ONE + "<<<<<<< a\n=======\n>>>>>>> b\n" * 200_000,
        "unresolved merge conflict",
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_lock_is_an_error_soon(tmp_path: Path, kind: str) -> None:
    text, message = HOSTILE[kind]
    (tmp_path / "datasets.yaml").write_text("version: 1\n")
    (tmp_path / "datasets.lock").write_text(text())
    for ran in run(tmp_path, "validate", "lock --check"):
        assert ran.code == 1, ran
        assert message in ran.text
        assert "datasets.lock" in ran.text


def test_the_largest_lock_is_read(tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").write_text("version: 1\n")
    (tmp_path / "datasets.lock").write_text(many(17_000))
    (ran,) = run(tmp_path, "lock --check --json")
    assert ran.out.count("is pinned but in no manifest") == 17_000


def run(folder: Path, *commands: str) -> list[Ran]:
    """Run commands in a process that is killed if it needs more memory, or computes for longer."""
    limits = {"DATA": MEGABYTES << 20, "CPU": SECONDS * len(commands)}
    before = [f"resource.setrlimit(resource.RLIMIT_{name}, ({most},) * 2)" for name, most in limits.items()]  # fmt: skip
    return run_apart(
        folder,
        [command.split() for command in commands],
        before="\n".join(["import resource", *before]),
        timeout=6 * SECONDS,
    )


def link(path: Path) -> None:
    outside = path.parent.parent / "outside"
    outside.write_text("SECRET\n")
    path.symlink_to(outside)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (link, "a symbolic link, which is not followed"),
        (lambda path: path.symlink_to("/dev/zero"), "a symbolic link, which is not followed"),
        (os.mkfifo, "a device, pipe or socket"),
        (Path.mkdir, "Is a directory"),
    ],
)
def test_what_is_no_file_is_not_read(
    tmp_path: Path, make: Callable[[Path], None], message: str
) -> None:
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / "datasets.yaml").write_text("version: 1\n")
    make(folder / "datasets.lock")
    for ran in run(folder, "validate", "lock --check", "lock", "sync"):
        assert ran.code == 1, ran
        assert message in ran.text
        assert "SECRET" not in ran.text
