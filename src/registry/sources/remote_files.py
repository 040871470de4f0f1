"""One remote file: its version from the server's validators, and its download to the cache."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from msgspec.structs import replace

from registry.base.digest import digest_of
from registry.base.fs import HashedFile, file_sha256
from registry.base.locations import Location
from registry.errors import (
    AccessError,
    DigestMismatchError,
    MissingDependencyError,
    OfflineError,
    ReachError,
    SourceError,
    count_text,
)
from registry.manifest.source import Source
from registry.progress import Progress
from registry.sources.bodies import describe
from registry.sources.filesystem import FilesystemPool, changed_error, offline_error, option_errors
from registry.sources.pins import PinnedFile, SourceContext, UnknownDigestError

__all__ = [
    "digest_mismatch",
    "download",
    "fetch_blob",
    "fetch_blob_of",
    "location_key",
    "look_up",
    "mirrored",
    "no_mirror",
    "pin_remote",
    "probe_remote",
    "validated",
]

# After these, no mirror is asked. Refused access may be a matter of terms, which a mirror must not
# avoid; other bytes are news that nothing may hide; the others are up to this machine.
_FINAL = (AccessError, DigestMismatchError, MissingDependencyError, OfflineError, ReachError)
# Their names in the file systems of fsspec. A file without any is downloaded each time.
_VALIDATORS = ("ETag", "etag", "VersionId", "Last-Modified", "LastModified", "mtime", "Content-MD5")
# Smaller files are downloaded even if the first samples are enough: all views share them.
_SMALL_REMOTE_BYTES = 1 << 20


def location_key(location: Location, options: Mapping[str, Any]) -> str:
    """Return the key under which the cache remembers the version of a location."""
    return digest_of({"location": location, "options": dict(options)})


def pin_remote(location: Location, pool: FilesystemPool, context: SourceContext) -> PinnedFile:
    """Return the digest of a remote file; it is downloaded unless its validators are known.

    Raises:
        UnknownDigestError: it would have to be downloaded, and `context.whole` is false.
        OfflineError: it is not known.
    """
    key = location_key(location, pool.options)
    known = _recall(key, context)
    if context.offline:
        if known is not None and _is_trusted(known, context):
            return validated(location, known["state"], known["sha256"], known["size"])
        if not context.whole:
            raise UnknownDigestError(location.public)
        raise offline_error(location)
    state = look_up(location, pool, context)
    if not _is_current(known, state, context):
        if not context.whole:
            raise UnknownDigestError(location.public)
        # One process downloads; the others find the file when they acquire the lock.
        with context.working("blobs", key) as holding:
            latest = _recall(key, context)
            if latest == known or not _is_current(latest, state, context):
                latest = _download_current(location, pool, holding)
                context.cache.remember(key, latest)
            known = latest
    return validated(location, known["state"], known["sha256"], known["size"])


def _download_current(
    location: Location, pool: FilesystemPool, context: SourceContext
) -> dict[str, Any]:
    """Download a file as it is now; return its state and digest.

    Raises:
        ChangedError: it changes each time.
    """
    from registry.sources.transfer import ChangedError

    try:
        state = look_up(location, pool, context)
        pinned = download(location, pool, context, state=state)
    except ChangedError:
        # It was replaced in between; what is there now may stay.
        del context.lookups[location_key(location, pool.options)]
        state = look_up(location, pool, context)
        pinned = download(location, pool, context, state=state)
    return {"state": state, "sha256": pinned.sha256, "size": pinned.size}


def probe_remote(
    location: Location, pool: FilesystemPool, context: SourceContext
) -> dict[str, Any] | None:
    """Return the size and validators of a remote file; None if it is small or has none."""
    key = digest_of({"glance": location, "options": dict(pool.options)})
    if context.offline:
        known = context.cache.recall(key, "state")
        return known["state"] if known else None
    state = look_up(location, pool, context)
    if not state["validators"] or (state["size"] or 0) < _SMALL_REMOTE_BYTES:
        return None
    context.cache.remember(key, {"state": state})
    return state


def validated(
    location: Location, state: Mapping[str, Any], sha256: str = "", size: int | None = None
) -> PinnedFile:
    """Return a file with the ETag and VersionId of its state, and the size in it by default."""
    validators, size = state["validators"], state["size"] if size is None else size
    etag = validators.get("ETag") or validators.get("etag")
    return PinnedFile(location, sha256, size, etag, validators.get("VersionId"))


def download(
    location: Location,
    pool: FilesystemPool,
    context: SourceContext,
    *,
    state: Mapping[str, Any] | None = None,
    pinned: PinnedFile | None = None,
    again: bool = False,
) -> PinnedFile:
    """Download a remote file to the blobs; what is rejected goes to the quarantine.

    Args:
        location: Its URL.
        pool: Its file system.
        context: The cache, and what is reported.
        state: What `look_up` returned; a file of another size or ETag is an error.
        pinned: The digest and the version that the file must have.
        again: Whether a download with another digest came before.

    Raises:
        ChangedError: the file is not the one that was looked up.
        DigestMismatchError: it is not the one that the lockfile pins.
    """
    from registry.sources.transfer import Transfer  # not needed for cached samples

    found = validated(location, state) if state else pinned
    with context.cache.temporary() as folder:
        transfer = Transfer(
            location,
            pool,
            folder / "download",
            limits=context.boundary.limits,
            report=context.report,
            size=state["size"] if state else None,
            etag=(found.etag or "") if state and found else "",
            version_id=found.version_id if found else None,
        )
        try:
            sha256, size = transfer.run()
            if pinned is not None and sha256 != pinned.sha256:
                transfer.rejected = True
                with (folder / "download").open("rb") as file:
                    raise digest_mismatch(pinned, sha256, context, twice=again, read=file)
        finally:
            if transfer.rejected:
                context.cache.quarantine_file(folder / "download")
        context.cache.store_blob(folder / "download", sha256)
    return PinnedFile(location, sha256, size)


def fetch_blob(
    file: PinnedFile, pool: FilesystemPool, context: SourceContext, *, mirrors: Sequence[str] = ()
) -> Path:
    """Return the bytes of a pinned remote file in the blobs; they are downloaded if necessary.

    Where the source fails, they come from the first of the mirrors that answers.

    Raises:
        OfflineError: they are not there, or damaged.
        DigestMismatchError: two downloads have another digest than the lockfile pins.
        SourceError: neither the source nor a mirror has them.
    """
    was_there = os.path.lexists(context.cache.blob(file.sha256))
    path = context.cache.intact_blob(file.sha256)
    if path is not None:
        return path
    if context.offline:
        raise offline_error(file.location, damaged=was_there)
    # Another process may download it while this one waits for the lock.
    with context.working("blobs", file.sha256) as holding:
        path = context.cache.intact_blob(file.sha256)
        if path is None:
            _download_pinned(file, pool, holding, mirrors)
    return path or context.cache.blob(file.sha256)


def fetch_blob_of(source: Source, file: PinnedFile, context: SourceContext) -> Path:
    """Return the bytes of a pinned remote file of a source in the blobs, as `fetch_blob` does."""
    pool = FilesystemPool(source.fs_options, context.boundary, context.deadline, context.report)
    return fetch_blob(file, pool, context, mirrors=source.mirrors)


def _download_pinned(
    file: PinnedFile, pool: FilesystemPool, context: SourceContext, mirrors: Sequence[str]
) -> None:
    # A digest that neither the lockfile nor the manifest has is what the source itself gave.
    usable = mirrors if context.lock is not None or file.is_stated else ()
    try:
        _download_twice(file, pool, context)
    except _FINAL:
        raise
    except SourceError as error:
        if not usable:
            raise
        first = error
    else:
        return
    reasons = [str(first)]
    for mirror in usable:
        place = mirrored(Location(mirror), file.location)
        note = f"the mirror {place.public}, as the source failed: {reasons[0]}"
        context.report(Progress("wait", 1, note=note))
        copy = replace(file, location=place, etag=None, version_id=None, is_mirror=True)
        try:
            if place.is_local:
                _copy_local(copy, context)
            else:
                # Options, which may be secret, are for the host of the source.
                others = FilesystemPool({}, context.boundary, context.deadline, context.report)
                _download_twice(copy, others, context)
        except DigestMismatchError:
            raise
        except SourceError as error:
            reasons.append(f"mirror {error}")
        else:
            return
    count = count_text(len(usable), "mirror")
    raise SourceError(f"the source and {count} failed: {'; '.join(reasons)}") from first


def _download_twice(file: PinnedFile, pool: FilesystemPool, context: SourceContext) -> None:
    try:
        download(file.location, pool, context, pinned=file)
    except DigestMismatchError:  # a byte may have changed on the way
        download(file.location, pool, context, pinned=file, again=True)


def _copy_local(file: PinnedFile, context: SourceContext) -> None:
    import shutil  # slow to import, and few datasets have a mirror

    with context.cache.temporary() as folder:
        with (
            option_errors(file.location),
            context.boundary.open_location(file.location) as opened,
            HashedFile(folder / "copy") as written,
        ):
            shutil.copyfileobj(opened, written)
        if written.sha256 != file.sha256:
            raise digest_mismatch(file, written.sha256, context)
        context.cache.store_blob(folder / "copy", file.sha256)


def mirrored(mirror: Location, location: Location) -> Location:
    """Return where a mirror has a file of the source: under its name, if it is a folder."""
    if not mirror.endswith("/"):
        return mirror
    name = location.file_name
    return Location(mirror + (quote(name) if mirror.protocol in ("http", "https") else name))


@contextlib.contextmanager
def no_mirror(mirrors: Sequence[str]) -> Iterator[None]:
    """Say in the error about bytes without a digest why no mirror was asked for them."""
    try:
        yield
    except UnknownDigestError:
        raise
    except SourceError as error:
        if mirrors and not isinstance(error, _FINAL):
            hint = "mirrors only have bytes with a digest: state `sha256`, or lock the dataset"
            error.args = (f"{error} ({hint})",)
        raise


def digest_mismatch(
    pinned: PinnedFile,
    sha256: str,
    context: SourceContext,
    *,
    twice: bool = False,
    read: IO[bytes] | None = None,
) -> SourceError:
    """Return the error for bytes that differ from their pin; `read` is the file that has them."""
    if context.lock is None and not pinned.is_stated:
        return changed_error(pinned.location)
    from registry.decode.stream import STAND_IN_START, stand_in_fault  # only for an error

    fault = stand_in_fault(read.read(STAND_IN_START)) if read else ""
    return DigestMismatchError(
        pinned.location.public,
        dataset=context.dataset if context.lock is None else context.lock.dataset,
        pinned=f"sha256:{pinned.sha256}",
        found=f"sha256:{sha256}",
        twice=twice,
        fault=fault,
        is_stated=pinned.is_stated,
        is_mirror=pinned.is_mirror,
    )


def look_up(location: Location, pool: FilesystemPool, context: SourceContext) -> dict[str, Any]:
    """Return the size and validators of a remote file; each is asked for once per context."""
    key = location_key(location, pool.options)
    if key not in context.lookups:
        info = pool.ask(location, describe)
        validators = {name: str(info[name]) for name in _VALIDATORS if info.get(name)}
        context.lookups[key] = {"size": info.get("size"), "validators": validators}
    state: dict[str, Any] = context.lookups[key]
    return state


def _recall(key: str, context: SourceContext) -> Any:
    return context.cache.recall(key, "state", "sha256", "size")


def _is_current(known: Any, state: dict[str, Any], context: SourceContext) -> bool:
    is_same = known and state["validators"] and known["state"] == state
    return bool(is_same and not context.refresh and _is_trusted(known, context))


def _is_trusted(known: Mapping[str, Any], context: SourceContext) -> bool:
    """Return whether a remembered digest may be used: with `reread`, only if the bytes have it."""
    if not context.reread:
        return True
    path = context.cache.blob(known["sha256"])
    return path.is_file() and file_sha256(path) == known["sha256"]
