"""Compare a lockfile with its catalog, its local files and the cache, without any request."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from registry.base.packages import PACKAGE
from registry.base.threads import ReportNamed, run_jobs
from registry.errors import LockError, ManifestError, MissingDependencyError, SourceError
from registry.load.materials import commit_pin
from registry.lockfile.models import Lock, lock_text
from registry.lockfile.pinned import pin_sources, staleness
from registry.sources.pins import SourceContext
from registry.workflows.pin_check import SAMPLES, PinCheck, Reason, compare_sources, pin_offline
from registry.workflows.samples_check import SamplesCheck
from registry.workflows.versions import PinnedSamples, check_version

if TYPE_CHECKING:
    from registry.cache.cache import Cache
    from registry.catalog.catalog import Catalog
    from registry.diff.snapshots.contents import Contents
    from registry.lockfile.models import CommitPin, Pin
    from registry.manifest.models import DatasetSpec
    from registry.progress import Report

__all__ = ["check_lock", "check_pin", "is_as_written"]


def check_lock(
    catalog: Catalog,
    lock: Lock,
    cache: Cache,
    names: Collection[str] = (),
    *,
    unrun: Mapping[str, str],
    base: Contents | None = None,
    jobs: int,
    report: ReportNamed,
) -> Iterator[PinCheck]:
    """Check the pins of all datasets or of `names`, `jobs` at a time; yield each when ready.

    `unrun` has the mappers that must not be run, with the reason: their pins can't be checked.
    Versions are compared with those of `base`, if there is one.
    A missing pin is a difference only for a dataset with local sources: where the lock is written,
    remote ones may be unreachable, and packages not installed.
    """

    def check_one(name: str, report: Report) -> PinCheck:
        check, pin, commit = PinCheck(name), lock.pins.get(name), lock.commits.get(name)
        if name not in catalog:
            if new := catalog.retired.get(name):
                check.differs(
                    f"is pinned, and called '{new}' now", "`registry lock` renames its pin"
                )
            elif unread := catalog.unread_problems():
                check.differs(
                    f"is pinned, and may be in a file with errors: {unread[0]}", "fix the file"
                )
            else:
                check.differs("is pinned but in no manifest", "`registry lock` drops it")
            return check
        try:
            spec = catalog[name]
        except ManifestError as error:
            check.differs(str(error), "fix the manifest")
            return check
        if spec.mapper is not None and spec.mapper in unrun:
            check.differs(unrun[spec.mapper], "review the code, and check the pin after the merge")
        elif pin is None:
            paths = (path for source in spec.all_sources for path in source.paths())
            if not spec.is_remote and not any(path.startswith(PACKAGE) for path in paths):
                check.differs("is not pinned", f"`registry lock {name}` pins it")
            elif commit is not None or spec.has_commit:
                _check_commit(check, spec, commit, catalog, cache)
        elif pin.agrees(spec):
            check = check_pin(spec, pin, catalog, cache, build=True, report=report)
            reviewed = None if base is None else base.lock.pin_of(name, *catalog.former(name))
            if reviewed is not None:
                check_version(
                    check, pin, reviewed, PinnedSamples(cache, catalog, lambda: base).of(name)
                )
        else:
            reason, hint = staleness(spec, pin)
            check.differs(f"is pinned {reason}", hint)
        return check

    chosen = sorted(names or {*lock.names, *catalog})
    return run_jobs(chosen, check_one, jobs=jobs, report=report)


def _check_commit(
    check: PinCheck, spec: DatasetSpec, commit: CommitPin | None, catalog: Catalog, cache: Cache
) -> None:
    """Compare the commit of a dataset without a pin with that which its manifest names."""
    hint = f"`registry lock --offline {spec.name}` writes it"
    if commit is None:
        check.differs("has a commit that is not in the lockfile", hint)
        return
    context = SourceContext(boundary=catalog.boundary, cache=cache, offline=True)
    try:
        found = commit_pin(spec, context)
    except SourceError as error:
        check.fails(error, "restore the file, or edit the manifest")
        return
    if found is None:
        check.differs("names no commit any more", f"`registry lock {spec.name}` pins it")
    elif found.spec != commit.spec:
        check.differs("has another manifest than its commit in the lockfile", hint)
    elif found != commit:
        check.differs("has sources that differ from those in the lockfile", hint)


def check_pin(
    spec: DatasetSpec, pin: Pin, catalog: Catalog, cache: Cache, *, build: bool, report: Report
) -> PinCheck:
    """Compare a pin, made for this manifest, with what can be derived without a request.

    With `build`, samples that are not in the cache are built if the bytes of their sources are
    local or in the cache, and not large.
    """
    check = PinCheck(spec.name, is_checked=True)
    lock = pin_sources(spec, pin)
    context = SourceContext(
        boundary=catalog.boundary, cache=cache, offline=True, reread=True, lock=lock, report=report
    )
    try:
        pins = pin_offline(spec, context)
        compare_sources(check, spec, pin, pins, context)
    except MissingDependencyError:  # says nothing about the file
        check.skip(Reason.PACKAGE, "sources", "columns", *SAMPLES)
        return check
    except (LockError, SourceError) as error:
        check.fails(error, "restore the file, or edit the manifest")
    if check.differences or lock is None:
        check.skip(Reason.SOURCES, "columns", *SAMPLES)  # they are those of other bytes
        return check
    SamplesCheck(check, spec, pin, pins, catalog, context, lock).compare(build=build)
    return check


def is_as_written(path: Path, lock: Lock) -> bool:
    """Return whether a lockfile has exactly the bytes that would be written for its pins."""
    return path.read_bytes() == lock_text(lock).encode()
