"""Measure mappings of the catalog beside the functions that they stand for.

It runs in the environment that `make parity` makes, which has inspect_evals. As a program it builds
for one of the two: `python -m benchmarks.mappings registry`.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import yaml

from benchmarks.case import OURS, PEER
from benchmarks.clock import peak_memory
from benchmarks.data import AGE
from benchmarks.sides import Actions, Timer, serve, side

__all__ = ["SIDES", "cases", "made", "main", "measured", "memory", "names"]

_REPOSITORY = Path(__file__).parents[1]
_RECORDS = _REPOSITORY / "tests" / "parity" / "records.yaml"
_PATCHED = ("gaia-2023-all", "mgsm-de", "tac-scenarios")
"""In the tests their function is set up for each record, which takes longer than mapping it."""
_NOT_MAPPED_ALONE = ("apps-test", "infinite-bench-math-find", "medqa-en")
"""Their function looks a text up that is longer here, or needs what their task adds before."""


def cases() -> dict[str, Any]:
    """Return the cases of the parity tests whose work equals that of the function itself."""
    from tests.parity.cases import CASES

    left_out = _PATCHED + _NOT_MAPPED_ALONE
    return {case.dataset: case for case in CASES if case.dataset not in left_out}


def _records() -> dict[str, list[dict[str, Any]]]:
    loaded: dict[str, list[dict[str, Any]]] = yaml.load(_RECORDS.read_bytes(), yaml.CSafeLoader)
    return loaded


def names() -> list[str]:
    """Return the mappings whose records JSON can express, so that both can read a file of them."""
    chosen, records = cases(), _records()
    return [name for name in chosen if _is_json(records[name])]


def _is_json(records: list[dict[str, Any]]) -> bool:
    try:
        json.dumps(records)
    except TypeError:
        return False
    return True


def measured(
    *,
    chosen: Sequence[str],
    rows: int,
    rounds: int,
    folder: str,
    cache: str,
    sides: Sequence[str] = (OURS, PEER),
) -> dict[str, dict[str, list[float]]]:
    """Return the seconds of each round by mapping and by who, in turns of two processes."""
    records, result = _records(), {}
    with ExitStack() as stack:
        timers = {who: stack.enter_context(side(who)) for who in sides}
        for name in chosen:
            file = _written(records[name], Path(folder, f"{name}-{rows}.jsonl"), rows)
            try:
                result[name] = _in_turns(timers, name, file, rounds)
            finally:
                file.unlink()
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
    """Log and warn nothing: a file of few different records has many questionable samples."""
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
        return get_dataset(
            name,
            source=str(file),
            root=_REPOSITORY,
            refresh=True,
            shuffle=False,
            limit=None,
            auto_id=True,
        )[0]

    return build


def _peers(name: str, file: Path) -> Callable[[], object]:
    from inspect_ai.dataset import json_dataset

    function = _record_function(cases()[name])
    return lambda: json_dataset(str(file), function)[0]


def _record_function(case: Any) -> Callable[[dict[str, Any]], Any]:
    """Return their function, after what their task does with a record before."""
    read: Callable[[dict[str, Any]], Any] = case.theirs()
    if case.before is type(case).before:
        return read

    def made(record: dict[str, Any]) -> list[Any]:
        return list(_samples(read(one) for one in case.before([record])))

    return made


def _samples(results: Iterator[Any]) -> Iterator[Any]:
    for result in results:
        yield from result if isinstance(result, list) else [] if result is None else [result]


def made(*, name: str, rows: int, file: str) -> int:
    """Write the records of a mapping; return the bytes of the file."""
    return _written(_records()[name], Path(file), rows).stat().st_size


def _written(records: list[dict[str, Any]], file: Path, rows: int) -> Path:
    from tests.parity.expand import json_lines

    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="\n") as opened:
        opened.writelines(json_lines(records, rows))
    os.utime(file, (AGE, AGE))
    return file


def memory(*, name: str, rows: int, folder: str) -> float:
    """Return the most bytes that this process ever held, after a build of a mapping."""
    file = Path(folder, f"{name}-{rows}.jsonl")
    arguments = json.dumps({"name": name, "rows": rows, "file": str(file)})
    child = [sys.executable, "-m", "benchmarks.child", "benchmarks.mappings:made", arguments]
    try:
        # Not in this process, whose memory is measured.
        subprocess.run(child, check=True, stdout=subprocess.DEVNULL)
        with _quiet():
            _ours(name, file)()
    finally:
        file.unlink(missing_ok=True)
    return peak_memory()


SIDES: dict[str, Actions] = {OURS: _ours, PEER: _peers}
"""Who is compared."""


def main(who: str) -> None:
    """Time builds for one of the two, as standard input asks."""
    # What an import or a function prints is no answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with answers, _quiet():
        serve(SIDES[who], sys.stdin, answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
