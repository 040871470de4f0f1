"""Run cases: all runs of a case once a round, by turns, each in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from benchmarks.case import Call, Case, Need, Program, Run
from benchmarks.catalogs import write_catalog, write_change, write_datasets, write_manifests
from benchmarks.distribution import Distribution
from benchmarks.place import Place
from benchmarks.tables import median_imports

__all__ = [
    "UNITS",
    "MeasurementError",
    "measure",
    "measure_imports",
    "measure_mappings",
    "measure_operations",
    "prepare",
]

UNITS = {"s": 1.0, "ms": 1e3, "µs": 1e6, "MB": 1e-6, "%": 1e2}
"""How many of a unit make one of what runs return: a second, a byte, the whole."""

_REPOSITORY = Path(__file__).parents[1]
_GROUP = 48
"""How many mappings a pair of processes measures: few, so that none is slowed by what others leave,
and enough to import inspect_evals, which takes 7 s, only some times."""
_SAID = 2000
"""How many characters of a failed child's output are shown."""
_Format = Literal["csv", "commas.csv", "jsonl", "parquet"]
_FORMATS: tuple[_Format, ...] = ("csv", "commas.csv", "jsonl", "parquet")


class MeasurementError(Exception):
    """A child process failed; its last words are the message."""


def prepare(place: Place, cases: Iterable[Case]) -> None:
    """Write the data and catalogs that cases need and that are not there yet."""
    tiny: set[Need] = {(place.sizes.tiny, suffix) for suffix in _FORMATS}
    write_catalog(place)
    for count, kind in sorted(tiny.union(*(case.needs for case in cases))):
        if kind == "manifests":
            write_manifests(place, count)
        elif kind == "change":
            write_change(place, count)
        elif kind == "datasets":
            write_datasets(place, count)
        else:
            _make(place, count, kind)


def _make(place: Place, count: int, suffix: str) -> None:
    # Not in this process: its children would inherit the memory that pyarrow takes.
    arguments = {"path": str(place.data(count, suffix)), "count": count}
    _result("benchmarks.data:made", arguments, place)


def measure(case: Case, place: Place, *, rounds: int) -> dict[str, list[float]]:
    """Return what each run of a case measured in each round, in the case's unit.

    Raises:
        MeasurementError: a child process failed.
    """
    kept = place.caches / (case.cache or case.name)
    for call in case.before:
        _call(call, place, kept)
    values: dict[str, list[float]] = {name: [] for name in case.runs}
    for turn in range(case.rounds or rounds):
        # Who comes first changes, so that what one leaves behind (a warm disk) helps both.
        names = list(case.runs)[:: 1 if turn % 2 == 0 else -1]
        for name in names:
            values[name].append(_once(case.runs[name], place, kept) * UNITS[case.unit])
    return values


def measure_mappings(
    case: Distribution, place: Place, python: Path | None, *, rounds: int
) -> dict[str, dict[str, list[float]]]:
    """Return the seconds of each round by mapping and by who; each has a process of its own.

    Args:
        case: The case.
        place: Where the data goes.
        python: The interpreter of the environment that has inspect_evals.
        rounds: How often each mapping is measured.

    Raises:
        MeasurementError: there is no such interpreter, or a child process failed.
    """
    if python is None:
        raise MeasurementError("needs an environment with inspect_evals: --parity PYTHON")
    names = _result("benchmarks.mappings:names", {}, place, python=python)
    chosen = names[: place.sizes.mappings]
    measured: dict[str, dict[str, list[float]]] = {}
    for start in range(0, len(chosen), _GROUP):
        arguments = {
            "chosen": chosen[start : start + _GROUP],
            "rows": case.rows,
            "rounds": rounds * case.rounds,
            "folder": str(place.folder / "data"),
            "cache": str(place.caches / "mappings"),
        }
        function = "benchmarks.mappings:measured"
        cache = place.caches / "mappings"
        measured |= _result(function, arguments, place, cache, python=python)
    return measured


