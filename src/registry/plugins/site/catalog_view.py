"""What the pages show of a catalog: specs, pins, and the samples that are cached."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from markupsafe import Markup

from registry import (
    Catalog,
    LockError,
    ManifestError,
    MemoryDataset,
    OfflineError,
    RegistryError,
    Sample,
    SourceError,
)
from registry.api import (
    CacheEntry,
    Compared,
    DatasetCall,
    DatasetRecord,
    DatasetSpec,
    OpenCatalog,
    PinOrigins,
    Problem,
    Samples,
    as_mapped,
    cached_property,
    correction_lines,
    corrections_between,
    corrections_of,
    display_path,
    is_within,
    json_path,
    list_names,
    name_fault,
    parents_of,
    preview_records,
    quality_warnings,
    report_rows,
    report_text,
    samples_of,
    svg,
)
from registry.plugins.site.about import About, about
from registry.plugins.site.compare_page import Comparison, Side
from registry.plugins.site.dataset_page import fitting_table
from registry.plugins.site.dataset_view import (
    DatasetView,
    Family,
    PlotView,
    ShownPaths,
    children_of,
    described,
    family_of,
    is_about_code,
    pin_rows,
    summarized,
)
from registry.plugins.site.environment import visible
from registry.plugins.site.manifest_lines import manifest_part
from registry.plugins.site.sample_table import SampleTable

__all__ = ["CatalogView", "Kept", "is_about", "site_names"]


_Value = TypeVar("_Value")

_NAMED = 5
_LAST_RECORD = 5_000
"""A record is found by reading all before it."""
_PREVIEWED = 5_000
"""Records of a preview that are in its table."""
_MOST_PLOTS = 12
_MOST_PARTS, _MANIFEST_SIZE = 4, 24_000
_LEAST_FOLDED = 3
_MOST_COMPARED = 50_000
"""Samples of a side that are compared for a site; it takes seconds."""
_REPORT_TEXT = 2_000
"""Characters of a row that reports a fault; a longer one is printed by a command."""


class Kept(Generic[_Value]):
    """The values that were asked for last, since it takes a second to make a large one."""

    def __init__(self, most: int = 0) -> None:
        self._most = most
        self._values: dict[object, _Value] = {}
        self._making = threading.Lock()

    def get(self, key: object, make: Callable[[], _Value]) -> _Value:
        """Return the value of a key, or make it."""
        if not self._most:
            return make()
        with self._making:  # a page and its table are asked for at once
            value = self._values.get(key) or make()
            self.keep(key, value)
        return value

    def known(self, key: object) -> _Value | None:
        """Return the value of a key, if it is kept."""
        return self._values.get(key)

    def keep(self, key: object, value: _Value) -> None:
        """Keep a value as the last one."""
        self._values.pop(key, None)
        self._values[key] = value
        for oldest in list(self._values)[: -self._most]:
            self._values.pop(oldest, None)  # another thread may be here, too


def site_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that can be names of files: an invalid manifest may have others."""
    return tuple(name for name in names if _is_site_name(*name.split(":")))


def _is_site_name(name: str, split: str = "x", *more: str) -> bool:
    return not (more or name_fault(name) or name_fault(split.lower()))


