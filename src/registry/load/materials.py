"""Derive the materials of an open dataset, and compare them with those that are pinned."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict, replace

from registry.base.digest import digest_of
from registry.base.local_files import FileState
from registry.base.locations import Location
from registry.base.materials import Material, Materials, Original, Parts, SamplesId
from registry.errors import LockError, list_names
from registry.lockfile.models import PIN_FORMAT, CommitPin, Pin
from registry.lockfile.origins import NAMED
from registry.lockfile.pinned import DEFAULT_BRANCH
from registry.lockfile.spec_digest import portable, requested_location, spec_digest
from registry.manifest.source import Source, is_commit, revision_in
from registry.sources.files import pin_local
from registry.sources.source_type import reader_of, records_of
from registry.store.rows import FILE_COLUMNS

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary
    from registry.load.named_files import NamedFiles
    from registry.manifest.models import DatasetSpec
    from registry.pipeline.execute import LoadResult
    from registry.samples.digest import SamplesDigest
    from registry.sources.pins import Pins, SourceContext, SourcePin
    from registry.store.arrow_dataset import ArrowDataset

__all__ = [
    "Named",
    "check_named",
    "code_materials",
    "commit_pin",
    "first_columns",
    "locked_sources",
    "make_pin",
    "materials_of",
    "named_differences",
    "named_files_of",
    "named_materials",
    "samples_id_with_named",
]

_MAX_ROWS = 50
"""Number of files of one folder that have a row each; more have one for the folder."""

Named = dict[str, Any]
"""What samples name, by the field of `Materials`."""
_JSON_COLUMN_RECORDS = 1000
"""Number of records whose keys are the columns of a JSON file, which has no header."""


def materials_of(
    spec: DatasetSpec, opened: LoadResult, digest: SamplesDigest, context: SourceContext
) -> Materials:
    """Return what the samples of a dataset depend on."""
    columns = opened.entry.meta["columns"]
    return Materials(
        sources=locked_sources(spec, opened.pins),
        **named_materials(spec, opened.dataset, columns, context),
        code=code_materials(spec, opened.pins),
        samples=digest.samples,
        ordered=digest.ordered,
        unordered=digest.unordered,
    )


def code_materials(spec: DatasetSpec, pins: Pins) -> dict[str, str]:
    """Return the top-level packages of the mappers, if there are any, with their digests."""
    found = {}
    if spec.companion is not None and pins.companion is not None:
        found = code_materials(spec.companion, pins.companion)
    if spec.mapper is not None and pins.code is not None:
        found[spec.mapper.partition(":")[0].partition(".")[0]] = pins.code
    return found


# --- sources ---


def locked_sources(spec: DatasetSpec, pins: Pins) -> tuple[Material, ...]:
    """Return the rows for all that a dataset reads, in the order of `DatasetSpec.all_sources`."""
    pairs = zip(spec.all_sources, pins.all_sources, strict=True)
    rows = [row for source, pinned in pairs for row in _rows(source, pinned, spec.folder)]
    # Deduplicated: parts of `concat` may name the same file.
    return tuple(dict.fromkeys(rows))


def _rows(source: Source, pinned: SourcePin, folder: Path) -> Iterator[Material]:
    """Yield the rows for one source: its commit, or its files."""
    repository = source.repository
    if repository is not None and pinned.revision is not None:
        # A manifest with a full commit already says what the row's `requested` would.
        floats = not is_commit(repository.revision)
        requested = (repository.revision or DEFAULT_BRANCH) if floats else None
        yield Material(location=repository.location, requested=requested, revision=pinned.revision)
    for file in (*pinned.files, *pinned.contents):
        location = portable(file.location, folder)
        requested = requested_location(Location(file.requested or file.location), folder)
        yield Material(
            location=location,
            requested=None if requested == location else requested,
            etag=file.etag,
            version_id=file.version_id,
            size=file.size,
            sha256=file.sha256,
            parts=file.parts,
        )


def commit_pin(spec: DatasetSpec, context: SourceContext) -> CommitPin | None:
    """Return the pin of a dataset whose manifest names its commits; None if it doesn't.

    Makes no request.

    Raises:
        SourceError: a file of the catalog, such as a lookup table, can't be read.
    """
    if not spec.has_commit:
        return None
    rows = [row for source in spec.all_sources for row in _commit_rows(source, spec, context)]
    return CommitPin(spec=spec_digest(spec), sources=tuple(dict.fromkeys(rows)), format=PIN_FORMAT)


def _commit_rows(source: Source, spec: DatasetSpec, context: SourceContext) -> Iterator[Material]:
    repository = source.repository
    if repository is not None:
        yield Material(location=repository.location, revision=repository.revision)
    elif not source.is_remote:
        yield from _rows(source, reader_of(source).pin(context), spec.folder)
    else:
        for path in source.paths():
            if not Location(path).is_local:
                location, revision = portable(path, spec.folder), revision_in(path)
                commit = revision if is_commit(revision) else None
                yield Material(location=location, revision=commit, sha256=source.stated.get(path))
                continue
            file = pin_local(Location(path), context)
            location = portable(file.location, spec.folder)
            yield Material(location=location, size=file.size, sha256=file.sha256)


# --- what samples name ---


def named_materials(
    spec: DatasetSpec, dataset: ArrowDataset, columns: Iterable[str], context: SourceContext
) -> Named:
    """Return the files that the samples of a dataset name, and the images that those name."""
    found = named_files_of(spec, dataset, columns, context.boundary)
    return {} if found is None else _digested(found, spec, context)


def named_files_of(
    spec: DatasetSpec, dataset: ArrowDataset, columns: Iterable[str], boundary: Boundary
) -> NamedFiles | None:
    """Return the local files that the samples of a dataset name; None if they can't name any."""
    base = spec.source.base_location
    if base is None or not base.is_local or set(FILE_COLUMNS).isdisjoint(columns):
        return None
    from registry.load.named_files import named_files  # few datasets name files

    return named_files(dataset.as_stored(), base, boundary.of_location(base))


