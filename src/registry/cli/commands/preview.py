"""`preview`: show the first samples of a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from registry.boundary.paths import allow_location
from registry.build.expectations import quality_warnings
from registry.cli import CLEAN, options
from registry.cli.output import json_text, print_sample, print_warnings
from registry.load import load, preview_records
from registry.lockfile.pinned import pin_sources

if TYPE_CHECKING:
    from registry.samples.sample import Sample

__all__ = ["command"]


_EXAMPLES = """\b
Example: registry preview demo-chat -n 2
registry preview demo-chat --json
registry preview demo-mcq --from registry/data/demo-mcq.csv
"""


@click.command("preview", epilog=_EXAMPLES)
@click.argument("name")
@click.option(
    "-n",
    "count",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="How many samples to show.",
)
@click.option(
    "--from",
    "file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Map the records of this local file (csv, json, jsonl, parquet) instead of the dataset's"
    " source; makes no network request.",
)
@options.offline
@options.locked
@options.frozen
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@options.root
def command(
    name: str,
    count: int,
    file: str | None,
    offline: bool | None,
    locked: bool | None,
    frozen: bool | None,
    as_json: bool,
    root: str | None,
) -> int:
    """Show the first samples of a dataset; if it isn't cached, it is built first.

    Questionable samples, such as blank targets, are reported as warnings.
    """
    catalog, cache, settings = options.open_catalog(
        root, offline=offline, locked=locked, frozen=frozen
    )
    samples: Sequence[Sample]
    with catalog.locating(name):
        if file is not None:
            spec = catalog.resolve(name, source=file)
            samples, meta = preview_records(
                spec, cache, count, boundary=allow_location(catalog.boundary, file)
            )
        else:
            spec = catalog[name]
            pin = options.pin_of(settings, name)
            lock = pin_sources(spec, pin, locked=settings.locked, frozen=settings.frozen)
            opened = load(
                spec, cache, boundary=catalog.boundary, offline=settings.offline, lock=lock
            )
            samples, meta = opened.dataset[:count], opened.entry.meta
    for number, sample in enumerate(samples, 1):
        if as_json:
            data = sample.model_dump(mode="json", exclude_none=True)
            print(json_text(data, indent=None))
        else:
            print_sample(sample, number)
    print_warnings(name, quality_warnings(spec, meta))
    return CLEAN
