"""`list`: list the datasets of the catalog."""

from __future__ import annotations

import click

from registry.cli import CLEAN, PROBLEMS, options
from registry.cli.output import print_json, print_line, print_table
from registry.errors import ManifestError
from registry.manifest.serialize import data_of

__all__ = ["command"]

_KEYS = ("name", "description", "homepage", "license", "tags")


@click.command("list", epilog="Example: registry list --tag mcq")
@options.tags
@options.as_json
@options.root
def command(tags: tuple[str, ...], as_json: bool, root: str | None) -> int:
    """List the datasets of the catalog.

    A broken manifest is reported and the other datasets are listed; the exit code is then 1.
    """
    catalog, _, _ = options.open_catalog(root)
    specs, broken = [], options.print_stray_problems(catalog)
    for name in options.choose(catalog, (), tags):
        try:
            specs.append(catalog[name])
        except ManifestError as error:
            broken = True
            print_line(f"error: {error.problems[0]}", err=True)
    if as_json:
        print_json([{key: data_of(spec)[key] for key in _KEYS} for spec in specs])
    else:
        rows = [(spec.name, ", ".join(spec.tags), spec.description or "") for spec in specs]
        print_table(("dataset", "tags", "description"), rows)
    return PROBLEMS if broken else CLEAN
