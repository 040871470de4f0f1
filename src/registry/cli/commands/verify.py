"""`verify`: ask the sources whether the catalog still describes them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

import click

from registry.cli import CLEAN, PROBLEMS, options
from registry.cli.output import print_json, print_line, print_table
from registry.cli.progress_bars import bars
from registry.errors import OfflineError, count_text
from registry.workflows.verify import VerifyResult, verify

__all__ = ["command"]

_STATUSES = ("ok", "drift", "failed")


@click.command(
    "verify",
    epilog="\b\nExample: registry verify demo-mcq\nregistry verify --tag demo",
)
@options.names
@options.split
@options.tags
@options.jobs
@options.as_json
@options.root
def command(
    names: tuple[str, ...], tags: tuple[str, ...], jobs: int, as_json: bool, root: str | None
) -> int:
    """Ask the sources of all datasets, or of NAMES, whether the catalog still describes them.

    Compares revision, configuration, split, columns, row count, sizes and ETags with the manifest,
    datasets.lock and `expect`, and maps the first 20 records. Nothing is built or cached. The exit
    code is 1 if anything differs, or if a source could not be asked.
    """
    opened = options.open_catalog(root)
    catalog, _, settings = opened
    if settings.offline:
        raise OfflineError("`verify` asks the sources (unset REGISTRY_OFFLINE and HF_HUB_OFFLINE)")
    chosen = options.choose(opened, names, tags)
    pins = opened.pins.rows(chosen).pins
    stray = not names and options.print_stray_problems(catalog)
    results = []
    with bars(as_json=as_json, number=len(chosen)) as report:
        for result in verify(chosen, catalog, pins, jobs=jobs, report=report):
            results.append(result)
            report.finish(result.name, failed=result.status != "ok")
            if not as_json and not sys.stderr.isatty():  # a log instead of progress bars
                print_line(f"{result.name}: {result.status}", err=True)
    results.sort(key=lambda result: result.name)
    if as_json:
        print_json([result.to_dict() for result in results])
    else:
        _print_results(results)
    return PROBLEMS if stray or any(result.status != "ok" for result in results) else CLEAN


def _print_results(results: Sequence[VerifyResult]) -> None:
    rows = [
        (
            result.name,
            result.status,
            (result.revision or "")[:7],
            "" if result.rows is None else f"{result.rows:,}",
            str(result.mapped),
            f"{result.seconds:.1f} s",
        )
        for result in results
    ]
    print_table(("dataset", "status", "revision", "records", "mapped", "time"), rows, wide=0)
    for result in results:
        for drift in result.drifts:
            for line in str(drift).splitlines():
                print_line(f"{drift.severity}: {result.name}: [{drift.kind}] {line}")
    counts = Counter[str](result.status for result in results)
    by_status = ", ".join(f"{counts[one]:,} {one}" for one in _STATUSES if counts[one])
    print_line(f"{count_text(len(results), 'dataset')}: {by_status}", err=True)
