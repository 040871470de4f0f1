"""Derive the version of a dataset from what differs between two of its pins.

The classes of change are those of `registry diff`. What digests say is taken from them alone; the
samples are compared only where equally many differ, as then it matters which fields do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock as ThreadLock
from typing import TYPE_CHECKING, Any

from registry.diff.severity import (
    NOT_COMPARABLE,
    SAME_SAMPLES,
    ChangeClass,
    by_severity,
    change_class,
)
from registry.errors import RegistryError
from registry.load.load import load, open_pinned
from registry.lockfile.models import FIRST, Version
from registry.lockfile.origins import NAMED
from registry.lockfile.pinned import pin_sources
from registry.samples.digest import samples_id
from registry.workflows.pin_check import BUILD_BYTES, PinCheck, Reason

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary
    from registry.cache.cache import Cache
    from registry.catalog.catalog import Catalog
    from registry.diff.samples import Samples
    from registry.diff.snapshots.contents import Contents
    from registry.lockfile.models import Pin
    from registry.manifest.models import DatasetSpec

__all__ = [
    "FindSamples",
    "PinnedSamples",
    "check_version",
    "classes_between",
    "committed",
    "next_version",
    "version_after",
]

FindSamples = Callable[["Pin"], "Samples | None"]
"""Returns the samples of a pin, or None where they are not on this machine."""


def next_version(version: Version, classes: Collection[ChangeClass] | None) -> Version:
    """Return the version after a change; None for its classes means that nobody knows them."""
    if classes is None or not NOT_COMPARABLE.isdisjoint(classes):
        return version.next_number
    return version if SAME_SAMPLES.issuperset(classes) else version.next_letter


def classes_between(old: Pin, new: Pin, find: FindSamples) -> frozenset[ChangeClass] | None:
    """Return the classes of what differs between two pins; None if only samples would tell."""
    before, after = _materials(old), _materials(new)
    found = {change_class(key) for key in before if before[key] != after[key]}
    if old.ordered == new.ordered:
        return frozenset(found)
    if old.unordered == new.unordered:
        return frozenset({*found, ChangeClass.ORDER})
    if old.samples != new.samples:
        return frozenset({*found, ChangeClass.SUBSET})
    fields = _classes_of_samples(find(old), find(new))
    return None if fields is None else frozenset(found | fields)


def _materials(pin: Pin) -> dict[str, Any]:
    """Return what samples depend on by the key of `diff`; a file that moved is the same file."""
    named = {f"pin.{key}": sorted(row.sha256 or "" for row in getattr(pin, key)) for key in NAMED}
    return {
        "pin.sources": [row.revision or row.sha256 for row in pin.sources],
        "pin.images": pin.images,
        "pin.code": pin.code,
        **named,
    }


def _classes_of_samples(old: Samples | None, new: Samples | None) -> set[ChangeClass] | None:
    if old is None or new is None:
        return None
    from registry.diff.samples import compare_samples  # few pins need it, and it imports numpy

    found = set(compare_samples(old, new, examples=0).kinds)
    if _has_ids(new) and not _has_ids(old):
        # No result names a sample by an id that it did not have: such an id is one more fact of it.
        return found - {ChangeClass.IDS} | {ChangeClass.METADATA}
    # Row numbers as ids are not compared, but the digests differ by them.
    return found | ({ChangeClass.IDS} if found <= {ChangeClass.ORDER} else set())


def _has_ids(dataset: Samples) -> bool:
    return not dataset.auto_id and all(sample.id is not None for sample in dataset.samples)


def version_after(pin: Pin, sides: Iterable[Pin], find: FindSamples) -> tuple[Version, bool]:
    """Return the version of a pin after those that it replaces, and whether each was compared.

    After a merge conflict it replaces two, and is later than both unless it equals one of them.
    """
    version, is_known = FIRST, True
    for old in sides:
        classes = classes_between(old, pin, find)
        version = max(version, next_version(old.data_version, classes))
        is_known = is_known and classes is not None
    return version, is_known


def check_version(check: PinCheck, pin: Pin, base: Pin, find: FindSamples) -> None:
    """Note in the check of a pin if its version does not fit what differs from the base."""
    if pin.version is None:
        if base.version is not None:
            message = f"has no version, and has {base.version} in the base"
            check.differs(message, _hint(check.name, base.data_version))
        return
    classes = classes_between(base, pin, find)
    before, now = base.data_version, pin.data_version
    if classes is None:
        check.skip(Reason.SAMPLES, "version")
    if classes is not None and SAME_SAMPLES.issuperset(classes):
        if now != before:
            message = f"version is {now}, but its data is that of {before} in the base"
            check.differs(message, _hint(check.name, before))
        return
    least = before.next_letter if classes is None else next_version(before, classes)
    if now < least:
        changed = "its data" if classes is None else ", ".join(by_severity(classes))
        message = f"version is {now}, but {changed} changed since {before} in the base"
        check.differs(message, _hint(check.name, least))


def _hint(name: str, version: Version) -> str:
    return f"`registry lock {name} --version {version}` sets it"


# --- the samples of pins ---


@dataclass(frozen=True)
class PinnedSamples:
    """Finds the samples of pins on this machine; makes no request."""

    cache: Cache
    catalog: Catalog
    earlier: Callable[[], Contents | None]
    """Returns another state of the catalog, whose manifests older pins were made for."""

    def of(self, name: str) -> FindSamples:
        """Return the function that finds the samples of a dataset's pins."""

        def find(pin: Pin) -> Samples | None:
            for spec, boundary in self._specs(name):
                with suppress(RegistryError):  # says only that these samples are not here
                    found = self._open(spec, pin, boundary)
                    if found is not None:
                        return found
            return None

        return find

    def _specs(self, name: str) -> Iterator[tuple[DatasetSpec, Boundary]]:
        yield self.catalog[name], self.catalog.boundary
        earlier = self.earlier()
        if earlier is not None and name in earlier.specs:
            yield earlier.specs[name], earlier.boundary

    def _open(self, spec: DatasetSpec, pin: Pin, boundary: Boundary) -> Samples | None:
        from registry.diff.samples import Samples

        dataset = open_pinned(spec, self.cache, pin, boundary=boundary)
        size = sum(row.size or 0 for row in pin.sources)
        # The code of a mapper that is here may be that of another state.
        if dataset is None and spec.mapper is None and pin.agrees(spec) and size <= BUILD_BYTES:
            lock = pin_sources(spec, pin)
            dataset = load(
                spec, self.cache, boundary=boundary, offline=True, full=True, lock=lock
            ).dataset
        if dataset is None or samples_id(dataset) != pin.samples_id:
            return None
        return Samples(dataset.as_stored(), spec.view.auto_id)


@contextmanager
def committed(index: Path) -> Iterator[Callable[[], Contents | None]]:
    """Yield a function that returns the catalog as it was committed last, None if it never was."""
    lock, found = ThreadLock(), list["Contents | None"]()

    def read() -> Contents | None:
        from registry.diff.checkout import checkout_of  # few invocations need git
        from registry.diff.snapshots.contents import read_contents

        with lock:
            if not found:
                found.append(None)
                with suppress(RegistryError):  # no repository, or no commit
                    folder = Path(temporary).resolve() / "committed"
                    found[0] = read_contents(checkout_of("HEAD", index, folder), index)
            return found[0]

    with TemporaryDirectory(prefix="registry-lock-") as temporary:
        yield read
