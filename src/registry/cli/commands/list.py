"""`list`: list the datasets of the catalog."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TextIO, get_args

import click
from msgspec import Struct

from registry.base.escape import escape_control
from registry.base.materials import State
from registry.catalog.discovery import package_of
from registry.cli import CLEAN, PROBLEMS, options
from registry.cli.datasets import group_data, read_states, valid_specs
from registry.cli.output import print_json, print_line, print_table, size_text
from registry.cli.terminal import Columns, columns_of, page, paint, paint_word, wrap
from registry.errors import count_text
from registry.manifest.serialize import data_of

if TYPE_CHECKING:
    from registry.catalog.groups import Group
    from registry.manifest.models import DatasetSpec
    from registry.workflows.states import DatasetState

__all__ = ["HEADERS", "Row", "command", "plain_cells", "terminal_lines"]


_KEYS = ("name", "description", "homepage", "tags", "languages", "deprecated")
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

HEADERS = ("dataset", "samples", "size", "cached", "state", "tags", "description")
_GAP = 2
_LEAST = 40
"""Columns that a description needs beside the others; with fewer it is below them."""
_INDENT = 2


@click.command("list", epilog=_EXAMPLES)
@click.argument("words", nargs=-1)
@options.tags
@click.option(
    "--search",
    metavar="WORDS",
    default="",
    help="Only datasets that have all of these words in the name, a tag, a language, the license or"
    " the description.",
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
    """List the datasets of the catalog, whether they are cached, and how far they are determined.

    With WORDS, as with --search, only those that have all of them; a word can also be a pattern of
    the name, such as 'mmlu-*'.
    Makes no request. On a terminal a long list is shown in the pager, PAGER; in a pipe each dataset
    is one line, with the size in bytes. The state is verified where the lockfile has the digests of
    the samples, commit where the manifest names the commit of its bytes, else floating; `stale` is
    locked for an older manifest, `newer` by a newer release. A broken manifest
    or lockfile is reported and the datasets are listed; the exit code is then 1. Splits are in
    brackets, the default one first; counts and states are those of the default one. A dataset that
    overrides that of a package says so. Groups follow, each in one row.
    """
    opened = options.open_catalog(root)
    catalog = opened.catalog
    broken = options.print_stray_problems(catalog)
    listed = {name for name in catalog if not catalog.entries[name].split}
    groups = [one for one in catalog.valid_groups() if set(tags) <= set(one.tags)]
    tagged = options.choose(opened, (), tags, required=not groups)
    chosen, has_invalid = valid_specs(catalog, [name for name in tagged if name in listed])
    wanted = [*" ".join(words).casefold().split(), *search.casefold().split()]
    specs = [spec for spec in chosen if _is_wanted(spec, wanted)]
    states, is_lock_invalid = read_states(specs, opened)
    by_name = {spec.name: spec for spec in specs}
    splits = {spec.name: catalog.splits_of(spec.name) for spec in specs}
    overrides = {
        name: [package_of(place.folder) for place in catalog.entries[name].overridden]
        for name in by_name
    }
    rows = [
        _row(spec, states[spec.name], splits[spec.name], overrides[spec.name]) for spec in specs
    ]
    rows.sort(key=_SORTS[sort])
    groups = [one for one in groups if _matches(wanted, one.name, *one.tags, one.description)]
    if as_json:
        shown = [
            _data(by_name[row.name], states[row.name], splits[row.name])
            | {"overrides": overrides[row.name]}
            for row in rows
        ]
        print_json([*shown, *map(group_data, groups)])
    else:
        summary = _summary(rows, len(listed))
        summary += f", {count_text(len(groups), 'group')}" if groups else ""
        _print([*rows, *map(_group_row, groups)], summary)
    return PROBLEMS if broken or has_invalid or is_lock_invalid else CLEAN


def _matches(words: Iterable[str], name: str, *texts: str | None) -> bool:
    text = " ".join([name, *filter(None, texts)]).casefold()
    return all(word in text or fnmatchcase(name.casefold(), word) for word in words)


def _is_wanted(spec: DatasetSpec, words: Iterable[str]) -> bool:
    texts = (*spec.tags, *spec.languages, str(spec.license or ""), spec.description)
    return _matches(words, spec.name, *texts)


def _row(
    spec: DatasetSpec, state: DatasetState, splits: Sequence[str], overrides: Sequence[str]
) -> Row:
    shown = f"[{', '.join(splits)}]" if splits else ""
    taken = f"(overrides that of package {', '.join(overrides)})" if overrides else ""
    return Row(
        name=spec.name,
        description=" ".join(filter(None, (spec.summary, shown, taken))),
        tags=tuple(spec.tags),
        samples=state.samples,
        bytes=state.bytes,
        cached="?" if state.cached is None else "yes" if state.cached else "no",
        state=state.shown,
    )


def _group_row(group: Group) -> Row:
    """Return the row of a group: its members are not listed."""
    return Row(
        name=group.name,
        description=" ".join(filter(None, (group.description, f"({group.text})"))),
        tags=group.tags,
        samples=None,
        bytes=None,
        cached="-",
        state="-",
    )


def _data(spec: DatasetSpec, state: DatasetState, splits: Sequence[str]) -> dict[str, Any]:
    data = data_of(spec)
    words = {
        "license": None if spec.license is None else str(spec.license),
        "access": None if spec.access is None else str(spec.access),
    }
    return {**{key: data[key] for key in _KEYS}, **words, "splits": splits, **data_of(state)}


def _print(rows: Sequence[Row], summary: str) -> None:
    if not sys.stdout.isatty():
        print_table(HEADERS, [plain_cells(row) for row in rows])
        sys.stdout.flush()  # a reader that has exited, such as `head`, wants no count
        print_line(summary, err=True)
        return
    lines = list(terminal_lines(rows, sys.stdout)) if rows else []
    page("\n".join([*lines, summary, ""]))


def _summary(rows: Sequence[Row], total: int) -> str:
    """Return how many datasets are shown, cached, and in each state."""
    shown = f"{len(rows):,} of {count_text(total, 'dataset')}"
    count = shown if len(rows) < total else count_text(total, "dataset")
    states = Counter(row.state for row in rows)
    parts = [f"{sum(row.cached == 'yes' for row in rows):,} cached"]
    parts += [f"{states[one]:,} {one}" for one in get_args(State) if states[one]]
    if stale := states["stale"]:
        parts.append(f"{stale:,} with a stale pin (registry lock)")
    if newer := states["newer"]:
        parts.append(f"{newer:,} with a pin of a newer release (upgrade eval-registry)")
    return f"{count}: {', '.join(parts)}" if rows else f"no dataset matches (of {total:,})"


class Row(Struct, frozen=True, kw_only=True):
    """A dataset with its state."""

    name: str
    description: str
    tags: tuple[str, ...]
    samples: int | None
    bytes: int | None
    cached: str
    """yes, no, or ? if only reading large files would tell."""
    state: str
    """As of `DatasetState`; stale: locked for an older manifest; newer: by a newer release."""


def plain_cells(row: Row) -> tuple[str, ...]:
    """Return the complete values; `-` is unknown or empty, so that each line has all columns."""
    samples = "" if row.samples is None else str(row.samples)
    size = "" if row.bytes is None else str(row.bytes)
    values = (row.name, samples, size, row.cached, row.state, ",".join(row.tags), row.description)
    return tuple(value or "-" for value in values)


def terminal_lines(rows: Sequence[Row], stream: TextIO) -> Iterator[str]:
    """Yield the lines of a table in the width of a terminal.

    The description is beside the other columns where there is room for it, else below them.
    """
    width = columns_of(stream)
    short = [_short(row) for row in rows]
    columns = Columns.of([HEADERS[:5], *short], right=(1, 2), width=width)
    left = columns.total + _GAP
    is_beside = width - left >= _LEAST
    *above, title = columns.lines(HEADERS[:5], width=width)
    title += f"{'':{_GAP}}{HEADERS[-1]}" if is_beside else ""
    yield from (paint(line.rstrip(), stream, bold=True) for line in (*above, title))
    for row, values in zip(rows, short, strict=True):
        *above, plain = columns.lines(values, width=width)
        yield from above
        line = paint_word(plain, row.state, stream)
        text = escape_control(" ".join([row.description, *(f"#{tag}" for tag in row.tags)]).strip())
        if is_beside:
            first, *more = wrap(text, width - left)
            yield f"{line}{'':{_GAP}}{first}".rstrip()
            yield from (f"{'':{left}}{part}" for part in more)
            continue
        yield line.rstrip()
        for part in wrap(text, width - _INDENT) if text else ():
            yield " " * _INDENT + paint(part, stream, dim=True)


def _short(row: Row) -> tuple[str, ...]:
    samples = "" if row.samples is None else f"{row.samples:,}"
    cached = row.cached.replace("no", "-")
    return escape_control(row.name), samples, size_text(row.bytes), cached, row.state