@dataclass(frozen=True)
class CatalogView:
    """A catalog as its pages show it; makes no request and builds nothing."""

    opened: OpenCatalog
    names: tuple[str, ...]
    """The datasets that have a page."""
    most: int = 20
    """How many samples of a dataset are shown at most."""
    failures: Mapping[str, RegistryError] = field(default_factory=dict)
    """Datasets that could not be built, and why."""
    table_size: int = 0
    """Bytes that the table of a dataset has at most; 0 leaves it out."""
    tables: Kept[SampleTable] = field(default_factory=Kept[SampleTable])
    comparisons: Kept[Compared] = field(default_factory=Kept[Compared])
    is_local: bool = False
    """Whether the reader is on this machine: then files are opened in an editor, the first records
    of local files are mapped where no samples are cached, and a server makes comparisons."""

    @property
    def catalog(self) -> Catalog:
        """The catalog."""
        return self.opened.catalog

    def summary(self, name: str) -> DatasetView:
        """Return what the list shows of a dataset; none of its samples is read."""
        view = DatasetView(name=name, file=self._file(name))
        try:
            asked = self.opened.call_of(name)
            spec, pin, (_, entry) = asked.spec, self.opened.pins.get(name), asked.find()
        except RegistryError as error:
            text = self.paths.shorten(str(error))
            return replace(view, problems=(text,), is_blocked=self._is_blocked(name, error))
        return replace(
            summarized(view, spec, pin),
            is_pinned=pin is not None,
            samples=None if entry is None else (),
            total=None if entry is None else samples_of(spec, None, entry),
            warnings=() if entry is None else _warnings(spec, entry.meta),
        )

    def dataset(self, name: str, *, first: int = 1) -> DatasetView:
        """Return what the pages of a dataset show, with samples from the given number on.

        If it can't be used, the view has its problems.
        """
        view = DatasetView(
            name=name,
            file=self._file(name),
            family=self._family(name),
            facts=tuple(self._known(name)),
        )
        try:
            spec = self.catalog[name]
            pin = self.opened.pins.get(name)
            view = described(view, spec, self.catalog.entries, pin, self.paths)
            if pin is not None:
                origins = self._origins(str(self.opened.pins.lock_file(name)))
                rows = pin_rows(origins.of(name), self.paths)
                view = replace(view, pin=rows, is_pinned=True)
            with self.catalog.locating(name):
                if name in self.failures:
                    raise self.failures[name]
                view = self._with_samples(view, self.opened.call_of(name), first)
                return view if first > 1 else self._with_manifest(view)
        except RegistryError as error:
            failure = error
        texts = tuple(map(self.paths.shorten, _texts(name, failure)))
        return replace(view, problems=texts, is_blocked=self._is_blocked(name, failure))

    def _known(self, name: str) -> Iterator[tuple[str, str]]:
        """Yield what the catalog says of a dataset besides its own keys."""
        document = self.catalog.entries[name].document
        line = document.position(("datasets", name)).line
        yield "Defined in", self.paths.shorten(f"{document.file}:{line}")
        if groups := self._groups.get(name):
            yield "In groups", list_names(groups, _NAMED)
        if former := self.catalog.former(name):
            yield "Was called", list_names(former, _NAMED)

    @property
    def groups(self) -> tuple[tuple[str, str], ...]:
        """The groups, with what they are and their first members."""
        return tuple(
            (one.name, " ".join(filter(None, (one.description, f"({one.text})"))))
            for one in self.catalog.valid_groups()
        )

    @cached_property
    def _groups(self) -> dict[str, list[str]]:
        """The groups that each dataset is in."""
        found: dict[str, list[str]] = {}
        for group in self.catalog.valid_groups():
            for name in group.datasets:
                found.setdefault(name, []).append(group.name)
        return found

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
            problem.path.startswith(("$.datasets.", "$.datasets["))
            and not any(is_about(problem, one) for one in lineage)
            for problem in error.problems
        )

    def _with_samples(self, view: DatasetView, asked: DatasetCall, first: int) -> DatasetView:
        """Add samples of the cache, and plots beside the first ones, or those of a preview."""
        spec, (_, entry) = asked.spec, asked.find()
        if entry is None:
            return self._preview(view, asked, first) if self.is_local else view
        # As stored: a public page must not show paths of this machine.
        dataset = asked.open_found(entry).as_stored()
        view = replace(view, total=len(dataset), warnings=_warnings(spec, entry.meta))
        if self.is_withheld(spec):
            return replace(view, samples=(), is_withheld=True)
        chosen = range(len(dataset))[first - 1 : first - 1 + self.most]
        table = None
        if first == 1:
            table = self._table_of(asked, entry)
        samples = tuple(dataset[chosen.start : chosen.stop])
        numbers = dataset.records_at(chosen)
        return replace(
            view,
            samples=samples,
            first=first,
            records=_records(asked, numbers),
            reports=tuple(_reports(asked, samples, numbers, first)),
            plots=() if table is None else tuple(_plots(table)),
            table=table and self._shown_table(table),
            comparisons=tuple(self._comparisons(spec)) if first == 1 else (),
        )

    def is_withheld(self, spec: DatasetSpec) -> bool:
        """Return whether samples are behind terms that the reader of a page may not accept."""
        # A site is published; who looks at an own catalog on this machine has the data already.
        return not self.is_local and spec.access is not None and spec.access.url is not None

    def _comparisons(self, spec: DatasetSpec) -> Iterator[Comparison]:
        """Yield what the samples of a dataset can be seen beside."""
        name = spec.name
        if spec.corrections is not None:
            yield from self._comparison(Side(name, is_original=True), Side(name))
        base, _, split = name.partition(":")
        _, *others = self.catalog.splits_of(base) or ("",)
        for other in (split,) if split else others:
            # Its page is one of the dataset itself.
            sides = Side(base), Side(f"{base}:{other}")
            yield from self._comparison(*sides, is_made=not split)
        if self.is_local and (parent := [*self.catalog.lineage(name)][1:2]):
            yield Comparison(left=Side(parent[0].name), right=Side(name))

    def _comparison(self, left: Side, right: Side, *, is_made: bool = True) -> Iterator[Comparison]:
        """Yield a comparison: where no server makes it, only if its page can be made."""
        if self.is_local:
            yield Comparison(left=left, right=right)
        elif self.most and {left.name, right.name} <= self._pages:
            found = self.compared(left, right, most=_MOST_COMPARED, is_made=is_made)
            if not found.fault:
                yield replace(found, most=self.most)

    def compared(
        self, left: Side, right: Side, *, most: int | None = None, is_made: bool = True
    ) -> Comparison:
        """Return how the samples of two datasets compare, or why they can't be compared.

        Args:
            left: One of them.
            right: The other one.
            most: How many samples each may have.
            is_made: False to find out only whether they can be compared.
        """
        found = Comparison(left=left, right=right)
        try:
            (key, old), (other_key, new) = self._side(left), self._side(right)
        except RegistryError as error:
            return replace(found, fault=self.paths.shorten(str(error)))
        if most is not None and max(len(old.samples), len(new.samples)) > most:
            return replace(found, fault=f"more than {most:,} samples")
        if not is_made:
            return found
        spec = self.catalog[right.name]
        rows: Iterable[str] = ()
        if left.is_original and left.name == right.name:
            changes = corrections_between(None, corrections_of(spec, self.catalog.boundary))
            rows = correction_lines(changes)

        def make() -> Compared:
            # Two datasets may have no sample in common: to look for similar ones takes a minute.
            return Compared.of(old, new, edited=left.name == right.name)

        return replace(
            found,
            compared=self.comparisons.get((key, other_key), make),
            corrections=tuple(rows),
            is_code=is_about_code(spec.tags),
        )

    def _side(self, side: Side) -> tuple[object, Samples]:
        """Return the samples of a side, and what identifies them.

        Raises:
            RegistryError: it is no dataset, it can't be used, or its samples are not cached.
        """
        if side.name in self.failures:
            raise self.failures[side.name]
        given = {"corrections": False} if side.is_original else {}
        asked = self.opened.call_of(side.name, given)
        spec, (_, entry) = asked.spec, asked.find()
        if side.is_original and not spec.is_original:
            raise RegistryError(f"{side.name}: its manifest has no `corrections`")
        if self.is_withheld(spec):
            raise RegistryError(f"{side.label}: its samples are behind terms")
        if entry is None:
            command = (
                f"compare {side.name} --corrections" if side.is_original else f"sync {side.name}"
            )
            raise RegistryError(f"{side.label}: not cached (`registry {command}` builds it)")
        dataset = asked.open_found(entry).as_stored()
        return _key(asked, entry), Samples(dataset, spec.view.auto_id)

    def _with_manifest(self, view: DatasetView) -> DatasetView:
        """Add the YAML of a dataset and of what it extends."""
        sample = next(iter(view.samples or ()), None)
        entries = list(self.catalog.lineage(view.name))[:_MOST_PARTS]
        size = _MANIFEST_SIZE // len(entries)
        parts = []
        for one in entries:
            path = str(Path(one.document.file).absolute()) if self.is_local else ""
            part = manifest_part(one, self._file(one.name), sample, size)
            is_own = one.folder == self.catalog.index.parent
            parts.append(replace(part, path=path, is_own=is_own))
        return replace(view, manifest=tuple(parts))

    def _shown_table(self, table: SampleTable) -> SampleTable | None:
        """Return what a page without a server has of a table."""
        shown = fitting_table(table, self.table_size) if self.table_size else None
        return shown if shown and shown.rows else None

    def table(self, name: str) -> SampleTable | None:
        """Return the table of a dataset, or of a preview of it; None if it has no samples here."""
        asked = self.opened.call_of(name)
        _, entry = asked.find()
        if entry is not None:
            return self._table_of(asked, entry)
        if not self.is_local or (found := _first_samples(asked, _PREVIEWED)) is None:
            return None
        return SampleTable.of(MemoryDataset([sample for _, sample in found[0]], name=name))

    def _table_of(self, asked: DatasetCall, entry: CacheEntry) -> SampleTable:
        def make() -> SampleTable:
            return SampleTable.of(asked.open_found(entry).as_stored())

        return self.tables.get(_key(asked, entry), make)

    def _preview(self, view: DatasetView, asked: DatasetCall, first: int) -> DatasetView:
        """Add samples made of local files, without the order that the view of the spec has."""
        spec, before = asked.spec, first - 1
        if (found := _first_samples(asked, before + self.most)) is None:
            return view
        pairs, meta = found
        # They are as mapped, and a build may give repeated ids a suffix.
        by_record = spec.view.auto_id or spec.on_duplicate == "suffix"
        return replace(
            view,
            samples=tuple(sample for _, sample in pairs[before:]),
            first=first,
            records=_records(asked, [number for number, _ in pairs[before:]]),
            reports=tuple(
                _if_short(report_text(one, at, auto_id=by_record)) for at, one in pairs[before:]
            ),
            warnings=_warnings(spec, meta),
        )

    @cached_property
    def _origins(self) -> Callable[[str], PinOrigins]:
        return cache(lambda file: PinOrigins(Path(file), shown_as=display_path(Path(file))))

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

    @cached_property
    def about(self) -> About:
        """What the catalog says of itself."""
        return about(self.catalog)

    def families(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each dataset of the list, sorted, with those that are folded below it.

        These are all that extend it, of a family of three or more.
        """
        below = {name: tuple(sorted(self._descendants(name))) for name in self.names}
        folded = {one for names in below.values() if len(names) >= _LEAST_FOLDED for one in names}
        for name in sorted(self.names):
            if name not in folded:
                yield name, below[name] if len(below[name]) >= _LEAST_FOLDED else ()

    def _descendants(self, name: str) -> Iterator[str]:
        seen = {name}
        waiting = list(self._children.get(name, ()))
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                yield one
                waiting += self._children.get(one, ())

    def _file(self, name: str) -> str:
        """Return the manifest that defines a dataset, relative to the index."""
        return self.paths.shorten(self.catalog.entries[name].document.file)


def _key(asked: DatasetCall, entry: CacheEntry) -> object:
    """Return what identifies the samples of a dataset in their order."""
    return entry.meta["fingerprint"], asked.spec.view


def _first_samples(
    asked: DatasetCall, most: int
) -> tuple[list[tuple[int, Sample]], dict[str, Any]] | None:
    """Return what `preview_records` does; None if that takes more than local files."""
    if any(source.is_remote for source in asked.spec.sources):
        return None
    try:
        return preview_records(asked.spec, asked.opened.cache, most, boundary=asked.boundary)
    except OfflineError:  # for the table of a join, or what examples are taken from
        return None


def _records(
    asked: DatasetCall, numbers: Sequence[int]
) -> tuple[tuple[int, DatasetRecord] | None, ...]:
    """Return the records of samples: those on this machine that are near the start."""
    try:
        records = asked.records([number for number in numbers if number <= _LAST_RECORD])
    except SourceError:  # only samples are cached, not what they were made of
        return ()
    return tuple((one, records[one]) if one in records else None for one in numbers)


def _reports(
    asked: DatasetCall, samples: Sequence[Sample], numbers: Sequence[int], first: int
) -> Iterator[str]:
    """Yield the row that reports a fault of each sample, or the command that prints it."""
    spec, original = asked.spec, asked.made_of_it(as_mapped(asked.spec))
    _, entry = original.find()
    rows: Iterable[str] = [""] * len(samples)
    if entry is not None:
        stored = original.open_found(entry).as_stored()
        shown = zip(samples, numbers, strict=True)
        rows = report_rows(shown, stored, auto_id=spec.view.auto_id)
    for place, row in enumerate(rows, first - 1):
        command = f"registry preview {spec.name} --offset {place} -n 1 --report"
        yield _if_short(row) or command


def _texts(name: str, error: RegistryError) -> tuple[str, ...]:
    """Return why a dataset can't be used, a text per problem."""
    if isinstance(error, LockError) and error.problems:  # of a lockfile, which has other datasets
        return tuple(str(error).splitlines())
    if not isinstance(error, ManifestError):
        text = str(error)
        return (text if text.startswith(f"{name}: ") else f"{name}: {text}",)
    # An invalid file is a problem of all its datasets: first what is about this one.
    return tuple(map(str, sorted(error.problems, key=lambda one: not is_about(one, name))))


def _plots(table: SampleTable) -> Iterator[PlotView]:
    """Yield what can be counted of samples as SVG, which has escaped the labels."""
    for plot in table.plots()[:_MOST_PLOTS]:
        drawn = Markup(visible(svg(plot)))  # nosec B704 # noqa: S704
        yield PlotView(svg=drawn, is_counted=plot.title != "Duplicates")


def is_about(problem: Problem, name: str) -> bool:
    """Return whether a problem is one of a dataset itself, or of the dataset that a split is of."""
    written = (name, name.partition(":")[0])
    return any(is_within(problem.path, json_path(("datasets", one))) for one in written)


def _warnings(spec: DatasetSpec, meta: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is odd about samples."""
    return tuple(one.message for one in quality_warnings(spec, meta))


def _if_short(row: str) -> str:
    return row if len(row) <= _REPORT_TEXT else ""
