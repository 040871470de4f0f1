"""The list of datasets: the first page, with the search, and those that continue it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from markupsafe import Markup

from registry.api import count_text
from registry.plugins.site.about import About
from registry.plugins.site.dataset_view import DatasetView
from registry.plugins.site.environment import (
    LINKED_POLICY,
    fitting,
    html_size,
    linked_page,
    render,
    search_word,
    start_of,
    visible,
)

__all__ = [
    "ROWS_PER_PAGE",
    "ListFrame",
    "ListRow",
    "folded",
    "frequent_tags",
    "list_file",
    "list_filters",
    "list_item",
    "list_page",
    "list_pages",
    "list_row",
    "list_summary",
    "search_chunks",
    "search_script",
    "unfolded",
]


ROWS_PER_PAGE = 200
_LIST_SIZE = 180_000
"""Bytes of HTML that the rows of a page take at most."""
_MOST_PROBLEMS, _MOST_GROUPS = 20, 100
_TAGS_SIZE, _TAG_SIZE = 70_000, 80
"""Bytes of HTML that all tags take at most, and that the markup of one takes."""
_MOST_MEMBERS, _MOST_VALUES = 200, 40
_OPEN_TAGS = 12
"""Tags that are seen at once: about a line on a wide screen."""

_CHUNK_SIZE = 250_000


@dataclass(frozen=True, kw_only=True)
class ListRow:
    """A dataset in the list and in the search; its texts are short."""

    name: str
    description: str = ""
    tags: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    license: str = ""
    samples: int | None = None
    """How many samples it has, or how many are pinned or expected."""
    states: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    source: str = ""
    lock: str = ""
    changed: str = ""
    """The day on which its file was changed."""
    family: str = ""
    """The dataset below which it is folded."""
    members: tuple[ListRow, ...] = ()
    """Those that are folded below it."""


@dataclass(frozen=True, kw_only=True)
class ListFrame:
    """What the pages of the list show besides their datasets."""

    about: About
    pages: int
    """How many pages there are."""
    summary: str
    chunks: int
    """How many scripts have the rows for the search."""
    tags: Sequence[tuple[str, int]] = ()
    filters: Sequence[tuple[str, str, Sequence[tuple[str, int]]]] = ()
    """Other facets: what they are, the key in the search, and the values with their numbers."""
    problems: Sequence[str] = ()
    groups: Sequence[tuple[str, str]] = ()


def list_row(view: DatasetView, changes: Mapping[str, str] | None = None) -> ListRow:
    """Return the row of a dataset; `changes` has the days of the manifests."""
    return ListRow(
        name=view.name,
        description=start_of(view.description, 300),
        tags=tuple(map(start_of, view.tags[:20])),
        languages=view.languages,
        license=start_of(view.license),
        samples=view.expected if view.total is None else view.total,
        states=view.states,
        columns=tuple(map(start_of, view.columns[:60])),
        source=view.source,
        lock=view.lock,
        changed=(changes or {}).get(view.file, ""),
    )


def folded(rows: Iterable[ListRow], families: Iterable[tuple[str, Sequence[str]]]) -> list[ListRow]:
    """Return the rows of the list, with those of their families in them."""
    by_name = {row.name: row for row in rows}
    return [
        replace(by_name[name], members=tuple(by_name[one] for one in members))
        for name, members in families
    ]


def unfolded(rows: Iterable[ListRow]) -> Iterator[ListRow]:
    """Yield all rows, each with the name of what it is folded below."""
    for row in rows:
        yield row
        for one in row.members:
            yield replace(one, family=row.name)


def list_summary(total: int, rows: Iterable[ListRow] | None) -> str:
    """Return how many datasets there are, and in which states; None means that is not known yet."""
    counted = count_text(total, "dataset")
    if rows is None:
        return counted
    states = Counter(state for row in rows for state in row.states)
    text = f"{counted}, {states['cached']:,} with samples, {states['pinned']:,} pinned"
    return f"{text}, {states['broken']:,} broken" if states["broken"] else text


def list_filters(rows: Sequence[ListRow]) -> list[tuple[str, str, list[tuple[str, int]]]]:
    """Return the facets of the list besides the tags; those with one value tell nothing."""
    facets = (
        ("License", "license", [row.license or "none" for row in rows]),
        ("Language", "language", [language for row in rows for language in row.languages]),
        ("Source", "source", [row.source for row in rows]),
        ("Lock", "lock", [row.lock for row in rows]),
        ("State", "is", [state for row in rows for state in row.states]),
    )
    counted = ((title, key, _counted(filter(None, values))) for title, key, values in facets)
    return [
        (title, key, counts.most_common(_MOST_VALUES))
        for title, key, counts in counted
        if len(counts) > 1 or (counts and key == "is")
    ]


def _counted(values: Iterable[str]) -> Counter[str]:
    """Return the numbers of values; those that differ in case count as the most frequent one."""
    total: Counter[str] = Counter()
    names: dict[str, str] = {}
    for value, count in Counter(values).most_common():
        total[names.setdefault(value.casefold(), value)] += count
    return total


def frequent_tags(tags: Iterable[Iterable[str]]) -> list[tuple[str, int]]:
    """Return the tags, from those of each dataset, with their numbers; the most frequent first."""
    counts = Counter(start_of(tag) for several in tags for tag in several)
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def list_pages(
    rows: Sequence[ListRow],
    *,
    about: About,
    chunks: int,
    problems: Sequence[str] = (),
    groups: Sequence[tuple[str, str]] = (),
) -> Iterator[tuple[str, str]]:
    """Yield the file and the text of each page of the list.

    Args:
        rows: The datasets, sorted; those of a family in one.
        about: What the catalog says of itself.
        chunks: How many scripts have the rows for the search.
        problems: Those of files that define no dataset.
        groups: The groups, with what they are.
    """
    parts = list(_parts(rows)) or [[]]
    every = list(unfolded(rows))
    frame = ListFrame(
        about=about,
        pages=len(parts),
        summary=list_summary(len(every), every),
        chunks=chunks,
        tags=frequent_tags(row.tags for row in every),
        filters=list_filters(every),
        problems=problems,
        groups=groups,
    )
    for number, items in enumerate(parts):
        yield list_file(number), list_page(items, number, frame)


def list_page(
    items: Sequence[Markup],
    number: int,
    frame: ListFrame,
    *,
    scripts: Iterable[str] = ("search.js",),
    policy: str = LINKED_POLICY,
) -> str:
    """Return a page of the list; the first has number 0.

    Args:
        items: Its datasets, as of `list_item`.
        number: Its number.
        frame: What is not about single datasets.
        scripts: Scripts of the first page.
        policy: The Content-Security-Policy.
    """
    tags = list(fitting(frame.tags, _TAGS_SIZE, _tag_size))
    return linked_page(
        "home.html",
        base=_base(number),
        scripts=() if number else tuple(scripts),
        policy=policy,
        number=number,
        items=items,
        frame=frame,
        tags=tags[:_OPEN_TAGS],
        folded_tags=tags[_OPEN_TAGS:],
        more_tags=len(frame.tags) - len(tags),
        pages=[list_file(one) for one in range(frame.pages)],
        problems=frame.problems[:_MOST_PROBLEMS],
        more_problems=len(frame.problems) - _MOST_PROBLEMS,
        groups=frame.groups[:_MOST_GROUPS],
        more_groups=len(frame.groups) - _MOST_GROUPS,
    )


def list_item(row: ListRow, number: int) -> Markup:
    """Return a dataset as HTML, for the page with a number."""
    more = len(row.members) - _MOST_MEMBERS
    return render("result.html", row=row, base=_base(number), most=_MOST_MEMBERS, more=more)


def list_file(number: int) -> str:
    """Return the file of the page with a number."""
    return f"list/{number + 1}.html" if number else "index.html"


def _tag_size(counted: tuple[str, int]) -> int:
    """Return the bytes of a tag in a page: its text, and a link with it."""
    tag, _ = counted
    return _TAG_SIZE + html_size(tag) + len(quote(search_word(tag)))


def _base(number: int) -> str:
    return "../" if number else ""


def _parts(rows: Iterable[ListRow]) -> Iterator[list[Markup]]:
    """Yield the rows of each page, as HTML."""
    part: list[Markup] = []
    number, left = 0, _LIST_SIZE
    for row in rows:
        item = list_item(row, number)
        if part and (len(part) == ROWS_PER_PAGE or len(item.encode()) > left):
            yield part
            part, number, left = [], number + 1, _LIST_SIZE
            item = list_item(row, number)
        part.append(item)
        left -= len(item.encode())
    if part:
        yield part


def search_chunks(rows: Iterable[ListRow]) -> Iterator[str]:
    """Yield scripts that give `search.js` its rows, each of limited size."""
    lines: list[str] = []
    size = 0
    for row in rows:
        line = _line(row)
        if lines and size + len(line) > _CHUNK_SIZE:
            yield _script(lines)
            lines, size = [], 0
        lines.append(line)
        size += len(line) + 2
    if lines:
        yield _script(lines)


def search_script(rows: Iterable[ListRow]) -> str:
    """Return one script with all rows, for a page that is made on this machine."""
    return _script(list(map(_line, rows)))


def _script(lines: list[str]) -> str:
    return "registryRows([\n" + ",\n".join(lines) + "\n]);\n"


def _line(row: ListRow) -> str:
    """Return a row as JSON in ASCII, which is JavaScript too."""
    values = [
        row.name,
        visible(row.description),
        [visible(tag) for tag in row.tags],
        visible(row.license),
        row.samples,
        row.states,
        [visible(column) for column in row.columns],
        row.source,
        row.lock,
        row.changed,
        row.family,
        row.languages,
    ]
    return json.dumps(values, separators=(",", ":")).replace("<", "\\u003c")
