"""Mixed commands, kills and flipped bytes beside readers: `python -m tests.faults.soak`."""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from tests.faults.background import registry, start
from tests.faults.process import datasets_of, write_catalog

__all__ = ["Soak"]

COMMANDS = (
    ("sync",),
    ("sync", "--refresh"),
    ("sync", "--jobs", "4"),
    ("lock",),
    ("lock", "--check"),
    ("lock", "--upgrade"),
    ("list",),
    ("validate",),
    ("preview", "d0"),
    ("cache", "verify"),
    ("cache", "prune"),
    ("cache", "clear", "--yes"),
)
DATASETS = 6
ROWS = 2000
# `verify` ends with 1 where it finds what was flipped, and 130 is a signal.
ENDS = (0, 1, 130)
READER = """
import os, sys
from registry import get_dataset

# A pipe that nobody reads would stop it after 64 KiB of warnings.
os.dup2(os.open(sys.argv[3], os.O_CREAT | os.O_WRONLY), sys.stderr.fileno())
names, rows = sys.argv[1].split(","), int(sys.argv[2])
while sys.stdin.readline():
    for name in names:
        found = [(one.input, one.target) for one in get_dataset(name)]
        expected = [(f"question {name} {n}", f"answer {n}") for n in range(rows)]
        print("right" if found == expected else f"WRONG {name}", flush=True)
"""


class Soak:
    """What is done to one catalog, and what was seen."""

    def __init__(self, root: Path, seed: int, pythons: list[str]) -> None:
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self._root = root
        self._seed = seed
        self._pythons = pythons
        self._names = [f"d{number}" for number in range(DATASETS)]
        for name in self._names:
            rows = "".join(f"question {name} {n},answer {n}\n" for n in range(ROWS))
            root.mkdir(parents=True, exist_ok=True)
            (root / f"{name}.csv").write_text(f"q,a\n{rows}", encoding="utf-8")
        paths = {name: f"{name}.csv" for name in self._names}
        write_catalog(root, datasets_of("csv", paths, ", fields: {input: q, target: a}"))
        os.environ["REGISTRY_CACHE_DIR"] = str(root / "cache")

    def run(self, seconds: float, *, drivers: int = 2, readers: int = 2) -> None:
        """Do it for so long."""
        end = time.monotonic() + seconds
        work = [(self._drive, drivers), (self._read, readers), (self._flip, 1)]
        threads = [
            threading.Thread(target=one, args=(end, random.Random(self._seed + number)))
            for one, count in work
            for number in range(count)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _drive(self, end: float, chance: random.Random) -> None:
        while time.monotonic() < end:
            command, python = chance.choice(COMMANDS), chance.choice(self._pythons)
            process = (
                registry(*command, root=self._root)
                if python == sys.executable
                else subprocess.Popen(
                    [python, "-m", "registry", *command],
                    cwd=self._root,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            is_killed = chance.random() < 1 / 3
            try:
                out, err = process.communicate(timeout=chance.uniform(0.2, 4) if is_killed else 120)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                self.counts["killed"] += 1
                if not is_killed:
                    self.faults.append(f"{command}: no end in two minutes")
                continue
            self.counts["commands"] += 1
            if process.returncode not in ENDS or "Traceback" in out + err:
                self.faults.append(f"{command}: {process.returncode}: {err[-1000:]}")

    def _read(self, end: float, _chance: random.Random) -> None:
        log = self._root / f"reader-{threading.get_ident()}.err"
        reader = start(["-c", READER, ",".join(self._names), str(ROWS), str(log)], self._root)
        assert reader.stdin is not None
        assert reader.stdout is not None
        while time.monotonic() < end and reader.poll() is None:
            reader.stdin.write("\n")
            reader.stdin.flush()
            for _name in self._names:
                line = reader.stdout.readline().strip()
                self.counts[line.partition(" ")[0] or "ended"] += 1
        reader.communicate()
        if reader.returncode or self.counts["WRONG"]:
            self.faults.append(f"reader: {reader.returncode}: {log.read_text()[-4000:]}")

    def _flip(self, end: float, chance: random.Random) -> None:
        """Replace files of the cache by ones with another bit, as a disk would."""
        while time.monotonic() < end:
            time.sleep(chance.uniform(0.2, 1))
            files = [one for one in self._root.glob("cache/v*/samples/**/*") if one.is_file()]
            try:
                path = chance.choice(files)
                data = bytearray(path.read_bytes())
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
                other = self._root / "flipped"
                other.write_bytes(data)
                other.replace(path)
                self.counts["flips"] += 1
            except (OSError, IndexError, ValueError):  # it is gone, or empty
                continue


def main() -> int:
    """Print what was seen; return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--other", action="append", default=[], help="python of another release")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        soak = Soak(Path(folder), given.seed, [sys.executable, *given.other])
        soak.run(given.minutes * 60)
    seen = ", ".join(f"{name} {count:,}" for name, count in sorted(soak.counts.items()))
    sys.stdout.write("\n".join([seen, *soak.faults, ""]))
    return 1 if soak.faults or not soak.counts["right"] else 0


if __name__ == "__main__":
    sys.exit(main())
