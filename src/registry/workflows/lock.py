"""Pin datasets: look up what their sources contain, build them and digest the samples."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_result
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from registry.base.threads import ReportNamed, run_jobs
from registry.build.expectations import QualityWarning, quality_warnings
from registry.errors import (
    DigestMismatchError,
    ManifestError,
    MissingDependencyError,
    RegistryError,
    SourceError,
)
from registry.load import SourceContext, load, open_cached, remember_pinned
from registry.lockfile.merge import Sides, choose
from registry.lockfile.models import Lock, Pin
from registry.lockfile.pinned import PinnedSources
from registry.lockfile.spec_digest import spec_digest
from registry.store.digest import changed_samples, digest_samples
from registry.workflows.lock_check import check_pin
from registry.workflows.make_pin import make_pin

if TYPE_CHECKING:
    from registry.cache.cache import Cache
    from registry.catalog.catalog import Catalog
    from registry.manifest.models import DatasetSpec
    from registry.progress import Report
    from registry.workflows.pin_check import Difference

__all__ = ["LockRequest", "LockResult", "lock_datasets", "new_lock"]

# Errors of a source that was reached.
_NOT_UNREACHABLE = (DigestMismatchError, MissingDependencyError)

LockStatus = Literal[
    "kept", "broken", "pinned", "repinned", "moved", "unmoved", "unreachable", "failed"
]


@dataclass(frozen=True, kw_only=True)
class LockResult:
    """The outcome of locking one dataset."""

    name: str
    status: LockStatus
    """pinned: for the first time; repinned: its manifest changed; moved, unmoved: by an upgrade;
    broken: kept, although it is not what its sources have now."""
    pin: Pin | None = None
    """The pin to write: if pinning failed, the old one, if any."""
    change: str = ""
    """What moved: `c30699e → 1f2e3d4, 14,042 samples, 3 changed`."""
    note: str = ""
    """How a merge conflict was resolved."""
    stale: bool = False
    """Whether the pin is for an older manifest."""
    error: RegistryError | None = None
    """Why pinning failed."""
    warnings: tuple[QualityWarning, ...] = ()
    """What is questionable in the samples, if they were built."""
    differences: tuple[Difference, ...] = ()
    """Why the pin is broken."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        error = self.error
        return {
            "name": self.name,
            "status": self.status,
            "samples": None if self.pin is None else self.pin.samples,
            "change": self.change or None,
            "merge": self.note or None,
            "stale": self.stale,
            "error": error and {"type": type(error).__name__, "message": str(error)},
            "warnings": [warning.to_dict() for warning in self.warnings],
            "differences": [vars(one) for one in self.differences],
        }


@dataclass(frozen=True, kw_only=True)
class LockRequest:
    """The inputs that all datasets of a `lock` run share."""

    catalog: Catalog
    cache: Cache
    old: Sequence[Lock] = ()
    """The present lock; during a merge conflict ours, theirs and maybe the base; or no lock."""
    upgrade: Collection[str] = ()
    """Datasets whose sources are looked up again although they are pinned."""
    offline: bool = False

    def sides(self, name: str) -> Sides:
        """Return the present pin of a dataset, on both sides of a merge conflict."""
        pins = [lock.pins.get(name) for lock in self.old] or [None]
        return Sides(
            ours=pins[0],
            theirs=pins[min(1, len(pins) - 1)],
            base=pins[-1],
            has_base=len(pins) == 3,
        )

    @property
    def conflicting(self) -> list[str]:
        """The datasets whose pins differ in a merge conflict."""
        names = {name for lock in self.old for name in lock.pins}
        sides = {name: self.sides(name) for name in names}
        return sorted(name for name, one in sides.items() if one.ours != one.theirs)


def lock_datasets(
    names: Sequence[str], request: LockRequest, *, jobs: int, report: ReportNamed
) -> Iterator[LockResult]:
    """Pin datasets, `jobs` at a time; yield each result as soon as it is ready."""
    return run_jobs(names, partial(_lock_one, request=request), jobs=jobs, report=report)


def new_lock(old: Sequence[Lock], results: Iterable[LockResult], names: Collection[str]) -> Lock:
    """Return the lock with the new pins, without datasets that are not in `names`."""
    # Reversed, so that of both sides of a merge conflict the first one (ours) wins.
    pins = {name: pin for lock in reversed(old) for name, pin in lock.pins.items()}
    pins |= {one.name: one.pin for one in results if one.pin is not None}
    return Lock({name: pin for name, pin in pins.items() if name in names})


