"""What the pages show of a catalog: specs, pins, and the samples that are cached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from registry import Catalog, ManifestError, RegistryError
from registry.api import (
    Cache,
    CachedPins,
    DatasetSpec,
    PinnedSources,
    PinOrigins,
    Problem,
    Settings,
    cached_property,
    display_path,
    find_fingerprint,
    name_fault,
    parents_of,
    pin_sources,
)
from registry.plugins.site.views.cached_samples import SampleSource, sample_count, warnings_of
from registry.plugins.site.views.dataset_view import DatasetView
from registry.plugins.site.views.lineage import Family, children_of, family_of
from registry.plugins.site.views.manifest_view import ShownPaths, column_names, described, pin_rows

__all__ = ["CatalogView", "is_about", "site_names"]


def site_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that can be names of files: an invalid manifest may have others."""
    return tuple(name for name in names if not name_fault(name))


@dataclass(frozen=True)
class CatalogView:
    """A catalog as its pages show it; makes no request and builds nothing."""

    catalog: Catalog
    cache: Cache
    settings: Settings
    names: tuple[str, ...]
    """The datasets that have a page."""
    most: int = 20
    """How many samples of a dataset are shown at most."""
    failures: Mapping[str, RegistryError] = field(default_factory=dict)
    """Datasets that could not be built, and why."""
    previews: bool = False
    """Whether to map the first records of local files whose samples are not cached."""

    def summary(self, name: str) -> DatasetView:
        """Return what the list shows of a dataset; none of its samples is read."""
        view = DatasetView(name=name)
        try:
            spec = self.catalog[name]
            lock = self._lock(spec)
            _, entry = find_fingerprint(spec, self.cache, lock, boundary=self.catalog.boundary)
        except RegistryError as error:
            text = self.paths.shorten(str(error))
            return replace(view, problems=(text,), is_blocked=self._is_blocked(name, error))
        return replace(
            view,
            description=spec.description or "",
            license=spec.license or "",
            tags=tuple(map(str, spec.tags)),
            columns=column_names(spec, self._pins.get(name)),
            is_pinned=self._pins.get(name) is not None,
            samples=None if entry is None else (),
            total=None if entry is None else sample_count(entry, spec),
            warnings=() if entry is None else warnings_of(spec, entry),
        )

    def dataset(self, name: str, *, first: int = 1) -> DatasetView:
        """Return what the pages of a dataset show, with samples from the given number on.

        If it can't be used, the view has its problems.
        """
        view = DatasetView(
            name=name, family=self._family(name), facts=(("Defined in", self._place(name)),)
        )
        try:
            spec = self.catalog[name]
            pin = self._pins.get(name)
            view = described(view, spec, self.catalog.entries, pin, self.paths)
            if pin is not None:
                rows = pin_rows(self._pin_origins.of(name), self.paths)
                view = replace(view, pin=rows, is_pinned=True)
            with self.catalog.locating(name):
                if name in self.failures:
                    raise self.failures[name]
                return self._with_samples(view, spec, first)
        except RegistryError as error:
            failure = error
        texts = tuple(map(self.paths.shorten, _texts(name, failure)))
        return replace(view, problems=texts, is_blocked=self._is_blocked(name, failure))

    @cached_property
    def paths(self) -> ShownPaths:
        """Paths as the pages show them."""
        return ShownPaths(self.catalog)

    def _is_blocked(self, name: str, error: RegistryError) -> bool:
        """Return whether a dataset can't be used only because others in its files are invalid."""
        if not isinstance(error, ManifestError):
            return False
        lineage = {entry.name for entry in self.catalog.lineage(name)}
        return all(
            problem.path.startswith("$.datasets.")
            and not any(is_about(problem, one) for one in lineage)
            for problem in error.problems
        )

    def _with_samples(self, view: DatasetView, spec: DatasetSpec, first: int) -> DatasetView:
        source = SampleSource(
            spec=spec,
            catalog=self.catalog,
            cache=self.cache,
            lock=self._lock(spec),
            first=first,
            most=self.most,
        )
        return source.cached(view) or (source.preview(view) if self.previews else view)

    def _lock(self, spec: DatasetSpec) -> PinnedSources | None:
        return pin_sources(
            spec,
            self._pins.get(spec.name),
            locked=self.settings.locked,
            frozen=self.settings.frozen,
        )

    @cached_property
    def _lock_name(self) -> str:
        return display_path(self.settings.lock_file)

    @cached_property
    def _pins(self) -> CachedPins:
        settings = self.settings
        return CachedPins.read(settings.lock_file, settings.cache_dir, shown_as=self._lock_name)

    @cached_property
    def _pin_origins(self) -> PinOrigins:
        return PinOrigins(self.settings.lock_file, shown_as=self._lock_name)

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        parents = parents_of(self.catalog.entries).items()
        return children_of({name: parent for name, parent in parents if name in self._pages})

    def _family(self, name: str) -> Family | None:
        ancestors = [entry.name for entry in self.catalog.lineage(name)][1:]
        return family_of(name, ancestors, self._children, pages=self._pages)

    @cached_property
    def _pages(self) -> frozenset[str]:
        return frozenset(self.names)

    def _place(self, name: str) -> str:
        document = self.catalog.entries[name].document
        line = document.position(("datasets", name)).line
        return self.paths.shorten(f"{document.file}:{line}")


def _texts(name: str, error: RegistryError) -> tuple[str, ...]:
    """Return why a dataset can't be used, a text per problem."""
    if not isinstance(error, ManifestError):
        text = str(error)
        return (text if text.startswith(f"{name}: ") else f"{name}: {text}",)
    # An invalid file is a problem of all its datasets: first what is about this one.
    return tuple(map(str, sorted(error.problems, key=lambda one: not is_about(one, name))))


def is_about(problem: Problem, name: str) -> bool:
    """Return whether a problem is one of a dataset itself."""
    own = f"$.datasets.{name}"
    return problem.path.startswith(own) and problem.path[len(own) :][:1] in ("", ".", "[")
