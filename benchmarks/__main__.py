"""`python -m benchmarks`: measure, print a table, keep the figures."""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.case import Case
from benchmarks.cases import FIRST_OF_TINY, all_cases
from benchmarks.machine import machine
from benchmarks.page import write_page
from benchmarks.place import FULL, QUICK, Place
from benchmarks.report import (
    CaseResult,
    Report,
    Tables,
    failed,
    merged,
    result_of,
    table,
)
from benchmarks.runner import (
    MeasurementError,
    measure,
    measure_files,
    measure_imports,
    prepare,
)
from benchmarks.whole_files import WholeFiles, failed_files, result_of_files

__all__ = ["main"]

_DOCUMENTS = Path(__file__).parents[1] / "docs" / "explanation"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases that are asked for; return 1 if one could not be measured."""
    options = _options(arguments)
    with ExitStack() as stack:
        folder = options.work or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="registry-benchmarks-"))
        )
        report = _run(options, folder.absolute())
    return 1 if any(case["failure"] for case in report["cases"]) else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure speed and memory beside Inspect AI; by hand, on a quiet machine.",
    )
    add = parser.add_argument
    add("--rounds", type=_positive, default=5, help="rounds of each case (default: 5)")
    add("--only", type=re.compile, default=re.compile(""), help="regular expression of case names")
    add("--quick", action="store_true", help="small data: shows that all cases run, no more")
    add("--work", type=Path, help="folder for data and caches, kept (default: a temporary one)")
    add("--json", type=Path, help="file for the figures; cases not run now stay in it")
    add(
        "--write-docs",
        action="store_true",
        help="put the results into docs/explanation/performance.md",
    )
    add("--parity", type=Path, metavar="PYTHON", help="interpreter with inspect_evals, for real*")
    add("--real", type=Path, metavar="FOLDER", help="where files of benchmarks/real.yaml are")
    options = parser.parse_args(arguments)
    if options.write_docs and options.quick:
        parser.error("the table of the documents takes no quick figures")
    return options


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value


def _run(options: argparse.Namespace, folder: Path) -> Report:
    """Run the cases, and keep the figures after each: a run that is broken off has some, too."""
    place = Place(
        folder / ("quick" if options.quick else "full"),
        QUICK if options.quick else FULL,
        real=options.real and options.real.absolute(),
        python=options.parity and options.parity.absolute(),
    )
    cases = all_cases(place)
    order = [case.name for case in cases]
    chosen = [case for case in cases if options.only.search(case.name)]
    prepare(place, [])
    report = _kept(options.json, {"machine": machine(), "quick": options.quick, "cases": []})
    for result in _results(chosen, place, options):
        report = merged(report, {**report, "cases": [result]})
        _keep(options.json, report)
    report = merged(report, {**report, **_tables(place, options), "cases": []})
    _keep(options.json, report)
    sys.stdout.write(table(report, order) + "\n")
    if options.json is None:
        sys.stdout.write(_text(report))
    if options.write_docs:
        write_page(_DOCUMENTS, report, order)
    return report


def _results(
    chosen: Sequence[Case | WholeFiles], place: Place, options: argparse.Namespace
) -> Iterable[CaseResult]:
    for case in chosen:
        _say(f"measuring {case.name}")
        try:
            yield _result(case, place, options.rounds)
        except MeasurementError as error:
            _say(f"{case.name} failed: {error}")
            message = str(error)
            if isinstance(case, Case):
                yield failed(case, message)
            else:
                yield failed_files(case, message)


def _tables(place: Place, options: argparse.Namespace) -> Tables:
    """Measure the tables of the page that are asked for."""
    tables: Tables = {}
    if options.only.search("imports"):
        _say("measuring imports")
        tables["imports"] = measure_imports(place, FIRST_OF_TINY, rounds=options.rounds)
    return tables


def _result(case: Case | WholeFiles, place: Place, rounds: int) -> CaseResult:
    if isinstance(case, Case):
        prepare(place, [case])
        return result_of(case, measure(case, place, rounds=rounds))
    return result_of_files(case, measure_files(place, rounds=rounds))


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _kept(file: Path | None, empty: Report) -> Report:
    """Return the figures that a file holds, if they are of this machine and size."""
    if file is None or not file.exists():
        return empty
    return merged(json.loads(file.read_text(encoding="utf-8")), empty)


def _keep(file: Path | None, report: Report) -> None:
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_text(report), encoding="utf-8")


def _text(report: Report) -> str:
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main())
