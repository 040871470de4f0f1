"""Open a dataset by its name.

    name → catalog → resolve → plan (pin, find in the cache) → [build] → open → view

`OpenCatalog.call_of` resolves the name and looks up its pin; `load` plans and executes the rest.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, cast

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from registry.cache.cache import Cache
from registry.cache.locks import again_if_lost
from registry.catalog.catalog import Catalog
from registry.display.notebook import notebook_progress
from registry.errors import CacheError, DeprecatedNameWarning
from registry.load.call import OpenCatalog
from registry.settings import Settings

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary
    from registry.manifest.models import DatasetSpec
    from registry.pipeline.execute import LoadResult, Opening
    from registry.samples.dataset import Dataset
    from registry.store.arrow_dataset import ArrowDataset

__all__ = [
    "CachedSamples",
    "Options",
    "Overrides",
    "check_name",
    "get_dataset",
    "list_datasets",
]


class Overrides(TypedDict, total=False):
    """Arguments of `get_dataset` that count in place of keys of the manifest, to pass them on."""

    split: str
    revision: str
    shuffle: bool
    seed: int | None
    shuffle_choices: int | None
    limit: int | None
    auto_id: bool
    fewshot: int | Mapping[str, Any] | None
    corrections: bool
    only: Mapping[str, Any] | None


class Options(Overrides, total=False):
    """Arguments of `get_dataset` for any dataset, such as each member of a group."""

    offline: bool | None
    locked: bool | None
    frozen: bool | None
    refresh: bool


def get_dataset(
    name: str,
    *,
    split: str | UnsetType = UNSET,
    limit: int | UnsetType | None = UNSET,
    shuffle: bool | UnsetType = UNSET,
    seed: int | UnsetType | None = UNSET,
    shuffle_choices: int | UnsetType | None = UNSET,
    auto_id: bool | UnsetType = UNSET,
    fewshot: int | Mapping[str, Any] | UnsetType | None = UNSET,
    only: Mapping[str, Any] | UnsetType | None = UNSET,
    corrections: bool | UnsetType = UNSET,
    revision: str | UnsetType = UNSET,
    source: str | None = None,
    root: str | Path | None = None,
    offline: bool | None = None,
    locked: bool | None = None,
    frozen: bool | None = None,
    refresh: bool = False,
) -> Dataset:
    """Return the dataset `name` of the catalog. It is built once, then opened from the cache.

    What is UNSET, the manifest says it.

    Args:
        name: One of the names that `list_datasets` returns, `NAME:SPLIT` for one of the splits that
            its manifest declares, or `GROUP/MEMBER` for a member of a group.
        split: One that the manifest declares; else one of the source, and `expect` isn't checked.
        limit: The most samples; None means all.
        shuffle: Whether to shuffle; needs `seed`.
        seed: Of the order of the samples.
        shuffle_choices: A seed for the order of each sample's choices; None keeps it.
        auto_id: Number the samples from 1 in place of their ids.
        fewshot: The number of examples before each question, or keys of that block of a manifest.
        only: Metadata key → the value, or values, of the samples to keep.
        corrections: False for the samples as the source has them.
        revision: Of the source: a branch, tag or commit; `expect` isn't checked.
        source: A path or URL with the same data, to read in place of the manifest's. Its
            suffix determines the type; `expect` is not checked.
        root: A folder with a `datasets.yaml`, or such a file. None means REGISTRY_ROOT, else
            the nearest one in the working directory or above it, else the built-in catalog.
        offline: Make no request. None means REGISTRY_OFFLINE and HF_HUB_OFFLINE.
        locked: Refuse a dataset that `datasets.lock` does not pin, or pins for an older
            manifest. None means REGISTRY_LOCKED.
        frozen: Use the bytes that `datasets.lock` pins even if the manifest has changed, and
            don't look for newer ones. None means REGISTRY_FROZEN.
        refresh: Read the source and build again, even if the samples are cached.

    Raises:
        DatasetNotFoundError: no such dataset; the message suggests similar names.
        GroupError: it is a group of several datasets.
        ManifestError: its manifest or an argument is invalid, or names columns that no record has.
        LockError: the lockfile is invalid, or the samples differ from those it pins.
        LockStaleError: `locked` or `frozen` is set, and the lockfile does not pin this dataset.
        SourceError: the source can't be read (OfflineError, AccessError), or is not what
            `datasets.lock` pins (DigestMismatchError).
        DecodeError: a file is invalid for its type.
        MappingError: a record can't be mapped to a sample.
        ExpectationError: the samples differ from what `expect` says.
        TypeError: an unknown argument, or a `name` or `source` that is not a str.

    Warns:
        UserWarning: samples that were just built are questionable, such as blank targets.
        DeprecatedNameWarning: the dataset is deprecated, or the name is an old one; a UserWarning.
    """
    check_name(name)
    if not isinstance(source, str | None):
        raise TypeError(f"`source` must be a path or a URL, a str, not a {type(source).__name__}")
    given = {
        "split": split,
        "limit": limit,
        "shuffle": shuffle,
        "seed": seed,
        "shuffle_choices": shuffle_choices,
        "auto_id": auto_id,
        "fewshot": fewshot,
        "only": only,
        "corrections": corrections,
        "revision": revision,
    }
    overrides: dict[str, Any] = {key: item for key, item in given.items() if item is not UNSET}
    settings = Settings.from_environment(root=root, offline=offline, locked=locked, frozen=frozen)
    opened = OpenCatalog.of(settings)
    catalog, asked = opened.catalog, opened.call_of(name, overrides, source=source)
    if notice := catalog.notice(name):
        warnings.warn(notice, DeprecatedNameWarning, stacklevel=2)
    spec = asked.spec
    with notebook_progress(spec.name) as report:
        result = asked.load(report, refresh=refresh)
    call = {"offline": offline, "locked": locked, "frozen": frozen, "source": source, **overrides}
    call["root"] = str(settings.index)
    if catalog.is_member(name):
        call["only"] = spec.view.only
    result.dataset.origin = CachedSamples.of(result, spec, asked.boundary, call)
    # Once, when they are built: a warm open says nothing new.
    if not result.cached:
        if settings.cache_size is not None:
            from registry.cache.housekeeping import keep_to_size

            keep_to_size(opened.cache, settings.cache_size)
        from registry.pipeline.expectations import warning_texts

        for text in warning_texts(spec, result.entry.meta):
            warnings.warn(text, stacklevel=2)
    return result.dataset


def check_name(name: object) -> None:
    """Raise a TypeError for a name of a dataset or a group that is not a str."""
    if not isinstance(name, str):
        raise TypeError(f"`name` must be a str, not a {type(name).__name__}")


def list_datasets(
    tags: Iterable[str] | str | None = None, *, root: str | Path | None = None
) -> list[str]:
    """Return the names of the catalog's datasets, sorted, without those of their splits.

    Args:
        tags: Return only datasets that have all of these tags.
        root: As for `get_dataset`.
    """
    wanted = {tags} if isinstance(tags, str) else set(tags or ())
    catalog = Catalog.open(root)
    names = (name for name in catalog if not catalog.entries[name].split)
    return [name for name in names if not wanted or wanted <= catalog.tags_of(name)]


class CachedSamples(Struct, frozen=True, kw_only=True):
    """What a pickled dataset has in the place of its samples: their entry, and how to build it."""

    fingerprint: str
    """Key of the samples."""
    opening: Opening
    """Name, location and view."""
    is_part: bool
    """Whether they are only the first samples of the source, up to the limit."""
    call: dict[str, Any]
    """Arguments of `get_dataset` besides the name."""
    described: Any = None
    """Says where the samples come from, see `Description`."""

    @classmethod
    def of(
        cls, result: LoadResult, spec: DatasetSpec, boundary: Boundary, call: dict[str, Any]
    ) -> CachedSamples:
        """Return what finds the samples of an entry, or makes them again by the same call."""
        from registry.pipeline.execute import Opening  # `list_datasets` must not pay for it

        meta = result.entry.meta
        return cls(
            fingerprint=meta["fingerprint"],
            opening=Opening.of(spec, boundary),
            is_part=meta.get("limit") is not None,
            call=call,
            described=result.dataset.described,
        )

    def __call__(self) -> ArrowDataset:
        """Open the samples in the cache of this process; build them first if they are not there.

        Raises:
            CacheError: they are not there, and the catalog does not describe these samples now.
            OfflineError: they are not there, and building them needs a request.
        """
        cache = Cache(Settings.from_environment().cache_dir)
        return again_if_lost(partial(self._open, cache), cache.root)

    def _open(self, cache: Cache) -> ArrowDataset:
        from registry.pipeline.execute import open_entry

        entry = cache.find("samples", self.fingerprint)
        if entry is None:
            rebuilt = cast("ArrowDataset", get_dataset(self.opening.name, **self.call))
            entry = cache.find("samples", self.fingerprint)
            # A part is not built where all samples are cached.
            if entry is None and self.is_part:
                return rebuilt
            # Another process may have removed the entry again, but not what is open of it.
            made = rebuilt.origin
            if (
                isinstance(made, CachedSamples)
                and replace(made, call=self.call, described=self.described) == self
            ):
                rebuilt.origin, rebuilt.described = self, self.described
                return rebuilt
        if entry is None:
            raise CacheError(
                f"{self.opening.name}: its samples are not in the cache any more, and its manifest"
                " or its source has changed since it was pickled (open it by its name again)"
            )
        dataset = open_entry(self.opening, entry, cache, self.fingerprint)
        dataset.origin, dataset.described = self, self.described
        return dataset