def _digested(found: NamedFiles, spec: DatasetSpec, context: SourceContext) -> Named:
    return {
        "files": tuple(_file_rows(found.files, spec.folder, context)),
        "sandbox": tuple(_file_rows(found.sandbox, spec.folder, context)),
        "images": found.images,
    }


def _file_rows(paths: Iterable[str], folder: Path, context: SourceContext) -> Iterator[Material]:
    """Yield a row for each file, or for each folder with many of them."""
    by_folder = defaultdict(list)
    for path in paths:
        by_folder[os.path.dirname(path)].append(pin_local(Location(path), context))
    for parent, pinned in sorted(by_folder.items()):
        rows = [
            Material(location=portable(one.location, folder), size=one.size, sha256=one.sha256)
            for one in pinned
        ]
        if len(rows) <= _MAX_ROWS:
            yield from rows
            continue
        digest = digest_of([[one.location, one.sha256] for one in rows])
        yield Material(
            location=f"{portable(Location(parent), folder)}/",
            size=sum(one.size for one in pinned),
            sha256=digest.removeprefix("sha256:"),
        )


def samples_id_with_named(
    spec: DatasetSpec, dataset: ArrowDataset, columns: Iterable[str], context: SourceContext
) -> SamplesId:
    """Return which samples an unpinned dataset has, with the digest of the files that they name."""
    from registry.samples.digest import samples_id  # a warm open doesn't need it

    named = named_materials(spec, dataset, columns, context)
    rows = [(one.location, one.sha256) for key in NAMED for one in named.get(key, ())]
    return replace(samples_id(dataset), named=digest_of(rows) if rows else "")


