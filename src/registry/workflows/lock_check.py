"""Compare a lockfile with its catalog, its local files and the cache, without any request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_check
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from registry.base.digest import digest_of
from registry.base.local_files import FileState
from registry.base.locations import PACKAGE
from registry.base.threads import ReportNamed, run_jobs
from registry.diff.checkout import folder_checkout
from registry.diff.snapshots.pair import missing_manifests
from registry.errors import (
    AccessError,
    CacheError,
    LockError,
    ManifestError,
    MissingDependencyError,
    OfflineError,
    RegistryError,
    SourceError,
)
from registry.load.load import load, open_cached
from registry.load.materials import (
    code_materials,
    commit_pin,
    first_columns,
    named_differences,
    named_materials,
)
from registry.lockfile.models import Lock, lock_text
from registry.lockfile.pinned import pin_sources, staleness
from registry.manifest.models import without_corrections
from registry.pipeline.execute import Opening, open_entry
from registry.pipeline.fingerprint import code_of, find_all
from registry.samples.digest import digest_samples
from registry.sources.pins import SourceContext
from registry.workflows.pin_check import (
    BUILD_BYTES,
    SAMPLES,
    PinCheck,
    Reason,
    compare_sources,
    pin_offline,
)
from registry.workflows.versions import PinnedSamples, check_version

if TYPE_CHECKING:
    from registry.cache.cache import Cache
    from registry.catalog.catalog import Catalog
    from registry.diff.snapshots.contents import Contents
    from registry.lockfile.models import CommitPin, Pin
    from registry.lockfile.pinned import PinnedSources
    from registry.manifest.models import DatasetSpec
    from registry.progress import Report
    from registry.sources.pins import Pins

__all__ = ["SamplesCheck", "check_lock", "check_pin", "is_as_written"]

_NOT_HERE: dict[type[RegistryError], Reason] = {
    OfflineError: Reason.BYTES,
    MissingDependencyError: Reason.PACKAGE,
    AccessError: Reason.ACCESS,
    CacheError: Reason.CACHE,
}
"""Errors that say nothing about the pin."""


def check_lock(
    catalog: Catalog,
    lock: Lock,
    cache: Cache,
    names: Collection[str],
    *,
    unrun: Mapping[str, str],
    base: Contents | None = None,
    jobs: int,
    report: ReportNamed,
) -> Iterator[PinCheck]:
    """Check the pins of datasets, `jobs` at a time; yield each when ready.

    `unrun` has the mappers that must not be run, with the reason: their pins can't be checked.
    Versions are compared with those of `base`, if there is one.
    A missing pin is a difference only for a dataset with local sources: where the lock is written,
    remote ones may be unreachable, and packages not installed.
    """

    def check_one(name: str, report: Report) -> PinCheck:
        check, pin, commit = PinCheck(name), lock.pins.get(name), lock.commits.get(name)
        if name not in catalog:
            check.differs(*_without_manifest(catalog, name))
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

    return run_jobs(sorted(names), check_one, jobs=jobs, report=report)


def _without_manifest(catalog: Catalog, name: str) -> tuple[str, str]:
    """Return how a pin differs whose dataset the catalog does not have, and what to do."""
    if new := catalog.retired.get(name):
        return f"is pinned, and called '{new}' now", "`registry lock` renames its pin"
    if unread := catalog.unread_problems():
        return f"is pinned, and may be in a file with errors: {unread[0]}", "fix the file"
    if away := missing_manifests(folder_checkout(catalog.index, "")):
        return f"is pinned, and may be in {away[0]}", "check that out"
    return "is pinned but in no manifest", "`registry lock` drops it"


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


@dataclass(frozen=True)
class SamplesCheck:
    """Compares the samples of a dataset, and the columns of its records, with its pin."""

    check: PinCheck
    spec: DatasetSpec
    pin: Pin
    pins: Pins
    catalog: Catalog
    context: SourceContext
    lock: PinnedSources

    def compare(self, *, build: bool) -> None:
        """Compare samples and columns; build the samples only with `build`."""
        if self.spec.mapper is not None and self.catalog.rules_from is None:
            # Whoever wrote the lockfile may have written `trust` too. Its code is read, but
            # not imported.
            self.check.skip(Reason.MAPPER, *SAMPLES)
            self._with_code()
            self._compare_columns(None)
            return
        pins = self._with_code()
        if pins is None:
            return
        fingerprint, _ = find_all(self.spec, pins, partial(self.context.cache.find, "samples"))
        key = digest_of({"derived": fingerprint, "spec": self.pin.spec})
        # Before anything is read, as what is read later may be a newer state.
        state = self._state(fingerprint)
        known = self.context.cache.recall(key, "state", "columns", *SAMPLES)
        if known is not None and (state is None or known["state"] != list(state)):
            known = None  # the samples in the cache are others now
        remembered = known
        if known is None:
            known = self._attempt(lambda: self._derive(build=build), *SAMPLES)
        if known is None:
            self._compare_columns(None)
            return
        columns = self._compare_columns(known.get("columns"))
        dataset = self.spec.name
        hint = (
            f"`registry lock --upgrade {dataset}` pins these, `registry sync --refresh {dataset}`"
        )
        for name in SAMPLES:
            pinned, found = getattr(self.pin, name), known[name]
            self.check.compare(name, pinned, found, f"{hint} builds them again")
        self._compare_original(pins, build=build)
        self._compare_named(fingerprint)
        is_same = state is not None and state == self._state(fingerprint)
        if remembered is None and columns is not None and is_same:
            self.context.cache.remember(key, {**known, "state": state, "columns": columns})

    def _with_code(self) -> Pins | None:
        """Compare the code of the mapper; return the pins with it, None if it is not here."""
        code = None
        if self.spec.mapper is not None:
            code = self._attempt(lambda: code_of(self.spec), "code", *SAMPLES)
            if code is None:
                return None
        pins = replace(self.pins, code=code)
        self.check.compare("code", dict(self.pin.code), code_materials(self.spec, pins))
        return pins

    def _compare_original(self, pins: Pins, *, build: bool) -> None:
        """Compare the samples without corrections."""
        pinned, spec = self.pin.original, without_corrections(self.spec)
        if not self.spec.is_corrected or pinned is None:
            if pinned is not None or self.spec.is_corrected:
                message = "its pin has no samples without corrections"
                self.check.differs(
                    message if pinned is None else "it has no corrections, its pin has",
                    f"`registry lock --upgrade {self.spec.name}` pins both",
                )
            return
        original = replace_check(self, spec=spec, pins=pins.without_corrections())
        known = original.derived(build=build)
        if known is None:
            return
        for name in SAMPLES:
            self.check.compare(f"original.{name}", getattr(pinned, name), known[name])

    def derived(self, *, build: bool) -> dict[str, Any] | None:
        """Return what the samples without corrections are; None if that can't be known here."""
        return self._attempt(lambda: self._derive(build=build), "original")  # type: ignore[no-any-return]

    def _compare_named(self, fingerprint: str) -> None:
        """Compare the files that the samples name."""
        entry = self.context.cache.find("samples", fingerprint)
        if entry is None:
            return
        opening = Opening.of(self.spec, self.context.boundary)
        dataset = open_entry(opening, entry, self.context.cache, fingerprint)
        found = self._attempt(
            lambda: named_materials(self.spec, dataset, entry.meta["columns"], self.context),
            "files",
            "sandbox",
            "images",
        )
        for difference in () if found is None else named_differences(self.pin, found):
            self.check.differs(difference)

    def _state(self, fingerprint: str) -> FileState | None:
        """Return the state of the samples in the cache; None if there are none, or just now."""
        entry = self.context.cache.find("samples", fingerprint)
        if entry is None:
            return None
        state = FileState.of(entry.folder / "samples.arrow")
        return None if state.is_racy() else state

    def _derive(self, *, build: bool) -> dict[str, Any] | None:
        """Return the fields of the samples: built, or from the cache; None if neither is there."""
        lock = replace(self.lock, samples=None)  # they are compared here
        cache, boundary = self.context.cache, self.catalog.boundary
        at_hand = build and self._has_bytes()
        files = [file for one in self.pins.all_sources for file in (*one.files, *one.contents)]
        if at_hand and sum(file.size for file in files) <= BUILD_BYTES:
            dataset = load(
                self.spec,
                cache,
                boundary=boundary,
                offline=True,
                verify=True,
                full=True,
                lock=lock,
                report=self.context.report,
            ).dataset
        else:
            found = open_cached(self.spec, cache, lock, boundary=boundary)
            if found is None:
                self.check.skip(Reason.LARGE if at_hand else Reason.SAMPLES, *SAMPLES)
                return None
            dataset = found
        digest = digest_samples(dataset.as_stored())
        return {name: getattr(digest, name) for name in SAMPLES}

    def _compare_columns(self, known: Sequence[str] | None) -> Sequence[str] | None:
        """Compare the columns; return those of the source, None if it can't be read here."""
        if known is None:
            if not self._has_bytes():
                self.check.skip(Reason.BYTES, "columns")
                return None
            known = self._attempt(
                lambda: first_columns(self.spec, self.pins, self.context), "columns"
            )
        if known is not None:
            self.check.compare("columns", list(self.pin.columns), list(known))
        return known

    def _attempt(self, derive: Callable[[], Any], *fields: str) -> Any:
        """Return what is derived; None if an error says that it can't be, or not here."""
        try:
            with self.catalog.locating(self.spec.name):
                return derive()
        except RegistryError as error:
            reason = next((_NOT_HERE[kind] for kind in _NOT_HERE if isinstance(error, kind)), None)
            if reason is None:
                self.check.fails(error, "correct the manifest or its data")
            else:
                self.check.skip(reason, *fields)
        return None

    def _has_bytes(self) -> bool:
        """Return whether all sources are local or in the cache."""
        cache = self.context.cache
        return all(
            (one.revision is None or cache.find("records", one.digest) is not None)
            and all(
                f.location.is_local
                or cache.blob(f.sha256).is_file()
                or (f.parts is not None and cache.blob(f.parts.sha256).is_file())
                for f in one.files
            )
            for one in self.pins.all_sources
        )
