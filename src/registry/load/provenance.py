"""Say where an opened dataset comes from: its pins, its view, and the commit of its catalog."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from registry.base.locations import Location
from registry.base.processes.forks import cached_property
from registry.load.materials import locked_sources
from registry.lockfile.spec_digest import portable, spec_digest
from registry.manifest.serialize import data_of, is_not_default
from registry.pipeline.fingerprint import samples_fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from registry.base.materials import State
    from registry.lockfile.pinned import PinnedSources
    from registry.manifest.models import DatasetSpec
    from registry.samples.provenance import AppliedCorrections, Provenance
    from registry.sources.pins import Pins

__all__ = ["Described", "Known"]


class Known(Struct, frozen=True):
    """What is known of a dataset as it was opened; it may be pickled, as it names no secret."""

    opened: Provenance
    """Without the version of the catalog, which is looked up when it is asked for."""
    location: str
    """The source in the manifest, without a folder of this machine."""
    folder: Path
    """The folder of the index."""

    def __call__(self) -> Provenance:
        """Return the provenance of the dataset as it was opened; asks git about the catalog."""
        from registry.load.catalog_version import catalog_version  # few opens ask git

        return replace(self.opened, catalog=catalog_version(self.folder))


class Described:
    """As `Known`, but made when it is first used: most callers of a warm open never ask."""

    def __init__(
        self,
        spec: DatasetSpec,
        pins: Pins,
        lock: PinnedSources | None,
        corrected: Mapping[str, int] | None = None,
    ) -> None:
        """Take what the dataset was opened with, and how many samples were corrected."""
        self._spec, self._pins, self._lock = spec, pins, lock
        self._corrected = corrected or {}

    def __call__(self) -> Provenance:
        """Return the provenance of the dataset as it was opened; asks git about the catalog."""
        return self._known()

    def __reduce__(self) -> tuple[object, ...]:
        # A pin of a source may contain a secret, and a manifest is large.
        return Known, (self._known.opened, self._known.location, self._known.folder)

    @property
    def location(self) -> str:
        """The source in the manifest, without a folder of this machine."""
        return self._known.location

    @cached_property
    def _known(self) -> Known:
        from registry.samples.provenance import Provenance

        spec, pins = self._spec, self._pins
        pin = None if self._lock is None else self._lock.samples
        reviewed = None if self._lock is None else self._lock.reviewed
        rows = locked_sources(spec, pins)
        opened = Provenance(
            name=spec.name,
            version=None if reviewed is None or spec.is_original else str(reviewed[1].data_version),
            samples=0,
            ordered=None if pin is None else pin.ordered,
            fingerprint=samples_fingerprint(spec, pins),
            manifest=spec_digest(spec),
            state=_state(spec, self._lock),
            pins=tuple(replace(row, location=_named(row.location)) for row in rows),
            view=data_of(spec.view, keep=is_not_default),
            split=spec.split or getattr(spec.source, "split", None),
            fewshot=_fewshot(spec, pins),
            corrections=_corrections(spec, pins, self._corrected),
            original=spec.is_original,
            license=None if spec.license is None else str(spec.license),
            license_url=None if spec.license is None else spec.license.url,
            access=None if spec.access is None else str(spec.access),
        )
        return Known(opened, _named(portable(Location(spec.location), spec.folder)), spec.folder)


def _fewshot(spec: DatasetSpec, pins: Pins) -> dict[str, Any] | None:
    """Return which examples the samples have."""
    if spec.examples is None or spec.companion is None or pins.companion is None:
        return None
    return {
        **data_of(spec.examples, without={"apply"}, keep=is_not_default),
        "companion": spec.companion.name,
        "fingerprint": samples_fingerprint(spec.companion, pins.companion),
    }


def _corrections(
    spec: DatasetSpec, pins: Pins, counts: Mapping[str, int]
) -> AppliedCorrections | None:
    if spec.corrections is None or pins.corrections is None:
        return None
    from registry.samples.provenance import AppliedCorrections

    (file,) = pins.corrections.files
    return AppliedCorrections(
        file=_named(portable(file.location, spec.folder)), sha256=file.sha256, **counts
    )


def _state(spec: DatasetSpec, lock: PinnedSources | None) -> State:
    if lock is not None and lock.reviewed is not None:
        return "verified"
    return "commit" if spec.has_commit else "floating"


def _named(location: str) -> str:
    """Return a location; of a file that is not below the index only its name."""
    path = PurePath(location)
    is_outside = Location(location).is_local and (path.is_absolute() or path.parts[:1] == ("..",))
    return path.name if is_outside else location
