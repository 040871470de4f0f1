"""A catalog as its files are now: its pages, and a state that changes with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from registry import Catalog, RegistryError
from registry.api import (
    Cache,
    DatasetSpec,
    FileState,
    PinnedSources,
    Settings,
    cached_property,
    digest_of,
    display_path,
    find_fingerprint,
    load,
    pin_of,
    pin_sources,
)
from registry.plugins.browse.gate import POLICY
from registry.plugins.browse.live_list import SEARCH_FILE, LiveList, open_leniently
from registry.plugins.site.dataset_page import dataset_page
from registry.plugins.site.samples.sample_pages import SAMPLES_PER_PAGE, sample_page
from registry.plugins.site.views.catalog_view import CatalogView, site_names

__all__ = ["LiveCatalog"]


@dataclass
class LiveCatalog:
    """The pages of a catalog, made when they are asked for."""

    settings: Settings
    build: bool = False
    """Whether to build a dataset that is not cached when its page is asked for."""

    def state(self, name: str = "") -> str:
        """Return a text that changes with the page of a dataset, or of the list without a name."""
        catalog = self._catalog()
        files = catalog.content or _file_states(catalog)
        problems = [str(problem) for problem in catalog.problems]
        lock = repr(FileState.or_absent(self.settings.lock_file))
        samples = self._samples_state(catalog, name) if name in catalog else []
        return digest_of([files, problems, lock, samples])

    def dataset_page(self, name: str, first: int = 1) -> str | None:
        """Return the page of a dataset that begins with a sample, or None if there is none."""
        # Before its files are read: what changes after that changes the state, too.
        state = self.state(name)
        catalog = self._catalog()
        if name not in site_names(catalog):
            return None
        failures = self._build(catalog, name) if self.build else {}
        names = site_names(sorted(catalog))
        cache = Cache(self.settings.cache_dir)
        start = max(first - SAMPLES_PER_PAGE, 1)
        # One more than a page has tells whether there is another page.
        most = first - start + SAMPLES_PER_PAGE + 1
        catalog_view = CatalogView(
            catalog, cache, self.settings, names, most, failures, previews=True
        )
        view = catalog_view.dataset(name, first=start)
        known = view.first - 1 + len(view.samples or ()) if view.total is None else view.total
        part = sample_page(view.samples or (), view.records, first=first, start=start)
        return dataset_page(
            view,
            replace(
                part,
                following=part.last + 1 if part.last < known else 0,
                starts=range(1, known + 1, SAMPLES_PER_PAGE),
            ),
            shown=known,
            scripts=("dataset.js", _live_script(state, name)),
            policy=POLICY,
        )

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
        return LiveList(self.settings, self._catalog)

    def _catalog(self) -> Catalog:
        return open_leniently(self.settings)

    def _samples_state(self, catalog: Catalog, name: str) -> list[object]:
        """Return values that change when the samples of a dataset change, or are cached."""
        try:
            spec = catalog[name]
            cache = Cache(self.settings.cache_dir)
            fingerprint, entry = find_fingerprint(
                spec, cache, self._pinned(spec), boundary=catalog.boundary
            )
        except RegistryError as error:
            return [str(error)]
        return [fingerprint, entry is None]

    def _build(self, catalog: Catalog, name: str) -> dict[str, RegistryError]:
        """Build a dataset; return the error if it can't be built."""
        try:
            spec = catalog[name]
            load(
                spec,
                Cache(self.settings.cache_dir),
                boundary=catalog.boundary,
                offline=self.settings.offline,
                lock=self._pinned(spec),
            )
        except RegistryError as error:
            return {name: error}
        return {}

    def _pinned(self, spec: DatasetSpec) -> PinnedSources | None:
        pin = pin_of(spec.name, self.settings)
        return pin_sources(spec, pin, locked=self.settings.locked, frozen=self.settings.frozen)


def _live_script(state: str, name: str = "") -> str:
    """Return the script that waits for another state, with what it asks for."""
    return f"live.js?{urlencode({'name': name, 'state': state})}"


def _file_states(catalog: Catalog) -> list[str]:
    """Return the states of all files of a catalog whose content may not be stored."""
    entries = catalog.entries.values()
    files = {entry.document.file for entry in entries} | {one.file for one in catalog.problems}
    files |= {display_path(index) for index in (catalog.index, *catalog.indexes)}
    states = (repr(FileState.or_absent(file)) for file in sorted(files))
    return [*states, *sorted(catalog)]
