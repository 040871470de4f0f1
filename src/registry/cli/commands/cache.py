"""`cache`: what it holds, whether it is intact, and how it is pruned or cleared."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from registry.cache import housekeeping
from registry.cache.cache import Cache
from registry.cache.contents import Item, contents, older_formats, paths_of, size_of, verify
from registry.cache.folders import KINDS
from registry.cache.housekeeping import Removal, Removed
from registry.cli import CLEAN, PROBLEMS, options
from registry.cli.help import SuggestingGroup
from registry.cli.options import duration, size
from registry.cli.output import print_json, print_line, print_table, size_text
from registry.cli.progress_bars import bars
from registry.errors import (
    DatasetNotFoundError,
    ManifestError,
    RegistryError,
    close_matches,
    count_text,
    list_names,
)
from registry.installation import our_own
from registry.load.call import OpenCatalog
from registry.progress import Progress
from registry.settings import Settings
from registry.workflows.states import CacheUsage, cache_usage

__all__ = ["command"]


@click.group("cache", cls=SuggestingGroup, epilog="Example: registry cache list")
def command() -> None:
    """Inspect, verify, prune or clear the cache."""


def _open() -> Cache:
    return Cache(options.settings_of(None).cache_dir)


def _open_with_usage(root: str | None) -> tuple[OpenCatalog, CacheUsage]:
    """Return the catalog and its cache, and which datasets use what of it; makes no request."""
    opened = options.open_catalog(root, offline=True, locked=False)
    catalog, cache, _ = opened
    return opened, cache_usage(catalog, catalog, cache, opened.pins.sources)


def _wanted(names: Sequence[str], opened: OpenCatalog, items: Sequence[Item]) -> set[str]:
    """Return the datasets that are named, also those of which only the cache knows.

    Raises:
        DatasetNotFoundError: a name is neither in the catalog nor in the cache.
    """
    gone = {str(item.meta["name"]) for item in items if "name" in item.meta}
    gone.difference_update(opened.catalog)
    found = gone.intersection(names)
    for name in (one for one in names if one not in gone):
        try:
            options.check_members([name], opened)
            found.update(options.current(opened.catalog, name))
        except DatasetNotFoundError as error:
            if not (similar := close_matches(name, gone)):
                raise
            raise DatasetNotFoundError(
                name, similar, catalog="the cache", command="registry cache list"
            ) from error
    return found


@command.command("dir", epilog="Example: du -sh $(registry cache dir)")
def show_folder() -> int:
    """Print the folder of the cache. REGISTRY_CACHE_DIR sets it."""
    print(_open().root)
    return CLEAN


@command.command("list", epilog="Example: registry cache list --json")
@options.as_json
@options.root
def list_entries(as_json: bool, root: str | None) -> int:
    """List the samples in the cache, with the datasets of the catalog that use them.

    The size is that of samples and views; the total covers everything. The last use is accurate to
    an hour.
    """
    (_, cache, _), usage = _open_with_usage(root)
    items = contents(cache)
    samples = [item for item in items if item.kind == "samples"]
    samples.sort(key=lambda item: (usage.users(item), str(item.meta["name"]), item.key))
    sizes = _sizes(cache, items)
    if as_json:
        entries = [_entry_data(item, usage) for item in samples]
        print_json({"folder": str(cache.root), "entries": entries, "bytes": sizes})
        return CLEAN
    _print_entries(samples, usage)
    parts = ", ".join(f"{kind} {size_text(size)}" for kind, size in sizes.items() if size)
    most = Settings.from_environment(root=root).cache_size
    limit = "" if most is None else f", at most {size_text(most)} are kept (REGISTRY_CACHE_SIZE)"
    print_line(f"{parts or 'empty'}, under {cache.root}{limit}", err=True)
    if any(not usage.users(item) for item in samples):
        print_line("(NAME): built for it, and no dataset of this catalog uses it now", err=True)
    return CLEAN


def _sizes(cache: Cache, items: Sequence[Item]) -> dict[str, int]:
    """Return the bytes of each kind, and of all."""
    sizes: dict[str, int] = dict.fromkeys(KINDS, 0)
    for item in items:
        for one in (item, *item.views):
            sizes[one.kind] += one.bytes
    sizes["other"] = size_of(cache.versioned) - sum(sizes.values())
    sizes["older formats"] = sum(map(size_of, older_formats(cache)))
    sizes["total"] = sum(sizes.values())
    return sizes


def _print_entries(samples: Sequence[Item], usage: CacheUsage) -> None:
    rows = [
        (
            list_names(usage.users(item), 3) or f"({item.meta['name']})",
            f"{item.meta['samples']:,}",
            size_text(item.total),
            f"{_date(item.last_used).astimezone():%Y-%m-%d %H:%M}",
            item.key[:12],
            str(item.meta["source"]),
        )
        for item in samples
    ]
    print_table(("datasets", "samples", "size", "last used", "fingerprint", "source"), rows)


def _date(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _entry_data(item: Item, usage: CacheUsage) -> dict[str, object]:
    used = _date(item.last_used).isoformat(timespec="seconds")
    views = [{"fingerprint": f"sha256:{view.key}", "bytes": view.bytes} for view in item.views]
    data = {"datasets": usage.users(item), "bytes": item.total, "last_used": used, "views": views}
    meta = {key: value for key, value in item.meta.items() if key != "batches"}  # checksums
    return {**meta, **data}


@command.command("verify", epilog="Example: registry cache verify mmlu")
@options.names
@options.as_json
@options.root
def verify_entries(names: tuple[str, ...], as_json: bool, root: str | None) -> int:
    """Read everything in the cache, or what NAMES use, and compare it with its digests.

    Damaged items are moved to the quarantine, so that the next use downloads or builds them again.
    The exit code is then 1.
    """
    cache, keys = _open(), None
    if names:
        opened, usage = _open_with_usage(root)
        options.check_members(names, opened)
        wanted = set(options.current(opened.catalog, *names))
        # Those of a part of a source are known by their metadata, which may be damaged.
        keys = {item.key for item in contents(cache) if not wanted.isdisjoint(usage.users(item))}
        keys.update(key for key, users in usage.names.items() if not wanted.isdisjoint(users))
    paths = paths_of(cache, keys)
    total, done, results = sum(size_of(path) for _, path in paths), 0, []
    with bars(as_json=as_json) as report:
        for checked in verify(cache, paths):
            done += checked.bytes
            report("cache", Progress("read", done, total))
            results.append(checked)
    damaged = [one for one in results if one.damage]
    if as_json:
        data = {"checked": len(results), "bytes": done}
        print_json({**data, "damaged": [vars(one) for one in damaged]})
    else:
        for one in damaged:
            moved = "moved to the quarantine; its next use makes it again"
            left = "it can't be moved to the quarantine: remove it"
            what = f"{one.damage} ({moved if one.quarantined else left})"
            print_line(f"error: {one.kind} {one.key[:12]}: {what}", err=True)
        summary = f"{len(damaged):,} damaged" if damaged else "all intact"
        print(f"{count_text(len(results), 'item')}, {size_text(done)}: {summary}")
    return PROBLEMS if damaged else CLEAN


@command.command("prune", epilog="Example: registry cache prune --older 30d --keep-size 20GB")
@click.option(
    "--older", callback=duration, metavar="TIME", help="Remove what was not used for TIME."
)
@click.option(
    "--keep-size",
    callback=size,
    metavar="SIZE",
    help="Remove what was used least recently, until the rest has at most SIZE.",
)
@click.option(
    "--unreferenced",
    is_flag=True,
    help="Remove what no dataset of this catalog uses, with its lock.",
)
@click.option(
    "--remote", is_flag=True, help="Prune the remote cache, REGISTRY_REMOTE_CACHE, not this one."
)
@click.option("--dry-run", is_flag=True, help="Remove nothing, only list what would be removed.")
@options.as_json
@options.root
def prune(
    older: float | None,
    keep_size: int | None,
    unreferenced: bool,
    remote: bool,
    dry_run: bool,
    as_json: bool,
    root: str | None,
) -> int:
    """Remove what killed processes left, and what the options select.

    TIME is a number and a unit, such as 12h or 30d; SIZE is one such as 500MB or 20GB. Without an
    option no samples are removed. It is safe while other processes read or build. With --remote
    only --older counts, and TIME is since an entry was pushed, as readers write nothing there.
    """
    if remote:
        if older is None or keep_size is not None or unreferenced:
            raise click.UsageError(
                "--remote goes with --older TIME, and not with --keep-size or --unreferenced"
            )
        return _prune_remote(older, dry_run=dry_run, as_json=as_json)
    cache, usage = _open(), None
    if unreferenced:
        (_, cache, _), usage = _open_with_usage(root)
        invalid = [name for name, why in usage.unknown.items() if isinstance(why, ManifestError)]
        if invalid:
            names = list_names(invalid, 3)
            raise RegistryError(f"can't tell what {names} uses (`registry validate` says why)")
    removal = housekeeping.prune(
        cache,
        older=older,
        keep_size=keep_size,
        is_referenced=None if usage is None else usage.may_use,
        dry_run=dry_run,
    )
    if removal.removed and not as_json:
        _print_removed(removal.removed)
    return _report(removal, cache, as_json=as_json)


def _print_removed(removed: Sequence[Removed]) -> None:
    rows = [
        (one.kind, one.dataset, size_text(one.bytes), one.name[:12], one.reason)
        for one in removed
        if one.kind != "locks"
    ]
    # One for each build.
    if locks := [one for one in removed if one.kind == "locks"]:
        held = size_text(sum(one.bytes for one in locks))
        rows.append(("locks", "", held, count_text(len(locks), "file"), locks[0].reason))
    print_table(("kind", "built for", "size", "name", "reason"), rows)


def _prune_remote(older: float, *, dry_run: bool, as_json: bool) -> int:
    remote = options.require_remote_cache()
    removed = our_own("prune_remote")(remote, older=older, dry_run=dry_run)
    total = sum(one.bytes for one in removed)
    if as_json:
        objects = [{"name": one.name, "bytes": one.bytes, "days": one.days} for one in removed]
        data = {"location": remote.shown, "bytes": total, "dry_run": dry_run}
        print_json({**data, "removed": objects})
        return CLEAN
    if removed:
        rows = [(one.name, size_text(one.bytes), f"{one.days:g}") for one in removed]
        print_table(("object", "size", "days"), rows)
    verb = "would remove" if dry_run else "removed"
    print_line(f"{verb} {size_text(total)} from the remote cache {remote.shown}")
    return CLEAN


@command.command("clear", epilog="Example: registry cache clear mmlu --yes")
@options.names
@click.option("--yes", is_flag=True, help="Don't ask for confirmation.")
@options.as_json
@options.root
def clear(names: tuple[str, ...], yes: bool, as_json: bool, root: str | None) -> int:
    """Remove everything from the cache, or what the datasets NAMES use.

    NAMES may also be datasets that are no longer in the catalog. What running processes are
    writing stays.
    """
    cache = _open()
    if not names:
        if not yes:
            click.confirm(f"Remove everything under {cache.root}?", abort=True, err=True)
        return _report(housekeeping.clear(cache), cache, as_json=as_json)
    opened, usage = _open_with_usage(root)
    items = contents(cache)
    wanted = _wanted(names, opened, items)
    items = [
        item
        for item in items
        if item.meta.get("name") in wanted or not wanted.isdisjoint(usage.users(item))
    ]
    if items and not yes:
        size = size_text(sum(item.total for item in items))
        others = sorted({user for item in items for user in usage.users(item)}.difference(wanted))
        also = f", also used by {list_names(others, 3)}" if others else ""
        click.confirm(f"Remove {size}{also}?", abort=True, err=True)
    return _report(housekeeping.clear_items(cache, items), cache, as_json=as_json)


def _report(removal: Removal, cache: Cache, *, as_json: bool) -> int:
    """Print what was removed and what was not; return the exit code."""
    if as_json:
        errors = [{"path": str(path), "reason": why} for path, why in removal.errors.items()]
        data = {"folder": str(cache.root), "bytes": removal.bytes, "dry_run": removal.dry_run}
        removed = [vars(one) for one in removal.removed]
        in_use = [str(path) for path in removal.in_use]
        newer = [str(path) for path in removal.newer]
        kept = {"in_use": in_use, "newer": newer, "errors": errors}
        print_json({**data, "removed": removed, **kept})
    else:
        for path, why in removal.errors.items():
            print_line(f"error: {path}: can't be removed: {why}", err=True)
        verb = "would remove" if removal.dry_run else "removed"
        print_line(f"{verb} {size_text(removal.bytes)} under {cache.root}")
        if removal.in_use:
            number = count_text(len(removal.in_use), "item")
            print_line(f"kept {number} that running processes are using", err=True)
        for path in removal.newer:
            what = f"{path}, {size_text(size_of(path))} in the format of a newer release"
            print_line(f"kept {what} (clear the cache with that release)", err=True)
    return PROBLEMS if removal.errors else CLEAN
