"""What commands show: a dataset, built if needed, or the valid datasets with their states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from registry.catalog.catalog import Catalog
from registry.cli import options
from registry.cli.output import print_failure, print_line
from registry.cli.progress_bars import bars
from registry.errors import LockError, ManifestError, Problem
from registry.load.call import DatasetCall, OpenCatalog
from registry.workflows.states import DatasetState, states_of

if TYPE_CHECKING:
    from registry.diff.checkout import Rules
    from registry.manifest.models import DatasetSpec
    from registry.pipeline.execute import LoadResult

__all__ = ["open_dataset", "read_states", "valid_specs"]


def open_dataset(
    name: str,
    opened: OpenCatalog,
    *,
    as_json: bool,
    rules: Rules | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> tuple[DatasetCall, LoadResult]:
    """Return a dataset, as it is asked for and opened; if it isn't cached, it is built first.

    `rules` are those of a base, which decide whether its mapper is run.

    Raises:
        ReviewError: by the rules of a base, its mapper must not be run.
    """
    asked = options.call_of(opened, name, overrides, rules=rules)
    with bars(as_json=as_json) as report:
        return asked, asked.load(partial(report, name))


def valid_specs(catalog: Catalog, names: Iterable[str]) -> tuple[list[DatasetSpec], bool]:
    """Return the datasets that are valid, and whether any is not, which is reported."""
    specs: list[DatasetSpec] = []
    problems: dict[Problem, None] = {}
    for name in names:
        try:
            specs.append(catalog[name])
        except ManifestError as error:  # the datasets of a broken file have the same problems
            problems |= dict.fromkeys(error.problems)
    for problem in problems:
        print_line(f"error: {problem}", err=True)
    return specs, bool(problems)


def read_states(
    specs: Iterable[DatasetSpec], opened: OpenCatalog
) -> tuple[Mapping[str, DatasetState], bool]:
    """Return the states of datasets, and whether the lockfile is invalid, which is reported."""
    found, lock, failed = list(specs), None, False
    try:
        lock = opened.pins.rows(one.name for one in found)
    except LockError as error:
        failed = True
        print_failure(error)
    return states_of(found, opened.cache, lock, boundary=opened.catalog.boundary), failed
