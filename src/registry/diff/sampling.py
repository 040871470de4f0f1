"""Add to a diff how samples differ: opened from the cache, or built on request."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from msgspec import structs

from registry.base.process_state import cached_property
from registry.base.threads import run_jobs
from registry.diff.models import CatalogDiff, DatasetChange, Obstacle, SampleChange
from registry.diff.reach import stores_of
from registry.diff.samples import (
    Samples,
    compare_samples,
    corrections_between,
    corrections_of,
    new_samples,
)
from registry.diff.severity import SAME_SAMPLES
from registry.diff.snapshots.pair import PACKAGE_KEY
from registry.errors import CacheError, MissingDependencyError, OfflineError, RegistryError
from registry.load.load import find_fingerprint, load, open_cached, sample_warnings
from registry.lockfile.pinned import PinnedSources, pin_sources
from registry.manifest.models import DatasetSpec

if TYPE_CHECKING:
    from registry.cache.cache import Cache
    from registry.diff.snapshot import OpenSnapshot

__all__ = ["MAX_NEW_BUILDS", "SamplingOptions", "open_samples", "with_samples"]

MAX_NEW_BUILDS = 20
"""New datasets that are built for a diff; if there are more, none is built."""
_NAMED_NOTE = "files that they name differ"


_OBSTACLES: tuple[tuple[type[RegistryError], Obstacle], ...] = (
    (OfflineError, "offline"),
    (MissingDependencyError, "package not installed"),
)
"""Error → why it stops a comparison; any other is just an error."""
_HINTS: dict[Obstacle, str] = {
    "offline": "without --offline, ",
    "package not installed": "once it is, ",
    "package changed": "once both sides pin the installed one, ",
    "own credentials": "once the base has a dataset of it, or where there are none, ",
    "untrusted mapper": "once the base trusts it, ",
    "changed code": "with --run-changed-code, after you have read it, ",
    "other code": "once the base is locked, and `registry sync` there has filled the cache, ",
    "error": "once this is fixed, ",
}


@dataclass(frozen=True, kw_only=True)
class SamplingOptions:
    """How samples are obtained."""

    cache: Cache
    build: bool = False
    """Build what is not cached: changed datasets, and up to MAX_NEW_BUILDS new ones."""
    command: str = "registry diff"
    """The command line of this diff without its options, for hints."""
    offline: bool = False
    examples: int = 3
    """Examples of each kind of difference."""
    runs_changed_code: bool = False
    """Run mappers whose code differs from the base, for the samples of the head."""
    jobs: int = 1
    """Number of datasets to compare in parallel."""
    announce: Callable[[str], None] = lambda _: None
    """Called with a message before each build."""


def with_samples(
    diff: CatalogDiff, base: OpenSnapshot, head: OpenSnapshot, options: SamplingOptions
) -> CatalogDiff:
    """Return the diff with the differences in samples of its datasets."""
    added = sum(change.status == "added" for change in diff.changes)
    # As when a whole catalog is included.
    too_many = added if options.build and added > MAX_NEW_BUILDS else 0
    pairs = {
        change.name: _datasets(change, base, head)
        for change in diff.changes
        if _affects_samples(change)
    }
    # Before the threads, which would extract the same files.
    for label, snapshot in (("base", base), ("head", head)):
        snapshot.extract_siblings(pair[label].name for pair in pairs.values() if label in pair)
    statuses = {change.name: change.status for change in diff.changes}

    def find(name: str, _: object) -> tuple[str, _Found | SampleChange]:
        run = partial(_find, pairs[name], base, options)
        return name, _or_reason(run, pairs[name], options)

    def compare(name: str, _: object) -> tuple[str, SampleChange]:
        one = found[name]
        if isinstance(one, SampleChange):
            return name, one
        run = partial(_compare, one, options, too_many if statuses[name] == "added" else 0)
        return name, _or_reason(run, pairs[name], options)

    in_parallel = partial(run_jobs, list(pairs), jobs=options.jobs, report=lambda *_: None)
    found = _with_builders(dict(in_parallel(find)), list(pairs))
    samples = dict(in_parallel(compare))
    changes = (
        replace(
            change,
            samples=_removed(change, base, options.cache)
            if change.status == "removed"
            else _with_files(change, samples.get(change.name)),
        )
        for change in diff.changes
    )
    return replace(diff, changes=tuple(changes))


def _removed(change: DatasetChange, base: OpenSnapshot, cache: Cache) -> SampleChange | None:
    """Return how many samples a removed dataset had, as far as that is known without building."""
    known = (change.facts.get(key) for key in ("pin.samples", "expect.samples"))
    number = next((one.value for one in known if one is not None), None)
    if number is None:
        with suppress(RegistryError):
            one = _Dataset(change.name, base, is_base=True)
            found = open_cached(
                one.spec, cache, one.lock, boundary=base.boundary, code=one.other_code
            )
            number = None if found is None else len(found)
    return SampleChange(old=number) if isinstance(number, int) else None


def _with_files(change: DatasetChange, samples: SampleChange | None) -> SampleChange | None:
    """Say of compared samples that files differ which they only name."""
    if samples is None or samples.new is None:
        return samples
    if not any(one.key.startswith("named.") for one in change.keys):
        return samples
    return replace(samples, note="; ".join(filter(None, (samples.note, _NAMED_NOTE))))


def open_samples(name: str, snapshot: OpenSnapshot, cache: Cache) -> Samples:
    """Return the samples of a dataset, built if necessary, without any request.

    Its mapper is run: whoever calls this has compared the mapper's code with trusted code.

    Raises:
        RegistryError: they can't be opened or built here.
    """
    snapshot.extract_siblings([name])
    return _Dataset(name, snapshot).open(cache, offline=True)


def _affects_samples(change: DatasetChange) -> bool:
    if change.status == "added":
        return True
    return change.status != "removed" and not SAME_SAMPLES.issuperset(change.kinds)


def _datasets(change: DatasetChange, base: OpenSnapshot, head: OpenSnapshot) -> dict[str, _Dataset]:
    new = {"head": _Dataset(change.name, head)}
    if change.status == "added":
        return new
    return {"base": _Dataset(change.old_name or change.name, base, is_base=True), **new}


Result = TypeVar("Result")


def _or_reason(
    run: Callable[[], Result], datasets: Mapping[str, _Dataset], options: SamplingOptions
) -> Result | SampleChange:
    """Return a result, or why samples can't be compared."""
    try:
        return run()
    except RegistryError as error:
        message = (str(error).splitlines() or [type(error).__name__])[0]
        checkouts = [dataset.snapshot.checkout for dataset in datasets.values()]
        for checkout in checkouts:  # before the mirrors, which are in one folder
            message = message.replace(f"{checkout.top}{os.sep}", "")
        for checkout in checkouts:
            message = checkout.strip_mirror(message)
        known = (one for kind, one in _OBSTACLES if isinstance(error, kind))
        obstacle: Obstacle = next(known, "error")
        return _uncompared(obstacle, message, options)


