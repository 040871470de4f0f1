"""Options that several verbs share."""

from __future__ import annotations

import click

from registry.cache import Cache
from registry.catalog import Catalog
from registry.settings import Settings

__all__ = ["as_json", "choose", "offline", "open_catalog", "root", "settings_of", "tags"]

root = click.option(
    "--root",
    metavar="PATH",
    help="Folder with a datasets.yaml, or such a file. Default: REGISTRY_ROOT, else the nearest"
    " one upwards, else the built-in catalog.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
offline = click.option("--offline", is_flag=True, default=None, help="Make no request.")
tags = click.option(
    "--tag", "tags", multiple=True, metavar="T", help="Only datasets with this tag."
)


def settings_of(root: str | None, *, offline: bool | None = None) -> Settings:
    """Return the settings of an invocation."""
    return Settings.from_environment(root=root, offline=offline)


def open_catalog(
    root: str | None, *, offline: bool | None = None
) -> tuple[Catalog, Cache, Settings]:
    """Return catalog, cache and settings of an invocation."""
    settings = settings_of(root, offline=offline)
    return Catalog.open(settings.index), Cache(settings.cache_dir), settings


def choose(catalog: Catalog, names: tuple[str, ...], tags: tuple[str, ...]) -> list[str]:
    """Return the named datasets, or all; with tags only those that have all of them.

    Raises:
        DatasetNotFoundError: a name is unknown.
        ManifestError: a named dataset is not valid.
    """
    for name in names:
        catalog[name]
    chosen = list(names) or list(catalog)
    if not tags:
        return chosen
    wanted = set(tags)
    found = [name for name in chosen if wanted <= set(catalog[name].tags)]
    if not found:
        known = sorted({tag for name in catalog for tag in catalog[name].tags})
        raise click.UsageError(
            f"no dataset has the tag {' and '.join(tags)} (tags: {', '.join(known)})"
        )
    return found
