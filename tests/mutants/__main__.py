"""Plant a fixed sample of mistakes in a copy of the checkout, and count those that tests see.

A mistake is tried on the tests of its package; one that they let pass also on the quick part of
`tests/roads` and on all tests that import its module.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
from collections import Counter
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants.plant import Mutant, mutants, planted

ROOT = Path(__file__).parents[2]
PACKAGES = (
    *("mapping", "lockfile", "diff", "manifest", "cache", "sources", "load", "boundary", "samples"),
    *("store", "corrections", "workflows", "catalog", "cli", "plugins/results", "plugins/export"),
    *("plugins/bundle", "plugins/remote_cache", "plugins/importers"),
)
SECONDS = 900
"""Longer than the slowest package: a mistake that makes a loop endless counts as seen."""


def main() -> None:
    """Try the sample, and write what became of each mistake."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="how many; a prefix of one sample")
    parser.add_argument("--seed", type=int, default=25)
    parser.add_argument("--again", type=Path, help="try those of this file, of an earlier run")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "mutants.json")
    given = parser.parse_args()
    if given.again:
        drawn = [Mutant(**row["mutant"]) for row in json.loads(given.again.read_text("utf-8"))]
    else:
        drawn = draw(given.seed)
    rows = []
    given.json.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="mutants-") as folder:
        checkout = copied(Path(folder, "checkout"))
        for package in sorted({package_of(one.module) for one in drawn[: given.count]}):
            if fails(checkout, [f"tests/{package}"]):
                parser.error(f"tests/{package} fails without any mistake")
        for mutant in drawn[: given.count]:
            seen_by = attempt(checkout, mutant)
            rows.append({"mutant": asdict(mutant), "seen_by": seen_by})
            given.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
            change = f"{mutant.before!r} → {mutant.after!r}"
            sys.stdout.write(f"{seen_by:9} {mutant.module}:{mutant.line} {change[:120]}\n")
            sys.stdout.flush()
    counts = Counter(str(row["seen_by"]) for row in rows)
    tried = len(rows) - counts["gone"]
    seen = tried - counts["nobody"]
    sys.stdout.write(f"{seen} of {tried} seen ({seen / max(tried, 1):.1%}): {dict(counts)}\n")


def draw(seed: int) -> list[Mutant]:
    """Return every mistake of the packages in an order of chance that the seed fixes."""
    source = ROOT / "src" / "registry"
    found = [
        mutant
        for package in PACKAGES
        for path in sorted((source / package).rglob("*.py"))
        for mutant in mutants(str(path.relative_to(source)), path.read_text("utf-8"))
    ]
    random.Random(seed).shuffle(found)
    return found


def package_of(module: str | Path) -> str:
    """Return the package that a module is in."""
    return next(one for one in PACKAGES if Path(module).is_relative_to(one))


def copied(checkout: Path) -> Path:
    """Copy the files that git knows, which an environment in the copy imports.

    Of PYTHONPATH alone, the processes that tests isolate would know nothing.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, checkout / name)
    venv.create(checkout / ".venv", symlinks=True)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(checkout / ".venv")}))
    lines = f"{checkout / 'src'}\n{sysconfig.get_path('purelib')}\n"
    (packages / "checkout.pth").write_text(lines, "utf-8")
    return checkout


def attempt(checkout: Path, mutant: Mutant) -> str:
    """Return whose tests fail with the mistake: own, package, others, nobody; gone if no place."""
    path = checkout / "src" / "registry" / mutant.module
    source = path.read_text("utf-8")
    changed = planted(mutant, source)
    if changed is None:
        return "gone"
    rounds = tests_of(checkout, Path(mutant.module))
    path.write_text(changed, "utf-8")
    try:
        seen_by = next((name for name, tests in rounds.items() if fails(checkout, tests)), "nobody")
    finally:
        path.write_text(source, "utf-8")
    # Tests that fail here in any case have not seen it; those of packages were tried before.
    return "nobody" if seen_by == "others" and fails(checkout, rounds[seen_by]) else seen_by


def tests_of(checkout: Path, module: Path) -> dict[str, list[str]]:
    """Return the tests to run, round by round; a later one runs what the earlier ones let pass."""
    own = Path("tests", module.parent, f"test_{module.name}")
    package = f"tests/{package_of(module)}"
    name = f"registry.{'.'.join(module.with_suffix('').parts)}".removesuffix(".__init__")
    importing = [
        str(path.relative_to(checkout))
        for path in sorted((checkout / "tests").rglob("test_*.py"))
        if f"{name} import" in path.read_text("utf-8")
        and not path.is_relative_to(checkout / package)
        and path.relative_to(checkout).parts[1] not in {"browser", "interop"}
    ]
    others = ["tests/roads", *importing]
    rounds = {"own": [str(own)], "package": [package, f"--ignore={own}"], "others": others}
    return rounds if (checkout / own).exists() else {**rounds, "own": []}


def fails(checkout: Path, tests: list[str]) -> bool:
    """Return whether the tests see that something is wrong."""
    if not tests:
        return False
    python = str(checkout / ".venv" / "bin" / "python")
    process = subprocess.Popen(
        [python, "-m", "pytest", "-q", "-x", "--numprocesses", "0", *tests],
        cwd=checkout,
        env={**os.environ, "CI": "true"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        return True
    finally:
        # Also the processes that a test started and did not get to end.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    # 5: a folder in which nothing is left to run.
    return code not in {0, 5}


if __name__ == "__main__":
    main()
