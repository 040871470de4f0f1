"""A catalog as its files are now: its pages, and a state that changes with them."""

from __future__ import annotations

import io
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlencode

from registry import Catalog, RegistryError
from registry.api import (
    Cache,
    Compared,
    FileState,
    OpenCatalog,
    Settings,
    cached_property,
    digest_of,
    display_path,
    full_lines,
    name_fault,
)
from registry.plugins.site.about import about
from registry.plugins.site.catalog_view import CatalogView, Kept, is_about, site_names
from registry.plugins.site.compare_page import Comparison, Side, compare_page
from registry.plugins.site.dataset_page import dataset_page
from registry.plugins.site.dataset_view import DatasetView
from registry.plugins.site.environment import LINKED_POLICY
from registry.plugins.site.home_page import (
    ROWS_PER_PAGE,
    ListFrame,
    ListRow,
    folded,
    frequent_tags,
    list_file,
    list_filters,
    list_item,
    list_page,
    list_row,
    list_summary,
    search_script,
    unfolded,
)
from registry.plugins.site.sample_pages import (
    SAMPLES_PER_PAGE,
    SamplePage,
    page_start,
    sample_articles,
    sample_page,
)
from registry.plugins.site.sample_table import SampleTable

__all__ = ["POLICY", "SEARCH_FILE", "LiveCatalog", "LiveList"]


POLICY = LINKED_POLICY.replace("form-action 'none'", "form-action 'self'") + "; connect-src 'self'"
"""That of the pages, which may also listen for changes, and ask this server alone by a form."""
SEARCH_FILE = "search/0.js"

_MOST_REMEMBERED = 16
_MOST_TABLES = 2