def measure_operations(place: Place) -> dict[str, dict[str, float | None]]:
    """Return the seconds per record of each operation by row, function and kernel.

    Raises:
        MeasurementError: the child process failed.
    """
    arguments = {"rows": place.sizes.operated}
    found: dict[str, dict[str, float | None]] = _result(
        "benchmarks.operations:measured", arguments, place
    )
    return found


def measure_imports(place: Place, program: Program, *, rounds: int) -> dict[str, float]:
    """Return the milliseconds of importing each package in a process that opens warm samples.

    Raises:
        MeasurementError: a child process failed.
    """
    cache = place.caches / "imports"
    _call(Call("benchmarks.ours:opened", {"name": "jsonl-tiny", "rows": 10}), place, cache)
    arguments = ["-X", "importtime", *program.arguments]
    return median_imports([_run(arguments, place, cache).stderr for _ in range(rounds)])


def _once(run: Run, place: Place, kept: Path) -> float:
    with _cache(run, place, kept) as cache:
        if isinstance(run, Call):
            return _call(run, place, cache)
        return statistics.median(_seconds(run, place, cache) for _ in range(run.times))


@contextmanager
def _cache(run: Run, place: Place, kept: Path) -> Iterator[Path]:
    """Give the folder of a cache: the kept one, or one that is new and goes at the end."""
    if run.cache == "kept":
        yield kept
        return
    folder = place.caches / f"fresh-{uuid.uuid4().hex}"
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _call(call: Call, place: Place, cache: Path) -> float:
    given = {"cache": str(cache)} if call.takes_cache else {}
    return float(_result(call.function, {**call.arguments, **given}, place, cache, jobs=call.jobs))


def _result(
    function: str,
    arguments: Mapping[str, Any],
    place: Place,
    cache: Path | None = None,
    *,
    python: Path | None = None,
    jobs: int | None = None,
) -> Any:
    """Return what a function of a child process returns."""
    command = ["-m", "benchmarks.child", function, json.dumps(arguments)]
    output = _output(command, place, cache, python=python, jobs=jobs)
    return json.loads(output.splitlines()[-1])


def _seconds(program: Program, place: Place, cache: Path) -> float:
    begin = time.perf_counter()
    _output(list(program.arguments), place, cache)
    return time.perf_counter() - begin


def _output(
    arguments: list[str],
    place: Place,
    cache: Path | None = None,
    *,
    python: Path | None = None,
    jobs: int | None = None,
) -> str:
    """Run Python and return what it writes."""
    return _run(arguments, place, cache, python=python, jobs=jobs).stdout


def _run(
    arguments: list[str],
    place: Place,
    cache: Path | None = None,
    *,
    python: Path | None = None,
    jobs: int | None = None,
) -> subprocess.CompletedProcess[str]:
    environment = _environment(place, cache or place.caches / "none")
    done = subprocess.run(
        [python or sys.executable, *arguments],
        cwd=place.folder,
        env=environment if jobs is None else {**environment, "REGISTRY_JOBS": str(jobs)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-_SAID:]
        raise MeasurementError(f"python {' '.join(arguments)}: exit {done.returncode}\n{said}")
    return done


def _is_left_out(name: str) -> bool:
    # Whoever installs a package has its bytecode; without it each process compiles all it imports.
    return name.startswith("REGISTRY_") or name == "PYTHONDONTWRITEBYTECODE"


def _environment(place: Place, cache: Path) -> dict[str, str]:
    """Return the environment of a child: this checkout's sources, and caches of the work folder."""
    path = [str(_REPOSITORY / "src"), str(_REPOSITORY)]
    return {
        **{name: value for name, value in os.environ.items() if not _is_left_out(name)},
        "PYTHONPATH": os.pathsep.join(path),
        "REGISTRY_ROOT": str(place.catalog),
        "REGISTRY_CACHE_DIR": str(cache),
        "XDG_CACHE_HOME": str(place.peer_cache),
        "XDG_DATA_HOME": str(place.peer_cache),
        "HF_HOME": str(place.peer_cache / "huggingface"),
        # Else `datasets` tells the Hub what it loads.
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
