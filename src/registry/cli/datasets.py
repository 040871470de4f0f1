"""What commands open and show: a dataset, built if needed, valid ones with states, and groups."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from registry.catalog.catalog import Catalog
from registry.cli import CLEAN, options
from registry.cli.output import print_failure, print_json, print_line, print_table
from registry.cli.progress_bars import bars
from registry.errors import ExpectationError, LockError, ManifestError, Problem
from registry.load.call import DatasetCall, OpenCatalog
from registry.workflows.states import DatasetState, states_of

if TYPE_CHECKING:
    from registry.catalog.groups import Group
    from registry.diff.checkout import Rules
    from registry.manifest.models import DatasetSpec
    from registry.pipeline.execute import LoadResult
    from registry.settings import Settings

__all__ = [
    "failed_groups",
    "group_data",
    "open_dataset",
    "read_states",
    "show_group",
    "valid_specs",
]

_HEADERS = ("member", "dataset", "samples", "cached", "state", "weight")


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


def show_group(group: Group, opened: OpenCatalog, *, as_json: bool) -> int:
    """Print the members of a group with their weights and states; return the exit code."""
    from registry.load.groups import group_digest  # slow to import; most commands open no group

    digest, catalog = group_digest(group, opened.pins), opened.catalog
    if as_json:
        print_json({**group_data(group), "digest": digest})
        return CLEAN
    entry = catalog.groups[group.name]
    line = entry.document.position(("groups", group.name)).line
    print_line(f"{group.name}: {group.text}  # {entry.document.file}:{line}")
    if group.description:
        print_line(group.description)
    specs = [catalog[name] for name in group.datasets]
    states, _ = read_states(specs, opened)
    rows = []
    for one in group.members:
        state = states[one.dataset]
        samples = "" if one.only or one.by or state.samples is None else f"{state.samples:,}"
        of = ", ".join(f"{key} {value}" for key, value in (one.only or {}).items()) or one.by
        cached = "?" if state.cached is None else "yes" if state.cached else "no"
        source = f"{one.dataset} ({of})" if of else one.dataset
        rows.append((one.name, source, samples or "-", cached, state.shown, f"{one.weight:.4g}"))
    print_table(_HEADERS, rows, wide=1)
    print_line(f"# {_digest_line(group, digest)}")
    return CLEAN


def _digest_line(group: Group, digest: str | None) -> str:
    if digest is not None:
        return f"digest of all members, as pinned: {digest}"
    if not group.is_complete:
        return "no digest, as its `values` are not declared"
    return f"no digest, as not all of it is pinned (registry lock {group.name})"


def group_data(group: Group) -> dict[str, Any]:
    """Return a group as JSON data."""
    return {
        "name": group.name,
        "description": group.description,
        "tags": list(group.tags),
        "members": [
            {"name": one.name, "dataset": one.dataset, "only": one.only, "weight": one.weight}
            | ({"by": one.by} if one.by else {})
            for one in group.members
        ],
    }


def failed_groups(
    catalog: Catalog, datasets: Collection[str], settings: Settings, *, is_all: bool
) -> int:
    """Compare the values that groups of these datasets declare with the samples.

    An invalid group is a difference only if the datasets are all of the catalog.

    Returns:
        How many groups differ; the differences are printed.
    """
    from registry.load.groups import checked_group  # slow to import

    failed = 0
    for name in sorted(catalog.groups):
        try:
            group = catalog.group(name)
            # Those of other groups are checked with these.
            is_own = group.is_complete and "from" in catalog.groups[name].value
            if is_own and set(group.datasets) <= set(datasets):
                checked_group(group, settings)
        except ExpectationError as error:
            print_line(f"error: {error}", err=True)
            failed += 1
        except ManifestError as error:
            # Those of files without datasets are reported as such.
            problems = [one for one in error.problems if one not in catalog.stray_problems()]
            for problem in problems if is_all else ():
                print_line(f"error: {problem}", err=True)
            failed += is_all
    return failed
