"""The list of datasets as the files are now: a page at once, what needs all datasets later.

A page of 10,000 datasets must not wait for the state of each, which takes seconds. Only the search
and the numbers above the list need them all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from registry import Catalog, ManifestError
from registry.api import Cache, FileState, Settings
from registry.plugins.site.home_page import (
    ROWS_PER_PAGE,
    ListFrame,
    ListRow,
    frequent_tags,
    list_file,
    list_item,
    list_page,
    list_row,
    list_summary,
)
from registry.plugins.site.search_index import search_script
from registry.plugins.site.views.catalog_view import CatalogView, site_names

__all__ = ["SEARCH_FILE", "LiveList", "open_leniently"]

SEARCH_FILE = "search/0.js"


def open_leniently(settings: Settings) -> Catalog:
    """Open a catalog; if its index is invalid, with its problems and what can be read."""
    try:
        return Catalog.open(settings=settings)
    except ManifestError:
        return Catalog.open(settings=settings, lenient=True)


class LiveList:
    """The pages of the list, and the rows of all datasets for one state of the files."""

    def __init__(self, settings: Settings, open_catalog: Callable[[], Catalog]) -> None:
        self._settings = settings
        self._open_catalog = open_catalog
        self._rows: tuple[str, Sequence[ListRow]] | None = None
        self._making = threading.Lock()
        self._wanted = ""
        self._stopped = False

    def page(self, file: str, state: str, *, scripts: Sequence[str], policy: str) -> str | None:
        """Return a page, or None if there is no such page."""
        catalog = self._open_catalog()
        names = site_names(sorted(catalog))
        pages = max(1, -(-len(names) // ROWS_PER_PAGE))
        number = next((one for one in range(pages) if list_file(one) == file), None)
        if number is None:
            return None
        view = self._view(catalog, names)
        chosen = names[number * ROWS_PER_PAGE : (number + 1) * ROWS_PER_PAGE]
        rows = [list_row(view.summary(name)) for name in chosen]
        counted = rows if pages == 1 else self._known_rows(self._key(state))
        frame = ListFrame(
            title=self._settings.index.parent.name or "Datasets",
            pages=pages,
            summary=list_summary(len(names), counted),
            chunks=1,
            tags=() if number else frequent_tags(map(catalog.tags_of, names)),
            problems=[view.paths.shorten(str(one)) for one in catalog.unread_problems()],
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
            catalog = self._open_catalog()
            view = self._view(catalog, site_names(sorted(catalog)))
            rows = []
            for name in view.names:
                if self._stopped:
                    return ()
                if self._wanted != key:
                    return None
                rows.append(list_row(view.summary(name)))
            self._rows = key, rows
            return rows

    def _known_rows(self, key: str) -> Sequence[ListRow] | None:
        known = self._rows  # read once: another thread may replace it
        return known[1] if known is not None and known[0] == key else None

    def _key(self, state: str) -> str:
        """Return the state of the files, and of the cache, in which any dataset may be built."""
        samples = Cache(self._settings.cache_dir).versioned / "samples"
        return f"{state} {FileState.or_absent(samples)}"

    def _view(self, catalog: Catalog, names: tuple[str, ...]) -> CatalogView:
        return CatalogView(catalog, Cache(self._settings.cache_dir), self._settings, names)
