"""What commands show: a dataset, built if needed, or the valid datasets with their states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from registry.catalog.catalog import Catalog
from registry.cli import options
from registry.cli.output import print_failure, print_line
from registry.cli.progress_bars import bars
from registry.errors import LockError, ManifestError
from registry.load.cached import open_cached
from registry.load.dataset import pinned_sources
from registry.load.load import load
from registry.lockfile.pin_cache import catalog_lock
from registry.lockfile.pinned import PinnedSources
from registry.workflows.states import DatasetState, states_of

if TYPE_CHECKING:
    from registry.cache.cache import Cache
    from registry.diff.snapshots.rules import Rules
    from registry.manifest.models import DatasetSpec
    from registry.pipeline.execute import LoadResult
    from registry.settings import Settings

__all__ = ["Opened", "check_members", "open_dataset", "read_states", "valid_specs"]


class Opened(Struct, frozen=True, kw_only=True):
    """A dataset, and what it was opened with."""

    spec: DatasetSpec
    result: LoadResult
    catalog: Catalog
    cache: Cache
    settings: Settings
    lock: PinnedSources | None


def open_dataset(
    name: str,
    opened: tuple[Catalog, Cache, Settings],
    *,
    as_json: bool,
    rules: Rules | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Opened:
    """Return a dataset of what `open_catalog` returned; if it isn't cached, it is built first.

    `rules` are those of a base, which decide whether its mapper is run.

    Raises:
        ReviewError: by the rules of a base, its mapper must not be run.
    """
    catalog, cache, settings = opened
    spec = options.resolve(catalog, name, overrides)
    with catalog.locating(spec.name), bars(as_json=as_json) as report:
        options.refuse_changed_code(catalog, spec, rules)
        lock = pinned_sources(spec, catalog, settings, overrides=overrides)
        result = load(
            spec,
            cache,
            boundary=catalog.boundary,
            offline=settings.offline,
            lock=lock,
            report=partial(report, name),
        )
    if catalog.is_member(name):
        result.dataset.rename(name)
    return Opened(
        spec=spec, result=result, catalog=catalog, cache=cache, settings=settings, lock=lock
    )


def check_members(names: Iterable[str], catalog: Catalog, cache: Cache, settings: Settings) -> None:
    """Check that the members of groups among the names have samples, where these are cached.

    Raises:
        ExpectationError: one has none.
    """
    for name in names:
        if not catalog.is_group(name) and catalog.is_member(name):
            spec = catalog[name]
            lock = pinned_sources(spec, catalog, settings)
            open_cached(spec, cache, lock, boundary=catalog.boundary)


def valid_specs(catalog: Catalog, names: Iterable[str]) -> tuple[list[DatasetSpec], bool]:
    """Return the datasets that are valid, and whether any is not, which is reported."""
    specs: list[DatasetSpec] = []
    problems: dict[str, None] = {}
    for name in names:
        try:
            specs.append(catalog[name])
        except ManifestError as error:  # the datasets of a broken file have the same problems
            problems[str(error.problems[0])] = None
    for problem in problems:
        print_line(f"error: {problem}", err=True)
    return specs, bool(problems)


def read_states(
    specs: Iterable[DatasetSpec], catalog: Catalog, cache: Cache, settings: Settings
) -> tuple[Mapping[str, DatasetState], bool]:
    """Return the states of datasets, and whether the lockfile is invalid, which is reported."""
    lock, failed = None, False
    try:
        lock = catalog_lock(catalog)
    except LockError as error:
        failed = True
        print_failure(error)
    return states_of(specs, cache, lock, boundary=catalog.boundary), failed
