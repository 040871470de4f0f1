"""`sync`: build datasets into the cache."""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from registry.base.escape import escape_control
from registry.base.fs import file_sha256
from registry.base.local_files import display_path
from registry.cache.cache import Cache
from registry.cache.housekeeping import keep_to_size, prune_old_leftovers
from registry.cache.remote import Packed, Packs, RemoteCache
from registry.catalog.catalog import Catalog
from registry.cli import CLEAN, PROBLEMS, options
from registry.cli.datasets import failed_groups
from registry.cli.output import (
    print_error,
    print_failures,
    print_json,
    print_line,
    print_warnings,
    size_text,
)
from registry.cli.progress_bars import Reporter, bars, has_bars
from registry.cli.terminal import Columns, columns_of, paint, paint_word
from registry.diff.review import ReviewedSide, read_state, refusals, side_of
from registry.errors import LockError, ManifestError, count_text
from registry.lockfile.models import Lock, read_lock
from registry.settings import Settings, most_jobs
from registry.workflows.engines import CLUSTERS, ENGINES, engine_of
from registry.workflows.sync import Shard, SyncResult, divide, sync

if TYPE_CHECKING:
    from registry.lockfile.pin_cache import CatalogPins

__all__ = ["SyncLines", "command"]


_STATUSES = ("built", "fetched", "cached", "failed")
_PUSHED = ("pushed", "packed", "present", "failed")

_HEADERS = ("dataset", "status", "samples", "size", "time")
_WIDEST = ("fetched", "10,000,000", "999.9 MB", "999.9 s")
"""The widest usual values of the columns, as those to come are not known."""


class _ShardType(click.ParamType[Shard]):
    """The value of `--shard`."""

    name = "shard"

    def convert(
        self, value: str | Shard, param: click.Parameter | None, ctx: click.Context | None
    ) -> Shard:
        """Return the shard of a text such as `3/16`."""
        if isinstance(value, Shard):
            return value
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", value)
        shard = Shard(*map(int, found.groups())) if found else Shard(0, 0)
        if not 1 <= shard.number <= shard.of:
            hint = "NUMBER/COUNT with a number from 1, such as 3/16; of an index from 0, add 1"
            self.fail(f"'{value}' is no shard ({hint})", param, ctx)
        return shard


