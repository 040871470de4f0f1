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
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from benchmarks.case import Call, Case, Need, Program, Run
from benchmarks.catalogs import write_catalog, write_change, write_datasets, write_manifests
from benchmarks.place import Place
from benchmarks.real import GSM8K, found
from benchmarks.tables import median_imports

__all__ = [
    "UNITS",
    "MeasurementError",
    "measure",
    "measure_files",
    "measure_imports",
    "prepare",
]

UNITS = {"s": 1.0, "ms": 1e3, "µs": 1e6, "MB": 1e-6, "%": 1e2}
"""How many of a unit make one of what runs return: a second, a byte, the whole."""

_REPOSITORY = Path(__file__).parents[1]
_NO_PARITY = "needs an environment with inspect_evals: --parity PYTHON"
_SAID = 2000
"""How many characters of a failed child's output are shown."""
_Format = Literal["jsonl", "parquet"]
_FORMATS: tuple[_Format, ...] = ("jsonl", "parquet")


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
        elif kind == "real.jsonl":
            _bootstrap(place, count)
        else:
            _make(place, count, kind)


def _bootstrap(place: Place, count: int) -> None:
    file = real_here(place).get(GSM8K)
    if file is None:
        raise MeasurementError(
            f"needs the file of {GSM8K} (see benchmarks/real.yaml): --real FOLDER"
        )
    arguments = {"path": str(place.data(count, "real.jsonl")), "count": count, "source": str(file)}
    _result("benchmarks.real:bootstrapped", arguments, place)


def real_here(place: Place) -> dict[str, Path]:
    """Return the files of `real.yaml` that are at hand, by dataset."""
    return {} if place.real is None else found(place.real)


def _make(place: Place, count: int, suffix: str) -> None:
    # Not in this process: its children would inherit the memory that pyarrow takes.
    arguments = {"path": str(place.data(count, suffix)), "count": count}
    _result("benchmarks.data:made", arguments, place)


def measure(case: Case, place: Place, *, rounds: int) -> dict[str, list[float]]:
    """Return what each run of a case measured in each round, in the case's unit.

    Raises:
        MeasurementError: a child process failed.
    """
    if case.parity and place.python is None:
        raise MeasurementError(_NO_PARITY)
    place = place if case.parity else replace(place, python=None)
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


def measure_files(place: Place, *, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Return the seconds of each round by dataset and by who; each has a process of its own.

    Raises:
        MeasurementError: inspect_evals or the files are missing, or a child process failed.
    """
    if place.python is None:
        raise MeasurementError(_NO_PARITY)
    files = {name: str(file) for name, file in real_here(place).items()}
    if not files:
        raise MeasurementError("no file of benchmarks/real.yaml is there: --real FOLDER")
    cache = place.caches / "real"
    arguments = {"files": files, "rounds": rounds, "cache": str(cache)}
    result: dict[str, dict[str, list[float]]] = _result(
        "benchmarks.real:measured", arguments, place, cache
    )
    return result


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
    jobs: int | None = None,
) -> Any:
    """Return what a function of a child process returns."""
    command = ["-m", "benchmarks.child", function, json.dumps(arguments)]
    output = _output(command, place, cache, jobs=jobs)
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
    jobs: int | None = None,
) -> str:
    """Run Python and return what it writes."""
    return _run(arguments, place, cache, jobs=jobs).stdout


def _run(
    arguments: list[str],
    place: Place,
    cache: Path | None = None,
    *,
    jobs: int | None = None,
) -> subprocess.CompletedProcess[str]:
    environment = _environment(place, cache or place.caches / "none")
    done = subprocess.run(
        [place.python or sys.executable, *arguments],
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
