"""Open cached samples as a dataset, with its view."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from registry.base.locations import is_local
from registry.store.arrow_dataset import ArrowDataset
from registry.store.reader import SampleFile
from registry.store.schema import FILE_COLUMNS
from registry.store.views import open_view

if TYPE_CHECKING:
    from registry.cache import Cache, CacheEntry
    from registry.manifest.models import DatasetSpec
    from registry.samples.sample import Sample

__all__ = ["finisher", "open_entry"]


def open_entry(
    spec: DatasetSpec, entry: CacheEntry, cache: Cache, fingerprint: str
) -> ArrowDataset:
    """Open an entry with the view of the dataset; samples are read on access."""
    is_hub = all(source.shuffle_order == "hub" for source in spec.sources)
    file = SampleFile(entry.folder / "samples.arrow", entry.meta["batches"])
    view = open_view(
        file,
        cache,
        samples=fingerprint,
        order="hub" if is_hub else "file",
        seed=spec.view.seed if spec.view.shuffle else None,
        choice_seed=spec.view.shuffle_choices,
    )
    return ArrowDataset(
        file,
        name=spec.name,
        location=spec.location,
        view=view.limited(spec.view.limit, file.rows),
        shuffled=spec.view.shuffle,
        auto_id=spec.view.auto_id,
        finish=finisher(spec) if not set(FILE_COLUMNS).isdisjoint(entry.meta["columns"]) else None,
    )


def finisher(spec: DatasetSpec) -> Callable[[Sample], Sample]:
    """Return a function that resolves names of files beside a local source.

    It runs when a sample is read, so that the cache contains no path of this machine.
    """
    base = spec.source.base_location
    if base is None or not is_local(base):
        return lambda sample: sample
    # Imported here, because few datasets name files.
    from registry.build.file_references import local_resolver, resolve_files

    return partial(resolve_files, resolve=local_resolver(base))