@click.command(
    "sync",
    epilog="\b\nExample: registry sync demo-mcq\nregistry sync --tag demo\n"
    "registry sync --reviewed review.json",
)
@options.names
@options.split
@options.tags
@options.jobs
@options.offline
@options.locked
@options.frozen
@click.option(
    "--pinned",
    is_flag=True,
    help="Only the datasets that datasets.lock pins, such as those of a bundle; implies --locked.",
)
@click.option(
    "--push",
    is_flag=True,
    help="Store the samples in the remote cache, REGISTRY_REMOTE_CACHE, too.",
)
@click.option(
    "--pack",
    is_flag=True,
    help="Push them together, in few large objects: each machine with this lockfile then makes few"
    " requests (docs/reference/scale.md).",
)
@click.option(
    "--engine",
    type=click.Choice(tuple(ENGINES)),
    default="local",
    show_default=True,
    help="Where datasets are built: by threads, which give large builds to processes; by processes,"
    " which map large sources in parts; or by a Dask or Ray cluster (docs/reference/scale.md).",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="The scheduler of the cluster: tcp://HOST:PORT of Dask, HOST:PORT or ray://HOST:PORT of"
    " Ray. Default: workers of this machine.",
)
@click.option(
    "--shard",
    metavar="NUMBER/COUNT",
    type=_ShardType(),
    help="Build only this part of the datasets, such as 3/16: parts of about the same number of"
    " bytes, the same in all jobs of an array (docs/reference/scale.md).",
)
@click.option("--refresh", is_flag=True, help="Look up the sources again and rebuild.")
@options.fewshot
@click.option(
    "--reviewed",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Build only what `registry diff --reviewed FILE` saw: refuse any other manifest, pin or"
    " bytes.",
)
@options.as_json
@options.root
def command(
    names: tuple[str, ...],
    tags: tuple[str, ...],
    jobs: int,
    pinned: bool,
    push: bool,
    pack: bool,
    engine: str,
    scheduler: str | None,
    shard: Shard | None,
    refresh: bool,
    fewshot: int | None,
    reviewed: Path | None,
    as_json: bool,
    **access: Unpack[options.Access],
) -> int:
    """Build all datasets of the catalog, or NAMES, into the cache; a group means its datasets.

    Datasets that are already cached are skipped, and what the remote cache has is fetched from
    there. One that fails does not stop the others, but the exit code is then 1. Questionable
    samples, such as blank targets, are reported as warnings.
    """
    if scheduler is not None and engine not in CLUSTERS:
        raise click.UsageError("--scheduler needs --engine dask or ray")
    if fewshot is not None and (reviewed is not None or not names):
        raise click.UsageError("--fewshot needs NAMES, and excludes --reviewed")
    if pinned and names:
        raise click.UsageError("--pinned excludes NAMES")
    if pack and (not push or engine in CLUSTERS or shard is not None):
        raise click.UsageError("--pack needs --push, and excludes --engine dask, ray and --shard")
    builder = engine_of(engine, scheduler)
    remote = options.require_remote_cache() if push else options.opened_remote_cache()
    access["locked"] = access["locked"] or pinned or None
    opened = options.open_catalog(**access)
    catalog, cache, settings = opened
    chosen = options.choose(opened, names, tags)
    pins = opened.pins
    if pinned and not (chosen := _pinned(chosen, catalog, pins)):
        raise LockError(f"{display_path(settings.lock_file)}: it pins none of these datasets")
    state = None if reviewed is None else read_state(reviewed).head
    if state is not None and _refused(catalog, settings, state, chosen, is_all=not (names or tags)):
        return PROBLEMS
    prune_old_leftovers(cache)
    stray = not names and options.print_stray_problems(catalog)
    overrides = options.overrides_of(fewshot=fewshot)
    if shard is not None:
        chosen = _of_shard(shard, chosen, catalog, pins)
    lock = file_sha256(settings.lock_file) if settings.lock_file.is_file() else None
    packs = _packs(remote, lock, cache, settings) if pack else None
    run = partial(
        sync,
        chosen,
        opened,
        overrides=overrides,
        jobs=jobs,
        processes=min(jobs, most_jobs()),
        refresh=refresh,
        expected={
            name: one.samples
            for name, one in (state.datasets if state else {}).items()
            if one.samples is not None
        },
        push_to=packs or (remote if push else None),
        engine=builder,
    )
    # A worker of a cluster asks for what it builds.
    is_used = not refresh and engine not in CLUSTERS
    with _packed(chosen, remote if is_used else None, lock, cache, settings):
        results = _run(run, chosen, _totals(catalog, chosen), as_json=as_json)
    if settings.cache_size is not None:
        _keep_to_size(cache, settings.cache_size)
    failed = any(result.error or result.push_error for result in results)
    if settings.locked and not names:
        _print_rest(results, catalog, pins)
    if packs is not None:
        _print_packed(packs.finish())
    built = {result.name for result in results if result.error is None}
    if not failed:
        options.check_members(names, opened)
    is_all = not (names or tags or shard)
    differing = failed_groups(catalog, built, settings, is_all=is_all) if catalog.groups else 0
    return PROBLEMS if stray or failed or differing else CLEAN


def _pinned(names: Sequence[str], catalog: Catalog, pins: CatalogPins) -> list[str]:
    """Return the datasets that a lockfile has, and those whose manifest is to be reported."""
    found = []
    for name in names:
        with contextlib.suppress(ManifestError):
            catalog[name]
            if not pins.has(name):
                continue
        found.append(name)
    return found


