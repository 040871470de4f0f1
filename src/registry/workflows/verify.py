"""Compare sources and samples with their pins: say what differs, and what a source has now."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from registry.base.fs import stream_sha256
from registry.base.threads import ReportNamed, run_jobs
from registry.boundary.boundary import Boundary
from registry.cache.cache import Cache
from registry.errors import (
    AccessError,
    ExpectationError,
    ManifestError,
    MissingDependencyError,
    RegistryError,
    SourceError,
    did_you_mean,
    list_names,
)
from registry.load.materials import first_columns
from registry.lockfile.pinned import known_sources
from registry.manifest.source import Source, is_commit
from registry.pipeline.expectations import check_samples, quality_warnings
from registry.pipeline.preview import map_first_records
from registry.sources.bodies import is_strong, same_version
from registry.sources.facts import FileFacts, Missing, SourceFacts, is_unreachable
from registry.sources.pins import Pins, SourceContext, SourcePin
from registry.sources.source_type import reader_of

if TYPE_CHECKING:
    from registry.base.materials import Material
    from registry.catalog.catalog import Catalog
    from registry.lockfile.models import Pin
    from registry.manifest.models import DatasetSpec
    from registry.progress import Report

__all__ = ["RECORDS", "Drift", "VerifyResult", "changed_columns", "verify"]

# The kinds of `quality_warnings` that the first records alone don't show.
_OF_ALL_RECORDS = ("unused_columns", "unused_accept")
RECORDS = 20
"""Number of records that are mapped."""
DriftKind = Literal[
    "manifest",
    "unreachable",
    "access",
    "package",
    "source",
    "revision",
    "branch",
    "configuration",
    "split",
    "rows",
    "file",
    "columns",
    "mapping",
    "expect",
    "samples",
]


@dataclass(frozen=True, kw_only=True)
class VerifyResult:
    """What became of one dataset."""

    name: str
    status: Literal["ok", "drift", "failed"]
    """`failed` if its source could not be asked."""
    drifts: tuple[Drift, ...] = ()
    revision: str | None = None
    """Commit that its repository has now."""
    rows: int | None = None
    """Number of records, if the source reports it."""
    mapped: int = 0
    """Number of samples made of the first records."""
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        drifts = [{**vars(one), "severity": one.severity} for one in self.drifts]
        return {**vars(self), "drifts": drifts, "seconds": round(self.seconds, 3)}


def verify(
    names: Sequence[str],
    catalog: Catalog,
    pins: Mapping[str, Pin],
    *,
    jobs: int,
    report: ReportNamed,
) -> Iterator[VerifyResult]:
    """Verify datasets, `jobs` at a time; yield each result when ready."""

    def work(name: str, report: Report) -> VerifyResult:
        start = time.perf_counter()
        question = _Question(pins.get(name), report)
        drifts = tuple(question.drifts(name, catalog))
        errors = [drift.kind for drift in drifts if drift.severity == "error"]
        failed = bool(errors) and set(errors) <= {"unreachable", "access", "package"}
        return VerifyResult(
            name=name,
            status="failed" if failed else "drift" if errors else "ok",
            drifts=drifts,
            revision=question.revision,
            rows=question.rows,
            mapped=question.mapped,
            seconds=time.perf_counter() - start,
        )

    return run_jobs(names, work, jobs=jobs, report=report)


class _Question:
    """Asks the sources of one dataset, and notes what they answer."""

    def __init__(self, pin: Pin | None, report: Report) -> None:
        self._pin, self._report = pin, report
        self.revision: str | None = None
        self.rows: int | None = None
        self.mapped = 0

    def drifts(self, name: str, catalog: Catalog) -> Iterator[Drift]:
        """Yield what differs."""
        try:
            spec = catalog[name]
        except ManifestError as error:
            yield _with_hint("manifest", str(error), "fix the manifest")
            return
        with TemporaryDirectory(prefix="registry-verify-") as folder:
            # Not offline, and without the lock: what the source has now is the question.
            context = SourceContext(
                boundary=catalog.boundary, cache=Cache(Path(folder)), report=self._report
            )
            try:
                with catalog.locating(name):
                    yield from self._of_spec(spec, context)
            except RegistryError as error:
                yield _drift_of(error, name)

    def _of_spec(self, spec: DatasetSpec, context: SourceContext) -> Iterator[Drift]:
        pin = self._pin
        found = []
        for number, source in enumerate(spec.all_sources, 1):
            # A lookup table must be complete: any record may refer to any row of it.
            is_lookup = number > len(spec.sources)
            facts = reader_of(source).facts(context, rows=None if is_lookup else RECORDS)
            found.append(facts)
            if facts.missing is not None:
                yield _missing_part(facts.missing, source)
            if pin is not None:
                yield from _since_locked(spec, source, facts, pin, context.boundary)
        own = found[: len(spec.sources)]
        self.revision = own[0].revision
        counts = [facts.rows for facts in own]
        self.rows = None if None in counts else sum(count or 0 for count in counts)
        known = [facts.pin for facts in found if facts.pin is not None]
        if len(known) < len(found):
            return
        yield from _wrong_count(spec, self.rows, pin)
        yield from self._of_records(spec, known, context)

    def _of_records(
        self, spec: DatasetSpec, known: Sequence[SourcePin], context: SourceContext
    ) -> Iterator[Drift]:
        """Map the first records."""
        count = len(spec.sources)
        side = None if spec.join is None else known[count]
        pins = Pins(tuple(known[:count]), side)  # the first records are mapped, not corrected
        # The columns of a pin are still those of the first records if only the mapping changed.
        if self._pin is not None and self._pin.agrees(spec):
            yield from changed_columns(self._pin.columns, first_columns(spec, pins, context))
        samples, meta = map_first_records(spec, pins, context, RECORDS)
        self.mapped = len(samples)
        is_complete = self.mapped < RECORDS and spec.on_duplicate != "drop"
        if self.rows is None and is_complete and not _changes_number(spec):
            self.rows = self.mapped  # every file has ended
            yield from _wrong_count(spec, self.rows, self._pin)
        check_samples(spec, meta)
        for warning in quality_warnings(spec, meta):
            if warning.kind not in _OF_ALL_RECORDS:
                hint = f"`accept: [{warning.kind}]` says that it is meant"
                yield Drift("samples", f"first {RECORDS} records: {warning.message}", hint)


@dataclass(frozen=True)
class Drift:
    """One thing that a source has and the manifest, the lockfile or `expect` says otherwise."""

    kind: DriftKind
    message: str
    hint: str = ""
    """What to do next."""

    @property
    def severity(self) -> Literal["error", "warning"]:
        """Whether it fails the command; questionable samples that `expect` allows do not."""
        return "warning" if self.kind == "samples" else "error"

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


def _drift_of(error: RegistryError, name: str) -> Drift:
    """Return what an error says about the source."""
    text = str(error).removeprefix(f"{name}: ")
    if isinstance(error, ExpectationError):
        hint = "is the target still right?"
        return _with_hint("expect", f"first {RECORDS} records: {text}", hint)
    if isinstance(error, ManifestError):  # names a column that no record has
        return Drift("columns", text)
    if not isinstance(error, SourceError):
        hint = "map what the source has now, or pin the revision before it"
        return _with_hint("mapping", text, hint)
    if is_unreachable(error):
        return _with_hint("unreachable", text, "try again later")
    if isinstance(error, MissingDependencyError):
        return Drift("package", text)
    if isinstance(error, AccessError):
        return Drift("access", text)
    return _with_hint("source", text, "correct `source` in the manifest")


def _with_hint(kind: DriftKind, text: str, hint: str) -> Drift:
    """Return a drift with a general hint, unless the text of the error ends with its own."""
    return Drift(kind, text, "" if text.endswith(")") else hint)


def _missing_part(missing: Missing, source: Source) -> Drift:
    """Return the drift of a revision, configuration or split that is gone."""
    where = source.location
    if missing.kind == "revision":
        hint = f"the default branch is at {missing.known[0]}; pin a commit that exists"
        return Drift("revision", f"{where}: no revision '{missing.name}' any more", hint)
    key = "name" if missing.kind == "configuration" else "split"
    names = f"{missing.kind}s: {list_names(missing.known)}"
    if missing.name is None:
        hint = f"name one under `source.{key}`"
        return Drift(missing.kind, f"{where}: has several {names}", hint)
    guess = did_you_mean(missing.name, missing.known)
    hint = guess or f"correct `source.{key}`"
    return Drift(missing.kind, f"{where}: no {missing.kind} '{missing.name}'; {names}", hint)


def _since_locked(
    spec: DatasetSpec, source: Source, facts: SourceFacts, pin: Pin, boundary: Boundary
) -> Iterator[Drift]:
    """Yield what has changed since the lockfile was written."""
    locked = known_sources(spec, pin)
    upgrade = f"`registry lock --upgrade {spec.name}` pins it"
    repository = source.repository
    if repository is not None and not is_commit(repository.revision) and facts.revision:
        before = locked.revision(repository)
        if before not in (None, facts.revision):
            branch = repository.revision or "the default branch"
            message = f"{repository.path}: {branch} moved from {before} to {facts.revision}"
            yield Drift("branch", f"{message} since it was locked", upgrade)
    now = {file.location: file for file in facts.files}
    for path in source.paths():
        for location, file in locked.files(path) or ():
            shown = location.public
            found = now.get(location)
            if found is None:
                yield Drift("file", f"{shown}: locked, but `{path}` does not match it now", upgrade)
            elif None not in (found.size, file.size) and found.size != file.size:
                sizes = f"{found.size:,} bytes, datasets.lock pins {file.size:,}"
                yield Drift("file", f"{shown}: {sizes}", upgrade)
            elif change := _changed_bytes(found, file, boundary):
                yield Drift("file", f"{shown}: {change}", upgrade)


def _changed_bytes(found: FileFacts, locked: Material, boundary: Boundary) -> str:
    """Describe a digest or a validator that differs; "" if none does."""
    if found.location.is_local:
        with boundary.open_location(found.location) as opened:
            same = stream_sha256(opened) == locked.sha256
        return "" if same else "its digest is not the one that datasets.lock pins"
    for name in ("etag", "version_id"):
        old, new = getattr(locked, name) or "", getattr(found, name) or ""
        # A weak ETag may differ for the same bytes (RFC 9110, 8.8.1).
        if is_strong(new) and not same_version(old, new):
            return f"{name} is {new}, datasets.lock has {old}: its bytes have changed"
    return ""


def _wrong_count(spec: DatasetSpec, rows: int | None, pin: Pin | None) -> Iterator[Drift]:
    """Yield a row count that can't give the number of samples that is expected."""
    if rows is None or _changes_number(spec):
        return
    # `expect` counts samples before the limit, a pin those after it.
    is_locked = pin is not None and not spec.view.is_part and pin.agrees(spec)
    locked = pin.samples if pin is not None and is_locked else None
    for key, wanted in (("expect.samples", spec.expect.samples), ("datasets.lock", locked)):
        fits = rows >= (wanted or 0) if spec.on_duplicate == "drop" else rows == wanted
        if wanted is not None and not fits:
            message = f"the source has {rows:,} records, {key} says {wanted:,}"
            yield Drift(
                "rows", message, "pin the revision before the change, or correct the number"
            )
            return


def changed_columns(locked: Sequence[str], found: Sequence[str]) -> Iterator[Drift]:
    """Yield the columns of a pin that the first records no longer have."""
    gone = [name for name in locked if name not in found]
    new = [name for name in found if name not in locked]
    if gone:
        added = f"; new: {list_names(new)}" if new else ""
        message = f"columns are gone since it was locked: {list_names(gone)}{added}"
        yield Drift("columns", message, "name the new ones under `fields`, or pin the old revision")


def _changes_number(spec: DatasetSpec) -> bool:
    """Return whether records and samples may differ in number."""
    return any((spec.where, spec.explode, spec.corrections, spec.sample, spec.mapper))
