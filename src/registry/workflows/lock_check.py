"""Compare a lockfile with the manifests that it is of, without a request."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from registry.build.fingerprint import pin_all
from registry.errors import DigestMismatchError, ManifestError, SourceError
from registry.load import SourceContext
from registry.lockfile.models import Lock, lock_text
from registry.lockfile.pinned import changes, pin_sources
from registry.lockfile.spec_digest import spec_digest

if TYPE_CHECKING:
    from registry.cache import Cache
    from registry.catalog.catalog import Catalog
    from registry.lockfile.models import Pin
    from registry.manifest.models import DatasetSpec

__all__ = ["Difference", "differences", "is_as_written"]


@dataclass(frozen=True)
class Difference:
    """One thing in a lockfile that is not as the manifests say."""

    name: str
    """The dataset."""
    message: str
    """What is otherwise."""
    hint: str
    """What to do next."""

    def __str__(self) -> str:
        return f"{self.name}: {self.message} ({self.hint})"


def differences(
    catalog: Catalog, lock: Lock, cache: Cache, names: Collection[str] = ()
) -> Iterator[Difference]:
    """Yield what of a lock is not as the manifests say, of all datasets or only of some.

    Local files are compared too. A dataset without a pin is a difference only where its sources
    lie beside the manifest, as others may be out of reach for whoever writes the lock.
    """
    for name in sorted(names or {*lock.pins, *catalog}):
        if name not in catalog:
            yield Difference(name, "is pinned and in no manifest", _hint())
            continue
        try:
            spec = catalog[name]
        except ManifestError as error:
            yield Difference(name, str(error), "mend the manifest")
            continue
        yield from _of_dataset(spec, lock.pins.get(name), cache)


def _hint(name: str = "") -> str:
    return f"`python -m registry lock{name and f' {name}'}` {'pins it' if name else 'drops it'}"


def _of_dataset(spec: DatasetSpec, pin: Pin | None, cache: Cache) -> Iterator[Difference]:
    if pin is None:
        if not spec.is_remote:
            yield Difference(spec.name, "is not pinned", _hint(spec.name))
        return
    if not pin.agrees(spec_digest(spec)):
        message = f"is pinned for another manifest: {changes(spec, pin)}"
        yield Difference(spec.name, message, _hint(spec.name))
        return
    yield from _of_files(spec, pin, cache)


def _of_files(spec: DatasetSpec, pin: Pin, cache: Cache) -> Iterator[Difference]:
    """Yield the local file that is not as it was pinned; remote ones are not asked for."""
    try:
        pin_all(spec, SourceContext(cache=cache, offline=True, lock=pin_sources(spec, pin)))
    except DigestMismatchError as error:
        hint = f"`python -m registry lock --upgrade {spec.name}` pins what is there"
        yield Difference(spec.name, f"{error.location} is not as it was pinned", hint)
    except SourceError as error:
        yield Difference(spec.name, str(error), "is the file in its place?")


def is_as_written(path: Path, lock: Lock) -> bool:
    """Return whether a lockfile is, to the byte, what is written for its pins."""
    return path.read_bytes() == lock_text(lock).encode()