def _keep_to_size(cache: Cache, size: int) -> None:
    removal, left = keep_to_size(cache, size)
    for path, why in removal.errors.items():
        print_line(f"warning: {path}: can't be removed: {why}", err=True)
    if removal.removed:
        what = f"{count_text(len(removal.removed), 'item')} of the cache, the least recently used"
        print_line(f"removed {what}: {size_text(removal.bytes)} (REGISTRY_CACHE_SIZE)", err=True)
    if left > size:
        print_line(
            f"the cache has {size_text(left)}, more than REGISTRY_CACHE_SIZE: what was used in the"
            " last two hours stays",
            err=True,
        )


def _print_rest(results: Sequence[SyncResult], catalog: Catalog, pins: CatalogPins) -> None:
    """Say how to build what is pinned, if something isn't: the manifests of a bundle list more."""
    names = [result.name for result in results]
    rest = len(_pinned(names, catalog, pins))
    if 0 < rest < len(names):
        others = count_text(len(names) - rest, "dataset")
        hint = f"`registry sync --pinned` leaves out the {others} that datasets.lock does not pin"
        print_line(hint, err=True)


def _packs(remote: RemoteCache | None, lock: str | None, cache: Cache, settings: Settings) -> Packs:
    if remote is None or lock is None:
        place = display_path(settings.lock_file)
        raise LockError(f"{place}: no such file: packs are made for a lockfile (`registry lock`)")
    return remote.packing(lock=lock, cache=cache)


def _packed(
    names: Sequence[str],
    remote: RemoteCache | None,
    lock: str | None,
    cache: Cache,
    settings: Settings,
) -> AbstractContextManager[None]:
    """Let what was packed for this lockfile be fetched together."""
    if remote is None or lock is None or (settings.offline and not remote.is_local):
        return contextlib.nullcontext()
    return remote.expecting(set(names), lock=lock, cache=cache)


def _print_packed(packed: Packed) -> None:
    what = f"the samples of {packed.entries:,} entries" if packed.entries != 1 else "one entry"
    size = size_text(packed.bytes)
    print_line(f"packed {what} in {count_text(packed.objects, 'object')}, {size}", err=True)


def _of_shard(shard: Shard, names: Sequence[str], catalog: Catalog, pins: CatalogPins) -> list[str]:
    """Return the datasets of a shard, and say which division it is of."""
    division = divide(names, catalog, shard.of, pins=pins)
    chosen, size = division.shards[shard.number - 1], division.bytes[shard.number - 1]
    what = f"{len(chosen):,} of {count_text(len(names), 'dataset')}, about {size_text(size)}"
    line = f"shard {shard.number} of {shard.of}: {what}; division {division.digest}"
    print_line(f"{line}, which is the same in all jobs if they agree", err=True)
    return chosen


def _refused(
    catalog: Catalog,
    settings: Settings,
    state: ReviewedSide,
    chosen: Sequence[str],
    *,
    is_all: bool,
) -> bool:
    """Print what is not as reviewed; return whether anything is."""
    from registry.diff.snapshot import index_values  # few invocations compare a catalog

    index = index_values(catalog, catalog.index_document(), str)
    lock = read_lock(settings.lock_file, shown_as=display_path(settings.lock_file)) or Lock()
    specs = {}
    for name in chosen:
        with contextlib.suppress(ManifestError):  # it differs: what was reviewed could be read
            specs[name] = catalog[name]
    values = {key: one.value for key, one in index.items()}
    current = side_of(specs, lock, values, catalog.boundary)
    found = refusals(state, current, specs, lock, None if is_all else chosen)
    for name, why in found.items():
        print_error(name or "the index", why)
    if found:
        print_line("nothing was built; review again: `registry diff --reviewed FILE`", err=True)
    return bool(found)


def _totals(catalog: Catalog, names: Sequence[str]) -> dict[str, int]:
    """Return the samples that are to be mapped, where a manifest says how many."""
    found = {}
    for name in names if has_bars(as_json=False) else ():
        with contextlib.suppress(ManifestError):  # reported when it is its turn
            if (expected := catalog[name].expect.samples) is not None:
                found[name] = expected
    return found


