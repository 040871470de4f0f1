"""Pin datasets: look up what their sources contain, build them and digest the samples."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replace_result
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from registry.base.threads import ReportNamed, run_jobs
from registry.errors import (
    DigestMismatchError,
    LockError,
    ManifestError,
    MissingDependencyError,
    RegistryError,
    SourceError,
    count_text,
)
from registry.load.load import load, open_pinned, remember_pinned
from registry.load.materials import commit_pin, make_pin
from registry.lockfile.merge import Choice, Sides, choose
from registry.lockfile.models import CommitPin, Lock, Pin, Version
from registry.lockfile.pinned import PinnedSources, known_sources, stale_error
from registry.manifest.models import without_corrections
from registry.pipeline.expectations import QualityWarning, quality_warnings
from registry.samples.digest import SamplesDigest, changed_samples, digest_samples
from registry.sources.pins import SourceContext
from registry.workflows.lock_check import check_pin
from registry.workflows.versions import PinnedSamples, version_after

if TYPE_CHECKING:
    from registry.cache.cache import Cache, CacheEntry
    from registry.catalog.catalog import Catalog
    from registry.diff.snapshots.contents import Contents
    from registry.manifest.models import DatasetSpec
    from registry.progress import Report
    from registry.workflows.pin_check import Difference

__all__ = ["LockRequest", "LockResult", "lock_datasets", "new_lock"]

# Errors of a source that was reached.
_NOT_UNREACHABLE = (DigestMismatchError, MissingDependencyError)

LockStatus = Literal[
    "kept", "broken", "pinned", "repinned", "moved", "unmoved", "commit", "unreachable", "failed"
]


@dataclass(frozen=True, kw_only=True)
class LockResult:
    """The outcome of locking one dataset."""

    name: str
    status: LockStatus
    """pinned: for the first time; repinned: its manifest changed; moved, unmoved: by an upgrade;
    broken: kept, although it is not what its sources have now; commit: its server can't be
    reached, but its manifest names a commit."""
    pin: Pin | None = None
    """The pin to write: if pinning failed, the old one, if any."""
    commit: CommitPin | None = None
    """What is written of a dataset that has no pin."""
    change: str = ""
    """What moved: `c30699e → 1f2e3d4, 14,042 samples, 3 changed`."""
    version: str = ""
    """How the version changed: `1-A → 2-A`, and what was not compared."""
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
        return {
            "name": self.name,
            "status": self.status,
            "commit": self.commit and [one.revision for one in self.commit.sources if one.revision],
            "samples": None if self.pin is None else self.pin.samples,
            "change": self.change or None,
            "version": None if self.pin is None else self.pin.version,
            "version_change": self.version or None,
            "merge": self.note or None,
            "stale": self.stale,
            "error": self.error and self.error.to_dict(),
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
    earlier: Callable[[], Contents | None] = lambda: None
    """Returns the catalog as it was committed, to find the samples of pins for its manifests."""
    versions: Mapping[str, Version] = field(default_factory=dict)
    """Dataset → the version that the user gives it."""

    def sides(self, name: str) -> Sides:
        """Return the present pin of a dataset, on both sides of a merge conflict.

        That of a dataset which was renamed still has its old name.
        """
        names = (name, *self.catalog.former(name))
        pins = [lock.pin_of(*names) for lock in self.old] or [None]
        return Sides(
            ours=pins[0], theirs=pins[min(1, len(pins) - 1)], base=pins[-1], has_base=len(pins) == 3
        )

    def renamed(self, pin: Pin) -> list[Pin]:
        """Return the pins of the same samples under names that no manifest has any more."""
        return [
            one
            for lock in self.old
            for name, one in lock.pins.items()
            if one.ordered == pin.ordered and name not in self.catalog
        ]

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
    commits = {name: one for lock in reversed(old) for name, one in lock.commits.items()}
    for one in results:
        if one.commit is not None:
            commits[one.name] = one.commit
        elif isinstance(one.error, SourceError):  # its manifest names none any more
            commits.pop(one.name, None)
    return Lock(
        {name: pin for name, pin in pins.items() if name in names},
        {name: one for name, one in commits.items() if name in names and name not in pins},
    )


def _lock_one(name: str, report: Report, *, request: LockRequest) -> LockResult:
    sides = request.sides(name)
    result = _pin_one(name, sides, request, report)
    if result.pin is None:
        return _with_commit(result, request)
    if result.error is not None:
        return result
    try:
        return _with_version(result, sides, request)
    except LockError as error:
        pin = sides.ours or sides.theirs
        return LockResult(name=name, status="failed", pin=pin, error=error)


def _with_commit(result: LockResult, request: LockRequest) -> LockResult:
    """Return the result of a dataset that has no pin with the commit that its manifest names.

    Only where its sources could not be read: a manifest that is wrong says nothing of its bytes.
    """
    if not isinstance(result.error, SourceError):
        return result
    catalog, name = request.catalog, result.name
    try:
        spec = catalog[name]
        context = SourceContext(boundary=catalog.boundary, cache=request.cache, offline=True)
        commit = commit_pin(spec, context)
    except RegistryError:  # the result has this error, or the one that came before it
        return result
    if commit is None:
        return result
    unreached = result.status == "unreachable"
    return replace_result(result, commit=commit, status="commit" if unreached else result.status)


def _with_version(result: LockResult, sides: Sides, request: LockRequest) -> LockResult:
    """Return the result with the version of its pin."""
    pin, name = result.pin, result.name
    assert pin is not None  # noqa: S101 (checked by the caller)
    both = [sides.ours] if sides.ours == sides.theirs else [sides.ours, sides.theirs]
    old = [one for one in both if one is not None] or request.renamed(pin)
    find = PinnedSamples(request.cache, request.catalog, request.earlier).of(name)
    version, is_known = version_after(pin, old, find)
    stated = request.versions.get(name)
    if stated is not None:
        if is_known and stated < version and pin not in old:
            raise LockError(
                f"{name}: its data changed, so its version can't be {stated} ({version} is the"
                " least; without --version, `registry lock` derives it)"
            )
        version = stated
    before = max((one.data_version for one in old), default=None)
    change = "" if before in (None, version) else f"{before} → {version}"
    if not is_known and stated is None:
        change += (
            ": the old samples are not here to compare, so it says that results are not comparable"
            f" (if they are, `registry lock {name} --version {before and before.next_letter}`)"
        )
    return replace_result(result, pin=replace(pin, version=str(version)), version=change)


def _pin_one(name: str, sides: Sides, request: LockRequest, report: Report) -> LockResult:
    try:
        spec = request.catalog[name]
    except ManifestError as error:
        return LockResult(name=name, status="failed", pin=sides.ours or sides.theirs, error=error)
    for pin in (sides.ours, sides.theirs):
        if pin is not None and pin.is_newer:  # never undone by an older release
            refused = stale_error(spec, pin)
            return LockResult(name=name, status="failed", pin=pin, stale=True, error=refused)
    choice = choose(sides, lambda pin: pin.agrees(spec))
    old = choice.pin
    agrees = old is not None and old.agrees(spec) and not choice.is_open
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
    except RegistryError as error:
        return _failed(spec, choice, error, stale=not agrees)
    return replace_result(result, note=choice.note)


def _failed(spec: DatasetSpec, choice: Choice, error: RegistryError, *, stale: bool) -> LockResult:
    is_answer = (
        not isinstance(error, SourceError) or error.is_answer or isinstance(error, _NOT_UNREACHABLE)
    )
    status: LockStatus = "failed" if is_answer or not spec.is_remote else "unreachable"
    note = "both sides pinned other bytes or samples; took the pin of ours for now"
    return LockResult(
        name=spec.name,
        status=status,
        pin=choice.pin,
        note=note if choice.is_open else choice.note,
        stale=stale,
        error=error,
    )


def _repin(
    spec: DatasetSpec, old: Pin | None, request: LockRequest, report: Report, *, upgrade: bool
) -> LockResult:
    """Pin a dataset; without an upgrade, its sources keep the versions of the old pin."""
    # A changed mapping alone must not move a dataset to newer bytes.
    lock = None if upgrade or old is None else known_sources(spec, old)
    pin, digest, entry = _build_pin(spec, lock, request, report)
    warnings = tuple(quality_warnings(spec, entry.meta))
    result = LockResult(name=spec.name, status="pinned", pin=pin, warnings=warnings)
    if old is None:
        return result
    has_moved = pin.versions != old.versions or (upgrade and pin.samples_id != old.samples_id)
    if not has_moved:
        return replace_result(result, status="unmoved" if upgrade else "repinned")
    dataset = open_pinned(spec, request.cache, old, boundary=request.catalog.boundary)
    before = None if dataset is None else digest_samples(dataset.as_stored())
    is_known = before is not None and before.samples_id == old.samples_id
    changed = changed_samples(before, digest) if before is not None and is_known else None
    return replace_result(result, status="moved", change=describe_move(old, pin, changed))


def _build_pin(
    spec: DatasetSpec, lock: PinnedSources | None, request: LockRequest, report: Report
) -> tuple[Pin, SamplesDigest, CacheEntry]:
    """Build a dataset, from the bytes in `lock` if they are there, and digest its samples."""
    cache, boundary, offline = request.cache, request.catalog.boundary, request.offline
    opened = load(
        spec,
        cache,
        boundary=boundary,
        offline=offline,
        full=True,
        reread=True,  # a wrong pin would be refused everywhere else
        lock=lock,
        report=report,
    )
    digest = digest_samples(opened.dataset.as_stored())
    original = None
    if spec.is_corrected:
        # The same bytes: a source that floats must not move between the two builds.
        plain = without_corrections(spec)
        uncorrected = load(plain, cache, boundary=boundary, offline=offline, full=True, lock=lock)
        original = digest_samples(uncorrected.dataset.as_stored())
    context = SourceContext(
        boundary=boundary, cache=cache, offline=offline, lock=lock, dataset=spec.name, report=report
    )
    pin = make_pin(spec, opened, digest, context, original)
    # These samples were just digested: the next `load` need not compare them with the pin.
    remember_pinned(opened, pin, cache)
    return pin, digest, opened.entry


def describe_move(old: Pin, new: Pin, changed: int | None) -> str:
    """Return what moved: `c30699e → 1f2e3d4, 14,042 samples, 3 changed`.

    `changed` samples differ; None if the old ones are not in the cache.
    """
    before, after = (pin.ordered.removeprefix("sha256:")[:7] for pin in (old, new))
    versions = f"samples {before} → {after}"
    for was, now in zip_longest(old.sources, new.sources):
        if was is None or now is None or was.short != now.short:
            versions = f"{was.short if was else 'none'} → {now.short if now else 'none'}"
            break
    number = count_text(new.samples, "sample")
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