class LiveList:
    """The pages of the list, and the rows of all datasets for one state of the files.

    A page of 10,000 datasets must not wait for the state of each, which takes seconds. Only the
    search and the numbers above the list need them all.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._rows: tuple[str, Sequence[ListRow]] | None = None
        self._making = threading.Lock()
        self._wanted = ""
        self._stopped = False

    def page(self, file: str, state: str, *, scripts: Sequence[str], policy: str) -> str | None:
        """Return a page, or None if there is no such page."""
        opened = OpenCatalog.of(self._settings, lenient=True)
        catalog, names = opened.catalog, site_names(sorted(opened.catalog))
        view = CatalogView(opened, names)
        families = list(view.families())
        pages = max(1, -(-len(families) // ROWS_PER_PAGE))
        number = next((one for one in range(pages) if list_file(one) == file), None)
        if number is None:
            return None
        chosen = families[number * ROWS_PER_PAGE : (number + 1) * ROWS_PER_PAGE]
        made = [list_row(view.summary(name), view.about.changes) for name, _ in chosen]
        is_complete = len(made) == len(names)
        counted = made if is_complete else self._known_rows(self._key(state))
        # Of a large family, the names are enough.
        known = counted or [ListRow(name=one) for _, members in chosen for one in members]
        rows = folded([*known, *made], chosen)
        frame = ListFrame(
            about=view.about,
            pages=pages,
            summary=list_summary(len(names), counted),
            chunks=1,
            tags=() if number else frequent_tags(map(catalog.tags_of, names)),
            filters=() if number or counted is None else list_filters(counted),
            problems=[view.paths.shorten(str(one)) for one in catalog.unread_problems()],
            groups=view.groups,
        )
        items = [list_item(row, number) for row in rows]
        return list_page(items, number, frame, scripts=scripts, policy=policy)

    def search(self, state: str) -> str | None:
        """Return the script of the search; None if another state is asked for meanwhile."""
        rows = self._all_rows(state)
        return None if rows is None else search_script(rows)

    def summary(self, state: str) -> str | None:
        """Return the line above the list; None if another state is asked for meanwhile."""
        rows = self._all_rows(state)
        return None if rows is None else list_summary(len(rows), rows)

    def stop(self) -> None:
        """End what other threads do, with no rows."""
        self._stopped = True

    def _all_rows(self, state: str) -> Sequence[ListRow] | None:
        """Return the rows of all datasets, which are made once for a state."""
        self._wanted = key = self._key(state)
        with self._making:
            if (known := self._known_rows(key)) is not None:
                return known
            opened = OpenCatalog.of(self._settings, lenient=True)
            view = CatalogView(opened, site_names(sorted(opened.catalog)))
            made = []
            for name in view.names:
                if self._stopped:
                    return ()
                if self._wanted != key:
                    return None
                made.append(list_row(view.summary(name), view.about.changes))
            rows = list(unfolded(folded(made, view.families())))
            self._rows = key, rows
            return rows

    def _known_rows(self, key: str) -> Sequence[ListRow] | None:
        known = self._rows  # read once: another thread may replace it
        return known[1] if known is not None and known[0] == key else None

    def _key(self, state: str) -> str:
        """Return the state of the files, and of the cache, in which any dataset may be built."""
        samples = Cache(self._settings.cache_dir).versioned / "samples"
        return f"{state} {FileState.or_absent(samples)}"


class _Page(NamedTuple):
    view: DatasetView
    part: SamplePage
    shown: int

    def like(self, last: _Page | None) -> _Page:
        """Return what was last shown, with the problems of this page."""
        if last is None:
            return self
        own = self.view
        view = replace(
            last.view,
            problems=own.problems,
            is_blocked=own.is_blocked,
            excerpt=own.excerpt,
            is_last=True,
        )
        return last._replace(view=view)


@dataclass
class LiveCatalog:
    """The pages of a catalog, made when they are asked for."""

    settings: Settings
    build: bool = False
    """Whether to build a dataset that is not cached when its page is asked for."""

    def state(self, name: str = "") -> str:
        """Return a text that changes with the page of a dataset, or of the list without a name."""
        opened = OpenCatalog.of(self.settings, lenient=True)
        catalog = opened.catalog
        files = catalog.content or _file_states(catalog)
        problems = [str(problem) for problem in catalog.problems]
        lock = repr(FileState.or_absent(self.settings.lock_file))
        samples = _samples_state(opened, name) if name in catalog else []
        return digest_of([files, problems, lock, samples])

    def dataset_page(self, name: str, first: int = 1, *, is_whole: bool = False) -> str | None:
        """Return the page of a dataset that begins with a sample, or None if there is none.

        `is_whole` means the page of this sample alone, of which nothing is cut.
        """
        # Before its files are read: what changes after that changes the state, too.
        state = self.state(name)
        opened = OpenCatalog.of(self.settings, lenient=True)
        catalog = opened.catalog
        page = (
            self._readable(opened, name, first, is_whole=is_whole)
            if name in site_names(catalog)
            else _unreadable(opened, name)
        )
        if page is None:
            return None
        if page.view.is_blocked or name not in catalog:
            page = page.like(self._last.known((name, first)))
        elif not (page.view.problems or is_whole):
            self._last.keep((name, first), page)
        return dataset_page(
            page.view,
            page.part,
            shown=page.shown,
            scripts=("dataset.js", "ask.js", "explore.js", _live_script(state, name)),
            policy=POLICY,
            asks_server=True,
            about=about(catalog),
        )

    def compare_page(self, left: str, right: str, first: int = 1) -> str:
        """Return the page that shows two datasets beside each other, from a sample on."""
        opened = OpenCatalog.of(self.settings, lenient=True)
        sides = Side.of(left), Side.of(right)
        found = Comparison(left=sides[0], right=sides[1])
        if all(one.name for one in sides):
            failures: dict[str, RegistryError] = {}
            for side in sides if self.build else ():
                failures |= _build(opened, side.name, is_original=side.is_original)
            found = self._view_of(opened, failures=failures).compared(*sides)
        part = SamplePage()
        if found.places:
            articles = found.articles(page_start(first))
            part = sample_page(articles, first=first, known=len(found.places))
        return compare_page(found, part, policy=POLICY, names=site_names(sorted(opened.catalog)))

    def table(self, name: str) -> SampleTable | None:
        """Return all samples of a dataset, or of a preview of it; None if there are none."""
        opened = OpenCatalog.of(self.settings, lenient=True)
        return self._view_of(opened).table(name) if name in site_names(opened.catalog) else None

    def _view_of(
        self,
        opened: OpenCatalog,
        most: int = SAMPLES_PER_PAGE,
        failures: Mapping[str, RegistryError] | None = None,
    ) -> CatalogView:
        return CatalogView(
            opened,
            site_names(sorted(opened.catalog)),
            most,
            failures or {},
            tables=self._tables,
            comparisons=self._comparisons,
            is_local=True,
        )

    @cached_property
    def _tables(self) -> Kept[SampleTable]:
        return Kept(_MOST_TABLES)

    @cached_property
    def _comparisons(self) -> Kept[Compared]:
        return Kept(_MOST_TABLES)

    def _readable(self, opened: OpenCatalog, name: str, first: int, *, is_whole: bool) -> _Page:
        failures = _build(opened, name) if self.build else {}
        start = first if is_whole else page_start(first)
        # One more than a page has tells whether there is another page.
        most = first - start + SAMPLES_PER_PAGE + 1
        view = self._view_of(opened, most, failures).dataset(name, first=start)
        known = view.first - 1 + len(view.samples or ()) if view.total is None else view.total
        articles = sample_articles(
            view.samples or (),
            view.records,
            view.reports,
            first=start,
            is_code=view.is_code,
            name=name,
            is_whole=is_whole,
        )
        if is_whole:
            one = SamplePage(first=first, articles=tuple(islice(articles, 1)), is_whole=True)
            return _Page(view, one, known)
        return _Page(view, sample_page(articles, first=first, known=known), known)

    @cached_property
    def _last(self) -> Kept[_Page]:
        """The last pages without problems, by dataset and first sample."""
        return Kept(_MOST_REMEMBERED)

    def list_file(self, file: str) -> str | None:
        """Return a page of the list, or the script of its search, or None if there is none."""
        state = self.state()
        if file == SEARCH_FILE:
            while (script := self._list.search(state)) is None:  # another state by now
                state = self.state()
            return script
        scripts = ("search.js", _live_script(state))
        return self._list.page(file, state, scripts=scripts, policy=POLICY)

    def summary(self, state: str) -> str | None:
        """Return how many datasets are in which states; None if the state is another one by now."""
        return self._list.summary(state)

    def stop(self) -> None:
        """End what is still going on in other threads."""
        self._list.stop()

    @cached_property
    def _list(self) -> LiveList:
        return LiveList(self.settings)


def _unreadable(opened: OpenCatalog, name: str) -> _Page | None:
    """Return the page of a dataset that may be where files can't be read; None if all can."""
    problems = opened.catalog.unread_problems()
    problems = [one for one in problems if is_about(one, name)] or problems
    if not problems or name_fault(name):
        return None
    view = CatalogView(opened, (name,))
    lines = "\n".join(full_lines(problems, io.StringIO())).rstrip()
    texts = tuple(view.paths.shorten(str(one)) for one in problems)
    shown = DatasetView(name=name, problems=texts, excerpt=view.paths.shorten(lines))
    return _Page(shown, SamplePage(), 0)


def _samples_state(opened: OpenCatalog, name: str) -> list[object]:
    """Return values that change when the samples of a dataset change, or are cached."""
    try:
        fingerprint, entry = opened.call_of(name).find()
    except RegistryError as error:
        return [str(error)]
    return [fingerprint, entry and entry.meta["fingerprint"]]


def _build(
    opened: OpenCatalog, name: str, *, is_original: bool = False
) -> dict[str, RegistryError]:
    """Build a dataset, or what it was before its corrections; return why it can't be built."""
    try:
        opened.call_of(name, {"corrections": False} if is_original else None).load()
    except RegistryError as error:
        return {name: error}
    return {}


def _live_script(state: str, name: str = "") -> str:
    """Return the script that waits for another state, with what it asks for."""
    return f"live.js?{urlencode({'name': name, 'state': state})}"


def _file_states(catalog: Catalog) -> list[str]:
    """Return the states of all files of a catalog whose content may not be stored."""
    entries = catalog.written
    files = {entry.document.file for entry in entries} | {one.file for one in catalog.problems}
    files |= {display_path(index) for index in (catalog.index, *catalog.indexes)}
    states = (repr(FileState.or_absent(file)) for file in sorted(files))
    return [*states, *sorted(catalog)]
