"""Measure whole real files beside the functions of inspect_evals that the manifests stand for.

It runs in the environment that `make parity` makes, which has inspect_evals. As a program it builds
for one of the two: `python -m benchmarks.real registry`.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import random
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.case import OURS, PEER
from benchmarks.clock import peak_memory, seconds
from benchmarks.data import AGE
from benchmarks.sides import Actions, Timer, serve, side

__all__ = [
    "GSM8K",
    "REPOSITORY",
    "SIDES",
    "SMALL",
    "RealFile",
    "bootstrap",
    "bootstrapped",
    "found",
    "large",
    "main",
    "measured",
    "memory",
    "opened",
    "real_files",
    "small",
]

GSM8K = "gsm8k-main-train"
"""The file whose records the large file draws."""
SMALL = "personality-bfi"
"""The file with the fewest records: its build is fixed cost."""

REPOSITORY = Path(__file__).parents[1]
_TABLE = Path(__file__).with_name("real.yaml")
_SEED = 20241121


@dataclass(frozen=True, kw_only=True)
class RealFile:
    """A row of `real.yaml`: a file as its authors publish it."""

    origin: str
    """Repository, commit and path."""
    sha256: str
    bytes: int
    records: int
    like: str = ""
    """The parity case whose function of the peer maps it, if it has no case of its own."""


def real_files() -> dict[str, RealFile]:
    """Return the files by the dataset that maps them."""
    table = yaml.safe_load(_TABLE.read_text(encoding="utf-8"))
    return {name: RealFile(**row) for name, row in table.items()}


def found(folder: Path) -> dict[str, Path]:
    """Return the files of the table that lie below a folder, by dataset; the digest decides."""
    wanted = {one.sha256: name for name, one in real_files().items()}
    sizes = {one.bytes for one in real_files().values()}
    here: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.stat().st_size in sizes:
            with path.open("rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
            if digest in wanted:
                here.setdefault(wanted[digest], path)
    return dict(sorted(here.items()))


def measured(
    *, files: Mapping[str, str], rounds: int, cache: str, sides: tuple[str, ...] = (OURS, PEER)
) -> dict[str, dict[str, list[float]]]:
    """Return the seconds of each round by dataset and by who, in turns of two processes."""
    result = {}
    with ExitStack() as stack:
        timers = {who: stack.enter_context(side(who)) for who in sides}
        for name, file in files.items():
            result[name] = _in_turns(timers, name, Path(file), rounds)
            shutil.rmtree(cache, ignore_errors=True)
    return result


def _in_turns(
    timers: Mapping[str, Timer], name: str, file: Path, rounds: int
) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {who: [] for who in timers}
    # The first turn is not counted: it imports, and reads the catalog.
    for turn in range(rounds + 1):
        for who in list(timers)[:: 1 if turn % 2 == 0 else -1]:
            taken = timers[who](name, file)
            if turn:
                values[who].append(taken)
    return values


@contextmanager
def _quiet() -> Iterator[None]:
    """Log and warn nothing: what is questionable in a real file is not measured."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _ours(name: str, file: Path) -> Callable[[], object]:
    from registry import get_dataset

    def build() -> object:
        return get_dataset(name, source=str(file), root=REPOSITORY, refresh=True)[0]

    return build


def _peers(name: str, file: Path) -> Callable[[], object]:
    from inspect_ai.dataset import csv_dataset, json_dataset

    # Their manifests' `on_duplicate`, shuffles and limits are part of their tasks, not of this.
    load = csv_dataset if file.suffix == ".csv" else json_dataset
    function = _record_function(name)
    return lambda: load(str(file), function)[0]


def _record_function(name: str) -> Callable[[dict[str, Any]], Any]:
    from tests.parity.cases import CASES

    wanted = real_files()[name].like or name
    (case,) = (case for case in CASES if case.dataset == wanted)
    function: Callable[[dict[str, Any]], Any] = case.theirs()
    return function


SIDES: dict[str, Actions] = {OURS: _ours, PEER: _peers}
"""Who is compared."""


# ---------------------------------------------------------------- many records


def bootstrap(path: Path, count: int, *, source: Path) -> Path:
    """Write `count` whole records of a real file, drawn at random, each question made unique.

    Records keep their lengths but for the number at the end of the question.
    """
    records = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    encode = json.JSONEncoder(ensure_ascii=False).encode
    draw = random.Random(_SEED)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number in range(count):
            record = draw.choice(records)
            unique = {**record, "question": f"{record['question']} {number}"}
            file.write(f"{encode(unique)}\n")
    os.utime(path, (AGE, AGE))
    return path


def bootstrapped(*, path: str, count: int, source: str) -> int:
    """Do what `bootstrap` does, in a child process; return the bytes of the file."""
    target = Path(path)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        bootstrap(target.with_name(f".{target.name}"), count, source=Path(source)).replace(target)
    return target.stat().st_size


def large(*, who: str, file: str, warm: str) -> float:
    """Return the seconds of one build of a large file; a small one is built before."""
    with _quiet():
        SIDES[who](GSM8K, Path(warm))()
        if who == PEER:
            return seconds(_peers(GSM8K, Path(file)))
        return seconds(_large_of_ours)


def small(*, file: str, builds: int = 300) -> float:
    """Return the least processor time of a cold build in a process that has done others."""
    with _quiet():
        build = _ours(SMALL, Path(file))
        build()
        return min(seconds(build, time.process_time) for _ in range(builds))


def memory() -> float:
    """Return the most bytes that this process ever held, after one build of a large file."""
    with _quiet():
        _large_of_ours()
    return peak_memory()


def _large_of_ours() -> None:
    from registry import get_dataset

    get_dataset("real-lengths", refresh=True)[0]


def opened(*, file: str) -> int:
    """Build the real file that a new process opens; return the number of its samples."""
    from registry import get_dataset

    return len(get_dataset(GSM8K, source=file, root=REPOSITORY))


def main(who: str) -> None:
    """Time builds for one of the two, as standard input asks."""
    # What an import or a function prints is no answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with answers, _quiet():
        serve(SIDES[who], sys.stdin, answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
