"""`cache`: inspect or clear the cache."""

from __future__ import annotations

import click

from registry.cache import housekeeping
from registry.cache.cache import Cache
from registry.cli import CLEAN, options
from registry.cli.output import print_json, print_table, size_text

__all__ = ["command"]


@click.group("cache", epilog="Example: registry cache list")
def command() -> None:
    """Inspect or clear the cache."""


def _open() -> Cache:
    return Cache(options.settings_of(None).cache_dir)


@command.command("dir", epilog="Example: du -sh $(registry cache dir)")
def show_folder() -> int:
    """Print the folder of the cache. REGISTRY_CACHE_DIR sets it."""
    print(_open().root)
    return CLEAN


@command.command("list", epilog="Example: registry cache list --json")
@options.as_json
def list_entries(as_json: bool) -> int:
    """List the datasets in the cache."""
    entries = sorted(_open().entries("samples"), key=lambda entry: str(entry.meta["name"]))
    if as_json:
        print_json([{**entry.meta, "bytes": entry.size} for entry in entries])
        return CLEAN
    rows = [
        (
            entry.meta["name"],
            f"{entry.meta['samples']:,}",
            size_text(entry.size),
            entry.folder.name[:12],
            entry.meta["source"],
        )
        for entry in entries
    ]
    print_table(("built for", "samples", "size", "fingerprint", "source"), rows)
    return CLEAN


@command.command("clear", epilog="Example: registry cache clear --yes")
@click.option("--yes", is_flag=True, help="Don't ask for confirmation.")
@options.as_json
def clear(yes: bool, as_json: bool) -> int:
    """Remove everything from the cache."""
    cache = _open()
    if not yes:
        click.confirm(f"Remove everything under {cache.root}?", abort=True)
    freed = housekeeping.clear(cache)
    if as_json:
        print_json({"folder": str(cache.root), "bytes": freed})
    else:
        print(f"removed {size_text(freed)} under {cache.root}")
    return CLEAN