def named_differences(pinned: Materials, found: Named) -> Iterator[str]:
    """Yield how the files that samples name, and images, differ from those that are pinned."""
    for key, what in (("files", "which its samples name"), ("sandbox", "of its sandbox")):
        old = {one.location: one for one in getattr(pinned, key)}
        new = {one.location: one for one in found.get(key, ())}
        changed = [one for one in new if one in old and old[one] != new[one]]
        for names, how in (
            (changed, "not as pinned"),
            (new.keys() - old.keys(), "not pinned"),
            (old.keys() - new.keys(), "pinned, but missing or not named any more"),
        ):
            if names:
                yield f"{list_names(sorted(names), 5)}, {what}: {how}"
    if pinned.images != (images := found.get("images", ())):
        yield f"images is {list(pinned.images)} in its pin, but {list(images)}"


def check_named(
    spec: DatasetSpec, opened: LoadResult, pinned: Materials, context: SourceContext
) -> None:
    """Compare the files that samples name with those that are pinned, once per state of the files.

    Raises:
        LockError: they differ.
    """
    meta, cache = opened.entry.meta, context.cache
    if not pinned.files and not pinned.sandbox and set(FILE_COLUMNS).isdisjoint(meta["columns"]):
        return
    rows = [[one.location, one.sha256] for one in (*pinned.files, *pinned.sandbox)]
    key = digest_of([meta["fingerprint"], meta["files"], spec.location, rows, pinned.images])
    known = cache.recall(key, "states")
    if known is not None and _states(known["states"]) == known["states"]:
        return
    found = named_files_of(spec, opened.dataset, meta["columns"], context.boundary)
    states = {} if found is None else _states([*found.files, *found.sandbox, *found.folders])
    named: Named = {} if found is None else _digested(found, spec, context)
    differences = list(named_differences(pinned, named))
    if differences:
        raise LockError(
            f"{spec.name}: {'; '.join(differences)} (restore them, or review the change, and"
            f" `registry lock --upgrade {spec.name}` pins what is there now)"
        )
    if not any(FileState(*state).is_racy() for state in states.values()):
        cache.remember(key, {"states": states})


def _states(paths: Iterable[str]) -> dict[str, list[int]]:
    return {path: list(FileState.or_absent(path)) for path in paths}


def make_pin(
    spec: DatasetSpec,
    opened: LoadResult,
    digest: SamplesDigest,
    context: SourceContext,
    original: SamplesDigest | None = None,
) -> Pin:
    """Return the pin of a dataset that was just built; `original` is it without corrections."""
    kept = original and Original(
        samples=original.samples, ordered=original.ordered, unordered=original.unordered
    )
    materials = materials_of(spec, opened, digest, context)
    materials = replace(
        materials, sources=tuple(_with_parts(spec, opened, materials, context)), original=kept
    )
    return Pin(
        **asdict(materials),
        spec=spec_digest(spec),
        columns=first_columns(spec, opened.pins, context),
        format=PIN_FORMAT,
    )


def _with_parts(
    spec: DatasetSpec, opened: LoadResult, materials: Materials, context: SourceContext
) -> Iterator[Material]:
    """Yield the rows of the sources, with the parts of remote Parquet files that are read."""
    from registry.pipeline.file_rows import columns_read  # loads pyarrow
    from registry.sources.pinned_files import parts_worth_it

    read = [file.location for one in opened.pins.all_sources for file in one.files]
    parts: dict[str, Parts | None] = {}
    for source, pinned in zip(spec.sources, opened.pins.sources, strict=True):
        for file in pinned.files:
            # A file that is read twice has one row, for all that is read of it.
            if source.type == "parquet" and read.count(file.location) == 1:
                wanted = columns_read(spec, source.of_file(file.location))
                row = portable(file.location, spec.folder)
                parts[row] = parts_worth_it(file, wanted, context)
    # Names of files beside a remote source are looked for record by record.
    names_files = not set(FILE_COLUMNS).isdisjoint(opened.entry.meta["columns"])
    for one in materials.sources:
        yield one if names_files else replace(one, parts=parts.get(one.location))


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
