"""Open cached samples as a dataset, with its view."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from registry.base.locations import Location
from registry.boundary.boundary import Boundary
from registry.manifest.models import View
from registry.store.arrow_dataset import ArrowDataset
from registry.store.reader import SampleFile
from registry.store.rows import FILE_COLUMNS
from registry.store.views import Order, open_view

if TYPE_CHECKING:
    from registry.cache.cache import Cache, CacheEntry
    from registry.manifest.models import DatasetSpec
    from registry.samples.sample import Sample

__all__ = ["Opening", "finisher", "open_entry"]


class Opening(Struct, frozen=True, kw_only=True):
    """What a dataset adds to the samples in the cache."""

    name: str
    location: str
    """Where the dataset comes from, without secrets."""
    view: View
    """Order, choice order and limit."""
    order: Order
    """Kind of shuffle."""
    base: Location | None
    """A local file, if names of files are relative to its folder."""
    folders: tuple[str, ...] = ()
    """Folders with the files that they may name; not a boundary, as pickled datasets are small."""

    @classmethod
    def of(cls, spec: DatasetSpec, boundary: Boundary) -> Opening:
        """Return the part of a spec that its cached samples do not contain."""
        base = spec.source.base_location
        is_hub = all(source.shuffle_order == "hub" for source in spec.sources)
        return cls(
            name=spec.name,
            location=spec.location,
            view=spec.view,
            order="hub" if is_hub else "file",
            base=base if base is not None and base.is_local else None,
            folders=_folders_of(base, boundary),
        )


def open_entry(
    opening: Opening,
    entry: CacheEntry,
    cache: Cache,
    fingerprint: str,
) -> ArrowDataset:
    """Open an entry with the view of the dataset; samples are read on access."""
    on_damage = partial(cache.damaged, "samples", fingerprint)
    file = SampleFile(entry.folder / "samples.arrow", entry.meta["batches"], on_damage)
    view = opening.view
    arrays = open_view(
        file,
        cache,
        samples=fingerprint,
        order=opening.order,
        seed=view.seed if view.shuffle else None,
        choice_seed=view.shuffle_choices,
        only=view.only,
    )
    count = file.rows if arrays.rows is None else len(arrays.rows)
    names_files = not set(FILE_COLUMNS).isdisjoint(entry.meta["columns"])
    return ArrowDataset(
        file,
        name=opening.name,
        location=opening.location,
        view=arrays.limited(view.limit, count),
        shuffled=view.shuffle,
        auto_id=view.auto_id,
        finish=finisher(opening) if names_files else None,
    )


def finisher(opening: Opening) -> Callable[[Sample], Sample] | None:
    """Return a function that resolves names of files beside a local source, if there is one.

    It runs when a sample is read, so that the cache contains no path of this machine.
    """
    if opening.base is None:
        return None
    # Imported here, because few datasets name files.
    from registry.pipeline.file_references import local_resolver, resolve_files

    return partial(
        resolve_files, resolve=local_resolver(opening.base, Boundary(folders=opening.folders))
    )


def _folders_of(base: Location | None, boundary: Boundary) -> tuple[str, ...]:
    if base is None or not base.is_local:
        return ()
    return (os.sep,) if boundary.is_open else boundary.of_location(base).folders
