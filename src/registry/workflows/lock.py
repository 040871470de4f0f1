"""Pin datasets: look at what their sources hold, build them, and take the digests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from registry.base.threads import ReportNamed, run_jobs
from registry.errors import (
    DigestMismatchError,
    ManifestError,
    MissingDependencyError,
    RegistryError,
    SourceError,
)
from registry.load import SourceContext, load, open_cached, remember_pinned
from registry.lockfile.models import PIN_FORMAT, Lock, LockedSource, Pin
from registry.lockfile.pinned import DEFAULT_BRANCH, PinnedSources
from registry.lockfile.spec_digest import portable, requested_location, spec_digest
from registry.manifest.source import Source, is_commit
from registry.store.digest import SamplesDigest, changed_samples, digest_samples

if TYPE_CHECKING:
    from pathlib import Path

    from registry.cache import Cache
    from registry.catalog.catalog import Catalog
    from registry.load import LoadResult
    from registry.manifest.models import DatasetSpec
    from registry.progress import Report
    from registry.sources.pins import PinnedFile, SourcePin

__all__ = ["LockRequest", "LockResult", "lock_datasets", "new_lock"]

_LOOKED_AT = 1000
"""Records that tell which columns JSON has."""

_THERE = (DigestMismatchError, MissingDependencyError)
"""Errors of a source that is there."""

Status = Literal["kept", "pinned", "repinned", "moved", "unmoved", "unreachable", "failed"]


@dataclass(frozen=True, kw_only=True)
class LockResult:
    """What became of the pin of one dataset."""

    name: str
    status: Status
    """pinned: it had none; repinned: its manifest has changed; moved and unmoved: by an upgrade."""
    pin: Pin | None = None
    """Its pin from now on: where it could not be pinned the old one, if it had one."""
    change: str = ""
    """What moved: `c30699e → 1f2e3d4, 14,042 samples, 3 changed`."""
    stale: bool = False
    """Whether the pin is of another manifest."""
    error: RegistryError | None = None
    """Why it could not be pinned."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        shown = None
        if self.error is not None:
            shown = {"type": type(self.error).__name__, "message": str(self.error)}
        samples = None if self.pin is None else self.pin.samples
        kept = {"name": self.name, "status": self.status, "samples": samples}
        return {**kept, "change": self.change or None, "stale": self.stale, "error": shown}


@dataclass(frozen=True, kw_only=True)
class LockRequest:
    """Where to look, and what to do."""

    catalog: Catalog
    cache: Cache
    old: Sequence[Lock] = ()
    """The lock as it was: two after a merge that left a conflict, none where there is no file."""
    upgrade: Collection[str] = ()
    """Datasets whose sources are looked at again though they are pinned."""
    offline: bool = False

    def pins(self, name: str) -> Iterator[Pin]:
        """Yield the pins that a dataset had."""
        return (lock.pins[name] for lock in self.old if name in lock.pins)


def lock_datasets(
    names: Sequence[str], request: LockRequest, *, jobs: int, report: ReportNamed
) -> Iterator[LockResult]:
    """Pin datasets, `jobs` at a time; yield what became of each as it comes."""
    return run_jobs(names, partial(_lock_one, request=request), jobs=jobs, report=report)


def new_lock(old: Sequence[Lock], done: Iterable[LockResult], names: Collection[str]) -> Lock:
    """Return the lock with new pins, and without those of datasets that are not among `names`."""
    pins = {name: pin for lock in reversed(old) for name, pin in lock.pins.items()}
    pins |= {one.name: one.pin for one in done if one.pin is not None}
    return Lock({name: pin for name, pin in pins.items() if name in names})


def _lock_one(name: str, report: Report, *, request: LockRequest) -> LockResult:
    old = next(request.pins(name), None)
    try:
        spec = request.catalog[name]
    except ManifestError as error:
        return LockResult(name=name, status="failed", pin=old, error=error)
    digest = spec_digest(spec)
    old = next((pin for pin in request.pins(name) if pin.agrees(digest)), old)
    agrees = old is not None and old.agrees(digest)
    if agrees and name not in request.upgrade:
        return LockResult(name=name, status="kept", pin=old)
    try:
        return _pin_anew(spec, old, request, report)
    except RegistryError as error:
        status = _failure(spec, error)
        return LockResult(name=name, status=status, pin=old, stale=not agrees, error=error)


def _failure(spec: DatasetSpec, error: RegistryError) -> Status:
    is_away = isinstance(error, SourceError) and not isinstance(error, _THERE) and spec.is_remote
    return "unreachable" if is_away else "failed"


