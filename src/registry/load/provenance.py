"""Say where an opened dataset comes from: its pins, its view, and the commit of its catalog."""

from __future__ import annotations

import re
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from registry.base.locations import Location
from registry.base.process_state import cached_property
from registry.load.materials import locked_sources
from registry.lockfile.spec_digest import portable, spec_digest
from registry.manifest.serialize import data_of, is_not_default
from registry.pipeline.fingerprint import samples_fingerprint
from registry.settings import INDEX_NAME, builtin_root

if TYPE_CHECKING:
    from collections.abc import Mapping

    from registry.lockfile.pinned import PinnedSources
    from registry.manifest.models import DatasetSpec
    from registry.samples.provenance import AppliedCorrections, CatalogVersion, Provenance
    from registry.sources.pins import Pins

__all__ = ["Described", "Known", "catalog_version"]

_CHANGEABLE = ("*.yaml", "*.yml", "datasets.lock")
_SCP = re.compile(r"(?:[^@/:]+@)?([\w.-]+:(?!//).+)")
"""`git@host:owner/name.git`"""


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
            state="verified" if reviewed else "commit" if spec.has_commit else "floating",
            pins=tuple(
                replace(
                    row,
                    location=_named(row.location),
                    requested=row.requested and _named(row.requested),
                )
                for row in rows
            ),
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


def _named(location: str) -> str:
    """Return a location; of a file that is not below the index only its name."""

    def name(file: Location) -> str:
        path = PurePath(file)
        is_outside = file.is_path and (path.is_absolute() or path.parts[:1] == ("..",))
        return path.name if is_outside else file

    return str(Location(location).with_file(name))


def catalog_version(folder: Path) -> CatalogVersion:
    """Return the commit and the repository of the catalog whose index is in a folder."""
    from registry.base.git import repository_of  # few opens ask git
    from registry.errors import RevisionError
    from registry.samples.provenance import CatalogVersion

    try:
        repository = repository_of(folder)
        # What is installed below a working tree, as in `.venv`, is not a part of it.
        index = folder / INDEX_NAME
        if repository.run("ls-files", "--error-unmatch", "--", str(index)).returncode:
            raise RevisionError(f"{index} is in no commit")
        commit = repository.git("rev-parse", "--verify", "HEAD").strip()
        inside = folder.relative_to(repository.top).as_posix()
        changed = repository.status(*(f":(glob){inside}/**/{one}" for one in _CHANGEABLE))
    except RevisionError:
        is_ours = folder == builtin_root().parent
        return CatalogVersion(package="eval-registry" if is_ours else None)
    url = repository.run("config", "--get", "remote.origin.url").stdout.strip()
    # Without its user; not a folder of this machine.
    if "://" in url and not url.startswith("file:"):
        public: str | None = Location(url).public
    else:
        found = _SCP.fullmatch(url)
        public = found[1] if found else None
    return CatalogVersion(repository=public, commit=commit, changed=bool(changed))