@dataclass(frozen=True)
class _Found:
    """What is known of the samples of a dataset before any is built."""

    datasets: Mapping[str, _Dataset]
    fingerprints: Mapping[str, str]
    """Label of a snapshot → what identifies its samples; only of those that are not cached."""
    built: frozenset[str] = frozenset()
    """Labels of the snapshots whose samples are built for this dataset."""


def _find(
    datasets: Mapping[str, _Dataset], base: OpenSnapshot, options: SamplingOptions
) -> _Found | SampleChange:
    """Look the samples of a dataset up in the cache."""
    obstacle = _obstacle(datasets, base, options)
    if obstacle is not None:
        code = base.changed_code.get(next(iter(datasets.values())).spec.mapper or "")
        lines = () if code is None else code.lines[: options.examples]
        return replace(_uncompared(*obstacle, options), examples=lines)
    found = {label: dataset.find(options.cache) for label, dataset in datasets.items()}
    return _Found(
        datasets, {label: key for label, (key, is_cached) in found.items() if not is_cached}
    )


def _with_builders(
    found: Mapping[str, _Found | SampleChange], names: Iterable[str]
) -> dict[str, _Found | SampleChange]:
    """Return what was found, with samples that several datasets need built for the first one.

    Whichever thread happens to build them, the report is the same.
    """
    result = dict(found)
    known = set[str]()
    for name in names:
        one = found[name]
        if isinstance(one, _Found):
            # Without a fingerprint, nobody knows whether other samples are the same.
            built = []
            for label, fingerprint in one.fingerprints.items():
                if not fingerprint or fingerprint not in known:
                    built.append(label)
                known.add(fingerprint)
            result[name] = replace(one, built=frozenset(built))
    return result


