"""Make the pin of a dataset: its sources, its first columns and the digests of its samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.lockfile.models import PIN_FORMAT, LockedSource, Pin
from registry.lockfile.pinned import DEFAULT_BRANCH
from registry.lockfile.spec_digest import portable, requested_location, spec_digest
from registry.manifest.source import Source, is_commit
from registry.sources.source_type import records_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.manifest.models import DatasetSpec
    from registry.pipeline.execute import LoadResult
    from registry.sources.pins import Pins, SourceContext, SourcePin
    from registry.store.digest import SamplesDigest

__all__ = ["first_columns", "locked_sources", "make_pin"]

_JSON_COLUMN_RECORDS = 1000
"""Number of records whose keys are the columns of a JSON file, which has no header."""


def make_pin(
    spec: DatasetSpec, opened: LoadResult, digest: SamplesDigest, context: SourceContext
) -> Pin:
    """Return the pin of a dataset that was just built."""
    return Pin(
        spec=spec_digest(spec),
        sources=locked_sources(spec, opened.pins),
        samples=digest.samples,
        columns=first_columns(spec, opened.pins, context),
        ordered=digest.ordered,
        unordered=digest.unordered,
        format=PIN_FORMAT,
    )


def first_columns(spec: DatasetSpec, pins: Pins, context: SourceContext) -> tuple[str, ...]:
    """Return the columns in the first records of the first source, as a pin has them.

    Of JSON, more records are read for a column that the manifest names, as `validate` takes a
    column that a pin lacks for misspelt.
    """
    from registry.pipeline.diagnosis import unseen_columns

    source, unseen = spec.sources[0], unseen_columns(spec)
    columns: dict[str, None] = {}
    for number, record in enumerate(records_of(source, pins.sources[0], context), 1):
        columns.update(dict.fromkeys(map(str, record)))
        unseen.see(record)
        if not source.columns_vary or (number >= _JSON_COLUMN_RECORDS and not unseen.uses):
            break
    # A lone surrogate can't be encoded as UTF-8, which the lockfile is written in.
    return tuple(name.encode("utf-8", "replace").decode() for name in columns)


def locked_sources(spec: DatasetSpec, pins: Pins) -> tuple[LockedSource, ...]:
    """Return the lock's rows for all sources of a dataset."""
    lookup = () if pins.side is None else (pins.side,)
    pairs = zip(spec.all_sources, (*pins.sources, *lookup), strict=True)
    rows = [row for source, pinned in pairs for row in _rows(source, pinned, spec.folder)]
    # Deduplicated: parts of `concat` may name the same file.
    return tuple(dict.fromkeys(rows))


def _rows(source: Source, pinned: SourcePin, folder: Path) -> Iterator[LockedSource]:
    """Yield the lock's rows for one source: its commit, or its files."""
    repository = source.repository
    if repository is not None and pinned.revision is not None:
        # A manifest with a full commit already says what the row's `requested` would.
        floats = not is_commit(repository.revision)
        requested = (repository.revision or DEFAULT_BRANCH) if floats else None
        yield LockedSource(
            location=repository.location, requested=requested, revision=pinned.revision
        )
    for file in (*pinned.files, *pinned.contents):
        location = portable(file.location, folder)
        requested = requested_location(file.requested or file.location, folder)
        yield LockedSource(
            location=location,
            requested=None if requested == location else requested,
            etag=file.etag,
            version_id=file.version_id,
            size=file.size,
            sha256=file.sha256,
        )
