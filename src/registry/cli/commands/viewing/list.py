"""`list`: list the datasets of the catalog."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import click

from registry.cli import CLEAN, PROBLEMS, options
from registry.cli.formats.listing import HEADERS, Row, cells, terminal_lines
from registry.cli.opening import read_states, valid_specs
from registry.cli.output import print_json, print_line, print_table
from registry.cli.terminal import page
from registry.errors import count_text
from registry.manifest.serialize import data_of

if TYPE_CHECKING:
    from registry.catalog.catalog import Catalog
    from registry.manifest.models import DatasetSpec
    from registry.workflows.states import DatasetState

__all__ = ["command"]

_KEYS = ("name", "description", "homepage", "license", "tags")
_SORTS: dict[str, Callable[[Row], Any]] = {
    "name": lambda row: row.name,
    "samples": lambda row: (-(row.samples or 0), row.name),
    "size": lambda row: (-(row.bytes or 0), row.name),
}
_EXAMPLES = """\b
Example: registry list --tag mcq
registry list reading --sort samples
registry list 'mmlu-*'
"""


@click.command("list", epilog=_EXAMPLES)
@click.argument("words", nargs=-1)
@options.tags
@click.option(
    "--search",
    metavar="WORDS",
    default="",
    help="Only datasets that have all of these words in the name, a tag, the license or the"
    " description.",
)
@click.option(
    "--sort",
    type=click.Choice(tuple(_SORTS)),
    default="name",
    show_default=True,
    help="The order; samples and size begin with the most.",
)
@options.as_json
@options.root
def command(
    words: tuple[str, ...],
    tags: tuple[str, ...],
    search: str,
    sort: str,
    as_json: bool,
    root: str | None,
) -> int:
    """List the datasets of the catalog, and what is cached and locked of them.

    With WORDS, as with --search, only those that have all of them; a word can also be a pattern of
    the name, such as 'mmlu-*'.
    Makes no request. On a terminal a long list is shown in the pager, PAGER; in a pipe each dataset
    is one line, with the size in bytes. `stale` is locked for an older manifest. A broken manifest
    or lockfile is reported and the datasets are listed; the exit code is then 1.
    """
    catalog, cache, settings = options.open_catalog(root)
    broken = options.print_stray_problems(catalog)
    chosen, has_invalid = valid_specs(catalog, options.choose(catalog, (), tags))
    wanted = [*" ".join(words).casefold().split(), *search.casefold().split()]
    specs = [spec for spec in chosen if _matches(spec, wanted)]
    states, is_lock_invalid = read_states(specs, catalog, cache, settings)
    by_name = {spec.name: spec for spec in specs}
    rows = sorted((_row(spec, states[spec.name]) for spec in specs), key=_SORTS[sort])
    if as_json:
        print_json([_data(by_name[row.name], states[row.name]) for row in rows])
    else:
        _print(rows, _summary(rows, catalog))
    return PROBLEMS if broken or has_invalid or is_lock_invalid else CLEAN


def _matches(spec: DatasetSpec, words: Iterable[str]) -> bool:
    name = spec.name.casefold()
    text = " ".join([spec.name, *spec.tags, spec.license or "", spec.description or ""]).casefold()
    return all(word in text or fnmatchcase(name, word) for word in words)


def _row(spec: DatasetSpec, state: DatasetState) -> Row:
    return Row(
        name=spec.name,
        description=spec.description or "",
        tags=tuple(spec.tags),
        samples=state.samples,
        bytes=state.bytes,
        cached="?" if state.cached is None else "yes" if state.cached else "no",
        locked="no" if not state.locked else "stale" if state.stale else "yes",
    )


def _data(spec: DatasetSpec, state: DatasetState) -> dict[str, Any]:
    data = data_of(spec)
    return {**{key: data[key] for key in _KEYS}, **data_of(state)}


def _print(rows: Sequence[Row], summary: str) -> None:
    if not sys.stdout.isatty():
        print_table(HEADERS, [cells(row) for row in rows])
        sys.stdout.flush()  # a reader that has exited, such as `head`, wants no count
        print_line(summary, err=True)
        return
    lines = list(terminal_lines(rows, sys.stdout)) if rows else []
    page("\n".join([*lines, summary, ""]))


def _summary(rows: Sequence[Row], catalog: Catalog) -> str:
    """Return how many datasets are shown, cached and locked."""
    total = len(catalog)
    shown = f"{len(rows):,} of {count_text(total, 'dataset')}"
    count = shown if len(rows) < total else count_text(total, "dataset")
    locked = sum(row.locked == "yes" for row in rows)
    stale = sum(row.locked == "stale" for row in rows)
    parts = [f"{sum(row.cached == 'yes' for row in rows):,} cached", f"{locked:,} locked"]
    parts += [f"{stale:,} with a stale pin (registry lock)"] if stale else []
    return f"{count}: {', '.join(parts)}" if rows else f"no dataset matches (of {total:,})"