def _obstacle(
    datasets: Mapping[str, _Dataset], base: OpenSnapshot, options: SamplingOptions
) -> tuple[Obstacle, str] | None:
    """Return why the samples must not be compared, if so, and a message."""
    for label, dataset in datasets.items():
        # Only the digest of the manifest that was pinned is known.
        package = dataset.snapshot.snapshot.datasets[dataset.name].get(PACKAGE_KEY)
        if package is not None and package.layer == "lock":
            message = f"the {label} is pinned for another version of the package"
            return "package changed", f"{message} than the installed one"
    # Code is not run if only the change under review trusts it. Checked before any dataset is
    # opened, as opening one may import its mapper.
    for dataset in datasets.values():
        store = _new_store(dataset, base, options)
        if store is not None:
            message = f"no dataset of the base reads {store}, so this machine's credentials"
            return "own credentials", f"{message} are not sent there"
        mapper = dataset.spec.mapper
        if mapper is not None and mapper not in base.boundary.trust:
            message = f"the base does not trust the mapper '{mapper}', so its code is not run"
            return "untrusted mapper", message
        if mapper is None or mapper not in base.changed_code:
            continue
        if not options.runs_changed_code:
            return "changed code", base.changed_code[mapper].message
        if dataset.is_base and not dataset.find(options.cache)[1]:
            message = "the samples of the base are not in the cache, and its code is not here"
            return "other code", message
    return None


def _new_store(dataset: _Dataset, base: OpenSnapshot, options: SamplingOptions) -> str | None:
    """Return a store that only the change names, if credentials of this machine would be sent.

    Else a change could make a review read, and print, what its author may not read.
    """
    if dataset.is_base or options.offline or not options.build:
        return None
    known = frozenset[str]().union(*(stores_of(spec) for spec in base.specs.values()))
    new = sorted(stores_of(dataset.spec) - known)
    # Without a token everything of the Hub is public. Clouds have too many places for credentials.
    used = (one for one in new if not one.startswith("hf://") or _has_hub_token())
    store = next(used, None)
    return None if store is None or dataset.find(options.cache)[1] else store


def _has_hub_token() -> bool:
    from huggingface_hub import get_token  # few diffs have a new repository

    return get_token() is not None


def _uncompared(
    obstacle: Obstacle, message: str, options: SamplingOptions, command: str = ""
) -> SampleChange:
    command = command or f"{options.command} --build"
    note = f"not compared: {message} ({_HINTS.get(obstacle, '')}`{command}` compares them)"
    return SampleChange(note=note, obstacle=obstacle, command=command)


