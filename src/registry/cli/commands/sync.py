"""`sync`: build datasets into the cache."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from registry.cli import CLEAN, PROBLEMS, options
from registry.cli.output import print_json, print_table, size_text
from registry.cli.progress_bars import bars
from registry.workflows.sync import SyncResult, sync

__all__ = ["command"]


@click.command(
    "sync",
    epilog="\b\nExample: python -m registry sync demo-mcq\npython -m registry sync --tag demo",
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
    exit code is then 1.
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
                print(f"{result.name}: {result.status}", file=sys.stderr, flush=True)
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
            message = str(result.error).removeprefix(f"{result.name}: ")
            print(f"error: {result.name}: {message}", file=sys.stderr)
