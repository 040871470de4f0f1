"""Compare a lockfile with the manifests of its catalog, without any request."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from registry.base.packages import PACKAGE
from registry.build.fingerprint import pin_all
from registry.errors import (
    DigestMismatchError,
    ManifestError,
    MissingDependencyError,
    SourceError,
)
from registry.load import SourceContext
from registry.lockfile.models import Lock, lock_text
from registry.lockfile.pinned import changes, pin_sources
from registry.lockfile.spec_digest import spec_digest

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary
    from registry.cache import Cache
    from registry.catalog.catalog import Catalog
    from registry.lockfile.models import Pin
    from registry.manifest.models import DatasetSpec

__all__ = ["Difference", "differences", "is_as_written"]


@dataclass(frozen=True)
class Difference:
    """One difference between a lockfile and the manifests."""

    name: str
    """The dataset, or the lockfile itself."""
    message: str
    hint: str
    """What to do next."""

    def __str__(self) -> str:
        return f"{self.name}: {self.message} ({self.hint})"


def differences(
    catalog: Catalog, lock: Lock, cache: Cache, names: Collection[str] = ()
) -> Iterator[Difference]:
    """Yield the differences between a lock and the manifests, of all datasets or of `names`.

    Local files are compared too. A missing pin counts only for a dataset with local sources:
    where the lock is written, remote ones may be unreachable, and packages not installed.
    """
    for name in sorted(names or {*lock.pins, *catalog}):
        pin = lock.pins.get(name)
        if name not in catalog:
            hint = "`registry lock` drops it"
            yield Difference(name, "is pinned but in no manifest", hint)
            continue
        try:
            spec = catalog[name]
        except ManifestError as error:
            yield Difference(name, str(error), "fix the manifest")
            continue
        hint = f"`registry lock {name}` pins it"
        if pin is None:
            if not spec.is_remote and not _reads_package(spec):
                yield Difference(name, "is not pinned", hint)
        elif pin.agrees(spec_digest(spec)):
            yield from _changed_file(spec, pin, cache, catalog.boundary)
        else:
            message = f"is pinned for an older manifest: {changes(spec, pin)}"
            yield Difference(name, message, hint)


def _changed_file(
    spec: DatasetSpec, pin: Pin, cache: Cache, boundary: Boundary
) -> Iterator[Difference]:
    """Yield the first local file that differs from its pin; nothing remote is requested."""
    # Pinning offline compares the digest of each local file, and accepts remote ones as pinned.
    lock = pin_sources(spec, pin)
    try:
        pin_all(spec, SourceContext(boundary=boundary, cache=cache, offline=True, lock=lock))
    except DigestMismatchError as error:
        hint = f"`registry lock --upgrade {spec.name}` pins its present content"
        yield Difference(spec.name, f"{error.location} differs from its pin", hint)
    except MissingDependencyError:
        return  # the package of a file is not installed, which says nothing about the file
    except SourceError as error:
        yield Difference(spec.name, str(error), "restore the file, or edit the manifest")


def _reads_package(spec: DatasetSpec) -> bool:
    paths = (path for source in spec.all_sources for path in source.paths())
    return any(path.startswith(PACKAGE) for path in paths)


def is_as_written(path: Path, lock: Lock) -> bool:
    """Return whether a lockfile has exactly the bytes that would be written for its pins."""
    return path.read_bytes() == lock_text(lock).encode()