@dataclass(frozen=True)
class _Dataset:
    """A dataset of one snapshot, whose samples are not opened yet."""

    name: str
    snapshot: OpenSnapshot
    is_base: bool = False

    @property
    def spec(self) -> DatasetSpec:
        return self.snapshot.specs[self.name]

    @cached_property
    def lock(self) -> PinnedSources | None:
        # The pin of this snapshot, so that samples are those that `get_dataset` returns there.
        found = pin_sources(self.spec, self.snapshot.lock.pins.get(self.name))
        if found is None:
            return None
        # The files that samples name are compared by their bytes, on both sides.
        found = structs.replace(found, named=False)
        is_changed = not self.is_base and self.spec.mapper in self.snapshot.changed_code
        return structs.replace(found, samples=None) if is_changed else found

    @property
    def other_code(self) -> str | None:
        """Digest of the mapper's code that the base pins, if the code that is here differs."""
        mapper = self.spec.mapper
        if not self.is_base or mapper not in self.snapshot.changed_code:
            return None
        pin = self.snapshot.lock.pins.get(self.name)
        return next(iter(pin.code.values()), "") if pin is not None else ""

    def find(self, cache: Cache) -> tuple[str, bool]:
        """Return what identifies the samples, and whether they are cached."""
        fingerprint, entry = find_fingerprint(
            self.spec, cache, self.lock, boundary=self.snapshot.boundary, code=self.other_code
        )
        return fingerprint, entry is not None

    def open(self, cache: Cache, *, offline: bool) -> Samples:
        boundary, code = self.snapshot.boundary, self.other_code
        if code is not None:  # of which only the samples are here
            entry = find_fingerprint(self.spec, cache, self.lock, boundary=boundary, code=code)[1]
            dataset = open_cached(self.spec, cache, self.lock, boundary=boundary, code=code)
        else:
            result = load(self.spec, cache, boundary=boundary, offline=offline, lock=self.lock)
            entry, dataset = result.entry, result.dataset
        if entry is None or dataset is None:
            raise CacheError(f"{self.name}: its samples were removed from the cache (try again)")
        found = sample_warnings(self.spec, entry)
        warnings = {one.kind: (one.count, one.message) for one in found}
        return Samples(dataset.as_stored(), self.spec.view.auto_id, warnings)


def _compare(found: _Found, options: SamplingOptions, too_many: int) -> SampleChange:
    """Compare the samples of both snapshots, or describe those of one."""
    missing = list(found.fingerprints)
    if missing and (too_many or not options.build):
        return _missing(missing, found.datasets, options, too_many)
    samples, built = [], []
    for label, dataset in found.datasets.items():
        if label in found.built:
            built.append(label)
            options.announce(f"building {dataset.name} of {dataset.snapshot.snapshot.label}")
        # Cached samples are opened without a request, even if their source has changed.
        offline = label not in found.fingerprints or options.offline
        samples.append(dataset.open(options.cache, offline=offline))
    describe = compare_samples if len(samples) == 2 else new_samples
    change = describe(*samples, examples=options.examples)
    rows = [
        None if one is None else corrections_of(one.spec, one.snapshot.boundary)
        for one in map(found.datasets.get, ("base", "head"))
    ]
    note = _predicate(built, "built for this") if built else ""
    return replace(change, note=note, corrections=corrections_between(rows[0], rows[1]))


def _missing(
    missing: list[str], datasets: Mapping[str, _Dataset], options: SamplingOptions, too_many: int
) -> SampleChange:
    """Return why the samples of some snapshots, which are not cached, are not built either."""
    message = _predicate(missing, "not cached")
    if too_many:
        message += f"; {too_many} datasets are new, and up to {MAX_NEW_BUILDS} are built"
        sync = shlex.join(["registry", "sync", "--", datasets["head"].name])
        return _uncompared("too many new", message, options, f"{sync}; {options.command}")
    if any(datasets[label].spec.is_remote for label in missing):
        return _uncompared("needs network", f"{message}, and a source is remote", options)
    return _uncompared("not cached", message, options)


def _predicate(labels: list[str], predicate: str) -> str:
    return f"{' and '.join(labels)} {'is' if len(labels) == 1 else 'are'} {predicate}"
