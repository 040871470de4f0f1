"""`stats`: count what the catalog has, without building anything."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from registry.catalog.licenses import license_class
from registry.cli import CLEAN, PROBLEMS, options
from registry.cli.datasets import read_states, valid_specs
from registry.cli.output import print_json, size_text
from registry.cli.terminal import columns_of, paint, plot_lines, print_styled, wrap
from registry.errors import count_text
from registry.manifest.expressions import parse_condition, parse_expression
from registry.mapping.columns_used import operations_in
from registry.plots import frequencies

if TYPE_CHECKING:
    from registry.manifest.models import DatasetSpec
    from registry.workflows.states import DatasetState

__all__ = ["command"]

_NONE = "(none)"
_COUNTS = {
    "sources": "Datasets by type of source",
    "states": "Datasets by how far they are determined",
    "license_classes": "Datasets by what their license allows",
    "licenses": "Datasets by license",
    "tags": "Datasets by tag",
    "languages": "Datasets by language",
    "operations": "Datasets by operation of their fields",
}
"""Key of the JSON → title of the plot."""


@click.command("stats", epilog="Example: registry stats --tag demo")
@options.tags
@options.plain
@options.as_json
@options.root
def command(tags: tuple[str, ...], plain: bool, as_json: bool, root: str | None) -> int:
    """Count the datasets by source, state, license, tag and operation, and what is cached.

    The states are those of `list`; `any use` has the licenses that ask for no more than a name.
    Nothing is built or requested. The number of samples is that of the lockfile, the cache or
    `expect`; splits, and datasets that share samples, count each by itself. The exit code is 1 if
    a manifest or the lockfile is invalid; the rest is counted.
    """
    opened = options.open_catalog(root)
    catalog = opened.catalog
    broken = options.print_stray_problems(catalog)
    specs, has_invalid = valid_specs(catalog, options.choose(opened, (), tags))
    found, is_lock_invalid = read_states(specs, opened)
    states = found.values()
    samples = [state.samples for state in states if state.samples is not None]
    data: dict[str, Any] = {
        "datasets": len(specs),
        "samples": sum(samples),
        "with_known_samples": len(samples),
        "cached": sum(state.cached is True for state in states),
        "cached_bytes": sum(state.bytes or 0 for state in states),
        "locked": sum(state.locked for state in states),
        "stale": sum(state.shown == "stale" for state in states),
        "newer": sum(state.newer for state in states),
        **_counts(specs, found),
    }
    if as_json:
        print_json(data)
    else:
        for line in _lines(data, plain=plain):
            print_styled(line, sys.stdout)
    return PROBLEMS if broken or has_invalid or is_lock_invalid else CLEAN


def _counts(
    specs: Iterable[DatasetSpec], states: Mapping[str, DatasetState]
) -> dict[str, dict[str, int]]:
    """Return how many datasets have each value, the most frequent first."""
    counts: dict[str, Counter[str]] = {key: Counter() for key in _COUNTS}
    for spec in specs:
        counts["sources"][str(spec.source.type)] += 1
        counts["states"][states[spec.name].shown] += 1
        counts["license_classes"][license_class(spec)] += 1
        counts["licenses"][_NONE if spec.license is None else str(spec.license)] += 1
        counts["tags"].update(set(spec.tags) or {_NONE})
        counts["languages"].update(set(spec.languages) or {_NONE})
        counts["operations"].update(set(_operations(spec)))
    return {key: dict(found.most_common()) for key, found in counts.items()}


def _operations(spec: DatasetSpec) -> Iterator[str]:
    """Yield the names of the operations that a dataset uses; a mapper hides its own."""
    if spec.where is not None:
        yield from (call.name for call in operations_in(parse_condition(spec.where)))
    if spec.mapper is not None:
        return
    for field in spec.fields.named:
        value = getattr(spec.fields, field)
        is_map = field == "metadata" and isinstance(value, Mapping)
        for expression in value.values() if is_map else [value]:
            yield from (call.name for call in operations_in(parse_expression(expression)))


def _lines(data: Mapping[str, Any], *, plain: bool) -> Iterator[str]:
    known, unknown = data["with_known_samples"], data["datasets"] - data["with_known_samples"]
    yield paint(count_text(data["datasets"], "dataset"), sys.stdout, bold=True)
    of_known = f" in {known:,} of them" if unknown else ""
    samples = f"{count_text(data['samples'], 'sample')}{of_known}" if known else "samples unknown"
    facts = [
        samples,
        f"{data['cached']:,} cached ({size_text(data['cached_bytes'])})",
        f"{data['locked']:,} locked",
    ]
    facts += [f"{data['stale']:,} of them for an older manifest"] if data["stale"] else []
    facts += [f"{data['newer']:,} by a newer release"] if data["newer"] else []
    yield from wrap(", ".join(facts), columns_of(sys.stdout))
    plots = (frequencies(title, data[key]) for key, title in _COUNTS.items() if data[key])
    yield from plot_lines(plots, sys.stdout, plain=plain)