def _run(
    run: Callable[..., Iterator[SyncResult]],
    names: Sequence[str],
    totals: Mapping[str, int],
    *,
    as_json: bool,
) -> list[SyncResult]:
    """Build the datasets, and print each when it is ready and all at the end."""
    started = time.perf_counter()
    lines = None if as_json else SyncLines(names)
    with bars(as_json=as_json, number=len(names), samples=totals) as report:
        found = _reported(run(report=report), report, lines)
        results = sorted(found, key=lambda result: result.name)
    if lines is None:
        print_json([result.to_dict() for result in results])
    else:
        _print(results, lines, time.perf_counter() - started)
    return results


def _reported(
    run: Iterator[SyncResult], report: Reporter, lines: SyncLines | None
) -> Iterator[SyncResult]:
    """Yield results, and print the line of each when it is ready."""
    for result in run:
        now = () if lines is None else lines.of(result)
        report.finish(result.name, now, failed=bool(result.error))
        yield result


def _print(results: Sequence[SyncResult], lines: SyncLines, seconds: float) -> None:
    for line in lines.late(results):
        print_line(line)
    print_failures((one.name, why) for one in results for why in (one.error, one.push_error) if why)
    print_warnings((result.name, result.warnings) for result in results)
    if len(results) > 1 or any(result.warnings or result.pushed for result in results):
        print_line(_summary(results, seconds), err=True)


def _summary(results: Sequence[SyncResult], seconds: float) -> str:
    """Return how many datasets ended how and when, and what to do about warnings."""
    counts = Counter(result.status for result in results)
    by_status = ", ".join(f"{counts[one]:,} {one}" for one in _STATUSES if counts[one])
    by_status += f" in {seconds:.1f} s"
    if any(result.pushed for result in results):
        counts = Counter(result.pushed for result in results)
        pushed = ", ".join(f"{counts[one]:,} {one}" for one in _PUSHED if counts[one])
        by_status += f"; remote cache: {pushed}"
    warnings = sum(len(result.warnings) for result in results)
    text = f"{count_text(len(results), 'dataset')}: {by_status}"
    if not warnings:
        return text
    hint = "`accept: [NAME]` says that it is meant, `expect` makes it an error"
    return f"{text}; {count_text(warnings, 'warning')} ({hint})"


class SyncLines:
    """The lines of finished datasets: printed one by one, except below bars of another stream."""

    def __init__(self, names: Sequence[str]) -> None:
        """Prepare the columns for the names of all datasets."""
        self._is_terminal = sys.stdout.isatty()
        # Whether they are printed at the end: they may reach the terminal that has the bars.
        self._are_late = has_bars(as_json=False) and not self._is_terminal
        self._has_title = False
        self._are_many = len(names) > 1
        width = columns_of(sys.stdout) if self._is_terminal else None
        rows = [_HEADERS, *((escape_control(name), *_WIDEST) for name in names)]
        self._width = width or 0
        self._columns = Columns.of(rows, right=(2, 3, 4), width=width)

    def of(self, result: SyncResult) -> Iterator[str]:
        """Yield the lines to print when a dataset is finished."""
        # On a terminal a failure is only in the summary, where it has its cause.
        if not (self._are_late or (self._is_terminal and result.error)):
            yield from self._rows(result)

    def late(self, results: Sequence[SyncResult]) -> Iterator[str]:
        """Yield the lines to print when all datasets are finished."""
        if self._are_late:
            for result in results:
                yield from self._rows(result)

    def _rows(self, result: SyncResult) -> Iterator[str]:
        """Yield the lines of a result, and the title before the first.

        Of several datasets, those that were there already are only counted, in the summary.
        """
        if self._are_many and result.status == "cached" and not result.pushed:
            return
        values = (
            result.name,
            result.status,
            "" if result.samples is None else f"{result.samples:,}",
            size_text(result.bytes),
            f"{result.seconds:.1f} s",
        )
        if not self._has_title:
            self._has_title = True
            for line in self._columns.lines(_HEADERS, width=self._width):
                yield paint(line.rstrip(), sys.stdout, bold=True)
        *above, line = self._columns.lines([*map(escape_control, values)], width=self._width)
        yield from above
        yield paint_word(line.rstrip(), result.status, sys.stdout)
