"""The page of one dataset, and its table as scripts.

Pages of file:// can read scripts, but no data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from registry.api import count_text, file_stem
from registry.plugins.site.about import About
from registry.plugins.site.compare_page import compare_file, compare_pages
from registry.plugins.site.dataset_view import DatasetView, SpecRow
from registry.plugins.site.environment import LINKED_POLICY, fitting, html_size, linked_page
from registry.plugins.site.sample_pages import (
    SamplePage,
    linked_pages,
    sample_articles,
    sample_file,
    sample_pages,
)
from registry.plugins.site.sample_table import SampleTable

__all__ = [
    "Snippet",
    "dataset_page",
    "dataset_pages",
    "fitting_table",
    "snippets",
    "table_file",
    "table_scripts",
]


_ROWS_SIZE = 22_000
"""Bytes that the specification, or the pin, takes at most."""
_ROW_SIZE = 200
"""Bytes of the markup of a row, at most."""


@dataclass(frozen=True, kw_only=True)
class Snippet:
    """Code to copy."""

    title: str
    code: str


def dataset_pages(view: DatasetView, about: About | None = None) -> Iterator[tuple[str, str]]:
    """Yield the files of a dataset with their texts: its page, further samples, its table."""
    articles = sample_articles(view.samples or (), view.records, view.reports, is_code=view.is_code)
    shown = len(view.samples or ())
    for part in linked_pages(sample_pages(articles)):
        text = dataset_page(view, part, shown=shown, about=about)
        yield sample_file(view.name, part.first), text
    if view.table is not None:
        for number, script in enumerate(table_scripts(view.table)):
            yield table_file(view.name, number), script
    for comparison in view.comparisons:
        if comparison.compared is not None:
            yield from compare_pages(comparison)


def dataset_page(
    view: DatasetView,
    part: SamplePage,
    *,
    shown: int,
    scripts: Iterable[str] = ("dataset.js", "explore.js"),
    policy: str = LINKED_POLICY,
    asks_server: bool = False,
    about: About | None = None,
) -> str:
    """Return a page of a dataset, which lies in a folder beside those of the others.

    Args:
        view: The dataset.
        part: The samples on the page; only the page of the first ones has all the rest.
        shown: How many samples are on any page.
        scripts: Names of scripts.
        policy: The Content-Security-Policy.
        about: The catalog, whose repository has the lines of the manifest.
        asks_server: Whether a server has the table, and not scripts beside the page.
    """
    page: dict[str, Any] = {
        "base": "../",
        "scripts": tuple(scripts),
        "policy": policy,
        "view": view,
        "part": part,
        "shown": shown,
        "asks_server": asks_server,
        "position": part.position(view.total, shown),
        "previous": _link(view.name, part.previous),
        "following": _link(view.name, part.following),
        "jumps": [(one, _link(view.name, one)) for one in part.jumps],
    }
    if part.first > 1 or part.is_whole:
        return linked_page("samples.html", **page)
    spec, spec_note = _rows(view.spec)
    defaults, defaults_note = _rows(view.defaults)
    pin, pin_note = _rows(view.pin)
    return linked_page(
        "dataset.html",
        **page,
        snippets=snippets(view.name),
        comparisons=[
            (one.title, f"../{compare_file(one.left, one.right)}") for one in view.comparisons
        ],
        repository=about,
        has_table=(asks_server and view.samples is not None) or view.table is not None,
        spec=spec,
        pin=pin,
        spec_note=spec_note,
        defaults=defaults,
        defaults_note=defaults_note,
        pin_note=pin_note,
    )


def _link(name: str, first: int) -> str:
    return f"../{sample_file(name, first)}" if first else ""


def _rows(rows: tuple[SpecRow, ...]) -> tuple[tuple[SpecRow, ...], str]:
    """Return the first rows, as many as there is room for, and a note of how many are left out."""
    shown = tuple(fitting(rows, _ROWS_SIZE, _row_size))
    more = len(rows) - len(shown)
    note = f"{count_text(more, 'more value')} of {len(rows):,} not shown" if more else ""
    return shown, note


def _row_size(row: SpecRow) -> int:
    return _ROW_SIZE + sum(map(html_size, (row.key, row.value, row.layer, row.place)))


def snippets(name: str) -> tuple[Snippet, ...]:
    """Return code that uses a dataset."""
    return (
        Snippet(
            title="Python",
            code=f'from registry import get_dataset\n\ndataset = get_dataset("{name}")',
        ),
        Snippet(
            title="Inspect AI",
            code=f"inspect eval registry/dataset -T name={name} --model openai/gpt-4o-mini",
        ),
        Snippet(
            title="Inspect AI, in a task",
            code="from inspect_ai import Task\nfrom registry.inspect import get_dataset\n\n"
            f'task = Task(dataset=get_dataset("{name}"))',
        ),
        Snippet(title="Command line", code=f"registry sync {name}\nregistry preview {name}"),
    )


_FIRST_SIZE, _PART_SIZE = 40_000, 400_000
"""Bytes of the samples in the first script, which each visitor loads, and in each other."""
_CELL_TEXT = 20_000
_encode = msgspec.json.Encoder().encode


def table_file(name: str, part: int) -> str:
    """Return the file of a part of the table of a dataset."""
    return f"tables/{file_stem(name)}@{part}.js"


def fitting_table(table: SampleTable, most: int) -> SampleTable:
    """Return as many of the first samples as their scripts have room for in so many bytes."""
    rows = 0
    while rows < table.rows:
        most -= len(_encode(table.cells(rows, _CELL_TEXT))) + 4 * len(table.columns)
        if most < 0:
            break
        rows += 1
    return table.first(rows)


def table_scripts(table: SampleTable) -> Iterator[str]:
    """Yield the scripts of a table; the first one has its columns and groups, too."""
    parts = [_script(rows) for rows in _parts(table)]
    head = _encode(table.head() | {"parts": len(parts)}).decode()
    for number, part in enumerate(parts):
        yield part if number else f"registryTable({head});\n{part}"


def _script(rows: list[bytes]) -> str:
    lines = b",\n".join(rows).decode()
    return f"registryPart([\n{lines}\n]);\n"


def _parts(table: SampleTable) -> Iterator[list[bytes]]:
    """Yield the rows of each part as JSON: the cells, and the group of each facet."""
    part: list[bytes] = []
    left = _FIRST_SIZE
    codes = [facet.codes.tolist() for facet in table.facets]
    for place in range(table.rows):
        row = _encode([table.cells(place, _CELL_TEXT), [one[place] for one in codes]])
        if part and len(row) > left:
            yield part
            part, left = [], _PART_SIZE
        part.append(row)
        left -= len(row)
    yield part