def _lock_one(name: str, report: Report, *, request: LockRequest) -> LockResult:
    sides = request.sides(name)
    try:
        spec = request.catalog[name]
    except ManifestError as error:
        return LockResult(name=name, status="failed", pin=sides.ours or sides.theirs, error=error)
    digest = spec_digest(spec)
    choice = choose(sides, lambda pin: pin.agrees(digest))
    old = choice.pin
    agrees = old is not None and old.agrees(digest) and not choice.is_open
    upgrade = name in request.upgrade or (choice.is_open and sides.have_other_sources)
    if old is not None and agrees and not upgrade:
        # Only with what is cached: `lock --check` builds.
        check = check_pin(spec, old, request.catalog, request.cache, build=False, report=report)
        found = tuple(check.differences)
        status: LockStatus = "broken" if found else "kept"
        return LockResult(name=name, status=status, pin=old, note=choice.note, differences=found)
    try:
        with request.catalog.locating(name):
            result = _repin(spec, old, request, report, upgrade=upgrade)
        return replace_result(result, note=choice.note)
    except RegistryError as error:
        reached = (
            not isinstance(error, SourceError)
            or error.is_answer
            or isinstance(error, _NOT_UNREACHABLE)
        )
        status = "failed" if reached or not spec.is_remote else "unreachable"
        note = "both sides pinned other bytes or samples; took the pin of ours for now"
        return LockResult(
            name=name,
            status=status,
            pin=old,
            note=note if choice.is_open else choice.note,
            stale=not agrees,
            error=error,
        )


def _repin(
    spec: DatasetSpec, old: Pin | None, request: LockRequest, report: Report, *, upgrade: bool
) -> LockResult:
    """Pin a dataset; without an upgrade, its sources keep the versions of the old pin."""
    old_sources = None
    if old is not None:
        old_sources = PinnedSources(
            dataset=spec.name, folder=spec.folder, sources=old.sources, complete=False
        )
    lock = None if upgrade else old_sources
    # A changed mapping alone must not move a dataset to newer bytes.
    context = SourceContext(
        boundary=request.catalog.boundary,
        cache=request.cache,
        offline=request.offline,
        lock=lock,
        dataset=spec.name,
        report=report,
    )
    opened = load(
        spec,
        context.cache,
        boundary=context.boundary,
        offline=context.offline,
        full=True,
        reread=True,  # a wrong pin would be refused everywhere else
        lock=lock,
        report=report,
    )
    digest = digest_samples(opened.dataset.as_stored())
    pin = make_pin(spec, opened, digest, context)
    # These samples were just digested: the next `load` need not compare them with the pin.
    remember_pinned(opened, pin, context.cache)
    result = partial(
        LockResult,
        name=spec.name,
        pin=pin,
        warnings=tuple(quality_warnings(spec, opened.entry.meta)),
    )
    if old is None or old_sources is None:
        return result(status="pinned")
    moved = _versions(pin) != _versions(old)
    if not moved and (not upgrade or (pin.samples, pin.ordered) == (old.samples, old.ordered)):
        return result(status="unmoved" if upgrade else "repinned")
    # The old samples are found by their pin alone, as the files may have changed since.
    cached = replace(old_sources, complete=True, any_branch=True, compare=False)
    dataset = open_cached(spec, request.cache, cached, boundary=context.boundary)
    before = None if dataset is None else digest_samples(dataset.as_stored())
    changed = None
    if before is not None and before.ordered == old.ordered:
        changed = changed_samples(before, digest)
    change = describe_move(old, pin, changed)
    return result(status="moved", change=change)


def _versions(pin: Pin) -> list[tuple[str, str | None]]:
    return [(one.location, one.revision or one.sha256) for one in pin.sources]


def describe_move(old: Pin, new: Pin, changed: int | None) -> str:
    """Return what moved: `c30699e → 1f2e3d4, 14,042 samples, 3 changed`.

    Args:
        old: The pin before.
        new: The pin now.
        changed: Number of samples that differ; None if the old ones are not in the cache.
    """
    before, after = _short_digest(old.ordered), _short_digest(new.ordered)
    versions = f"samples {before} → {after}"
    for was, now in zip_longest(old.sources, new.sources):
        if was is None or now is None or was.short != now.short:
            versions = f"{was.short if was else 'none'} → {now.short if now else 'none'}"
            break
    number = f"{new.samples:,} samples"
    if old.samples != new.samples:
        number += f" ({old.samples:,} before)"
    if old.ordered == new.ordered:
        difference = "none changed"
    elif old.unordered == new.unordered:
        difference = "in a different order"
    elif changed is None:
        difference = "not compared: the old ones are not in the cache"
    else:
        difference = f"{changed:,} changed"
    return f"{versions}, {number}, {difference}"


def _short_digest(digest: str) -> str:
    return digest.removeprefix("sha256:")[:7]
