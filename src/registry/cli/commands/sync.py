"""`sync`: build datasets into the cache."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

import click

from registry.cli import CLEAN, PROBLEMS, options
from registry.cli.output import (
    print_error,
    print_json,
    print_line,
    print_table,
    print_warnings,
    size_text,
)
from registry.cli.progress_bars import bars
from registry.errors import count_text
from registry.workflows.sync import SyncResult, sync

__all__ = ["command"]

_STATUSES = ("built", "cached", "failed")


@click.command(
    "sync",
    epilog="\b\nExample: registry sync demo-mcq\nregistry sync --tag demo",
)
@click.argument("names", nargs=-1, metavar="[NAMES]...")
@options.tags
@options.jobs
@options.offline
@options.locked
@options.frozen
@click.option("--refresh", is_flag=True, help="Look up the sources again and rebuild.")
@options.as_json
@options.root
def command(
    names: tuple[str, ...],
    tags: tuple[str, ...],
    jobs: int,
    offline: bool | None,
    locked: bool | None,
    frozen: bool | None,
    refresh: bool,
    as_json: bool,
    root: str | None,
) -> int:
    """Build all datasets of the catalog, or NAMES, into the cache.

    Datasets that are already cached are skipped. One that fails does not stop the others, but the
    exit code is then 1. Questionable samples, such as blank targets, are reported as warnings.
    """
    catalog, cache, settings = options.open_catalog(
        root, offline=offline, locked=locked, frozen=frozen
    )
    chosen = options.choose(catalog, names, tags)
    cache.prune()
    stray = not names and options.print_stray_problems(catalog)
    with bars(as_json=as_json) as report:
        run = sync(
            chosen,
            catalog,
            cache,
            pin_sources=options.source_pinner_of(settings),
            jobs=jobs,
            offline=settings.offline,
            refresh=refresh,
            report=report,
        )
        results = []
        for result in run:
            results.append(result)
            if not as_json and not sys.stderr.isatty():  # a log instead of progress bars
                print_line(f"{result.name}: {result.status}", err=True)
    results.sort(key=lambda result: result.name)
    if as_json:
        print_json([result.to_dict() for result in results])
    else:
        _print_table(results)
    return PROBLEMS if stray or any(result.error for result in results) else CLEAN


def _print_table(results: Sequence[SyncResult]) -> None:
    rows = [
        (
            result.name,
            result.status,
            "" if result.samples is None else f"{result.samples:,}",
            size_text(result.bytes),
            f"{result.seconds:.1f} s",
        )
        for result in results
    ]
    print_table(("dataset", "status", "samples", "size", "time"), rows, wide=0)
    for result in results:
        if result.error:
            print_error(result.name, result.error)
    for result in results:
        print_warnings(result.name, result.warnings)
    if len(results) > 1 or any(result.warnings for result in results):
        print(_summary(results), file=sys.stderr)


def _summary(results: Sequence[SyncResult]) -> str:
    """Return how many datasets ended how, and what to do about warnings."""
    counts = Counter(result.status for result in results)
    by_status = ", ".join(f"{counts[one]:,} {one}" for one in _STATUSES if counts[one])
    warnings = sum(len(result.warnings) for result in results)
    text = f"{count_text(len(results), 'dataset')}: {by_status}"
    if not warnings:
        return text
    hint = "`accept: [NAME]` says that it is meant, `expect` makes it an error"
    return f"{text}; {count_text(warnings, 'warning')} ({hint})"