def _pin_anew(
    spec: DatasetSpec, old: Pin | None, request: LockRequest, report: Report
) -> LockResult:
    """Pin a dataset; unless it is upgraded, sources that its old pin has stay what they were."""
    upgrade = spec.name in request.upgrade
    lock = None if old is None or upgrade else _pinned_sources(spec, old)
    context = SourceContext(cache=request.cache, offline=request.offline, lock=lock, report=report)
    opened = load(
        spec,
        context.cache,
        offline=context.offline,
        whole=True,
        lock=lock,
        report=report,
    )
    digest = digest_samples(opened.dataset.as_stored())
    pin = _pin_of(spec, opened, digest, context)
    remember_pinned(opened, pin, context.cache)
    if old is None:
        return LockResult(name=spec.name, status="pinned", pin=pin)
    if _versions(pin) != _versions(old) or (upgrade and _samples(pin) != _samples(old)):
        before = _old_samples(spec, old, request.cache)
        change = _change(old, pin, before, digest)
        return LockResult(name=spec.name, status="moved", pin=pin, change=change)
    return LockResult(name=spec.name, status="unmoved" if upgrade else "repinned", pin=pin)


def _versions(pin: Pin) -> list[tuple[str, str | None]]:
    return [(one.location, one.revision or one.sha256) for one in pin.sources]


def _samples(pin: Pin) -> tuple[int, str]:
    return pin.samples, pin.ordered


def _pinned_sources(spec: DatasetSpec, pin: Pin) -> PinnedSources:
    folder, sources = spec.folder, pin.sources
    return PinnedSources(dataset=spec.name, folder=folder, sources=sources, complete=False)


def _old_samples(spec: DatasetSpec, pin: Pin, cache: Cache) -> SamplesDigest | None:
    """Return the digests of the samples that were pinned, if the cache still has these."""
    lock = replace(_pinned_sources(spec, pin), complete=True, any_branch=True, compare=False)
    dataset = open_cached(spec, cache, lock)
    digest = None if dataset is None else digest_samples(dataset.as_stored())
    return digest if digest is not None and digest.ordered == pin.ordered else None


def _change(old: Pin, new: Pin, before: SamplesDigest | None, after: SamplesDigest) -> str:
    """Say what moved: `c30699e → 1f2e3d4, 14,042 samples, 3 changed`."""
    number = f"{new.samples:,} samples"
    if old.samples != new.samples:
        number += f" ({old.samples:,} before)"
    return f"{_moved(old, new)}, {number}, {_difference(old, new, before, after)}"


def _moved(old: Pin, new: Pin) -> str:
    """Return old and new version of the first source that moved; else of the samples."""
    pairs = zip_longest(old.sources, new.sources)
    for was, now in pairs:
        if was is None or now is None or was.short != now.short:
            return f"{was.short if was else 'none'} → {now.short if now else 'none'}"
    return f"samples {_short(old.ordered)} → {_short(new.ordered)}"


def _short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:7]


def _difference(old: Pin, new: Pin, before: SamplesDigest | None, after: SamplesDigest) -> str:
    if old.ordered == new.ordered:
        return "none changed"
    if old.unordered == new.unordered:
        return "in another order"
    if before is None:
        return "not compared: the old ones are not in the cache"
    return f"{changed_samples(before, after):,} changed"


def _pin_of(
    spec: DatasetSpec, opened: LoadResult, digest: SamplesDigest, context: SourceContext
) -> Pin:
    side = () if opened.pins.side is None else (opened.pins.side,)
    looked_up = zip(spec.all_sources, (*opened.pins.sources, *side), strict=True)
    sources = [one for source, pinned in looked_up for one in _sources(source, pinned, spec.folder)]
    return Pin(
        spec=spec_digest(spec),
        sources=tuple(dict.fromkeys(sources)),
        samples=digest.samples,
        columns=tuple(_columns(spec.sources[0], opened.pins.sources[0], context)),
        ordered=digest.ordered,
        unordered=digest.unordered,
        format=PIN_FORMAT,
    )


def _sources(source: Source, pinned: SourcePin, folder: Path) -> Iterator[LockedSource]:
    """Yield what a pin says of one source: its commit, or its files."""
    repository = source.repository
    if repository is not None and pinned.revision is not None:
        floats = not is_commit(repository.revision)
        requested = (repository.revision or DEFAULT_BRANCH) if floats else None
        yield LockedSource(
            location=repository.location, requested=requested, revision=pinned.revision
        )
    for file in (*pinned.files, *pinned.contents):
        yield _locked_file(file, folder)


def _locked_file(file: PinnedFile, folder: Path) -> LockedSource:
    location = portable(file.location, folder)
    requested = requested_location(file.requested or file.location, folder)
    return LockedSource(
        location=location,
        requested=None if requested == location else requested,
        etag=file.etag,
        version_id=file.version_id,
        size=file.size,
        sha256=file.sha256,
    )


def _columns(source: Source, pinned: SourcePin, context: SourceContext) -> list[str]:
    """Return the columns of the first records, in the order in which they come."""
    from registry.build.builder import records_of

    records = records_of(source, pinned, context)
    looked_at = islice(records, _LOOKED_AT if source.columns_vary else 1)
    names = dict.fromkeys(str(key) for record in looked_at for key in record)
    # Half of a surrogate pair has no form in UTF-8, which the lockfile is written in.
    return [name.encode("utf-8", "replace").decode() for name in names]
