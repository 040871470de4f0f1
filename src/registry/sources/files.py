"""Files as a source: pinned by their digests."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from registry.base.digest import digest_of
from registry.base.fs import stream_sha256
from registry.base.local_files import FileState
from registry.base.locations import Location
from registry.boundary.hosts import endpoint_of
from registry.errors import AccessError, DigestMismatchError
from registry.manifest.source_models import FileSource
from registry.sources.bodies import is_strong
from registry.sources.filesystem import FilesystemPool, option_errors
from registry.sources.opening import expand_or_recall
from registry.sources.pins import PinnedFile, SourceContext, SourcePin, UnknownDigestError
from registry.sources.remote_files import (
    digest_mismatch,
    fetch_blob,
    location_key,
    no_mirror,
    pin_remote,
    probe_remote,
    validated,
)
from registry.sources.source_type import FormatReader

if TYPE_CHECKING:
    from registry.base.materials import Material
    from registry.decode.stream import SourceBytes
    from registry.sources.facts import SourceFacts

__all__ = ["FileReader", "pin_files", "pin_local", "probe_files"]

# Smaller files are read completely even if the first samples are enough: all views share them.
_SMALL_LOCAL_BYTES = 1 << 26


class FileReader(FormatReader[FileSource]):
    """Reads files: local ones in place, remote ones from the blobs of the cache."""

    def pin(self, context: SourceContext) -> SourcePin:
        """Return the digests of the files."""
        source = self.source
        found = pin_files(
            source.paths(), source.fs_options, context, stated=source.stated, mirrors=source.mirrors
        )
        return self._named(found)

    def probe(self, context: SourceContext) -> SourcePin | None:
        """Return the sizes and validators of the files."""
        # Only all of the bytes can be compared with a digest, and a mirror needs one.
        if self.source.sha256 or self.source.mirrors:
            return None
        found = probe_files(self.source.paths(), self.source.fs_options, context)
        return None if found is None else self._named(found)

    def _named(self, pin: SourcePin) -> SourcePin:
        """Return a pin that also depends on what the names of files say."""
        if not self.source.captures:
            return pin
        located = (self.source.of_file(file.location.public) for file in pin.files)
        identity = {**pin.identity, "columns": [one.columns for one in located]}
        return replace(pin, identity=identity)

    def facts(self, context: SourceContext, *, rows: int | None) -> SourceFacts:
        """Ask for size and validators of the files, and for the rows of Parquet files."""
        from registry.sources.facts import file_facts  # only `verify` asks

        _check_credentials(self.source.paths(), self.source.fs_options)
        found = file_facts(self.source, context)
        return replace(found, pin=self.probe(context) or self.pin(context))

    def fetch(
        self, pinned: SourcePin, context: SourceContext, *, rows: int | None = None
    ) -> list[SourceBytes]:
        """Return the files of a pin."""
        from registry.sources.pinned_files import fetch_files  # not needed for cached samples

        source = self.source
        return fetch_files(source.fs_options, pinned, context, mirrors=source.mirrors)


def pin_files(
    paths: Sequence[Location],
    options: Mapping[str, Any],
    context: SourceContext,
    *,
    requested: str = "",
    stated: Mapping[str, str] | None = None,
    mirrors: Sequence[str] = (),
) -> SourcePin:
    """Return the digests of the files. Remote files with an unknown digest are downloaded.

    Digests that the lockfile pins are taken from it; only local files are compared with it now.
    `requested` is the folder that the paths were found in, if any; `stated` are the digests that
    the manifest has, by path: bytes that differ are refused. `mirrors` have the bytes of digests.
    """
    _check_credentials(paths, options)
    pool = FilesystemPool(options, context.boundary, context.deadline, context.report)
    files = []
    for path, location, locked in _locate(paths, pool, context):
        digest = (stated or {}).get(path)
        if locked is not None:
            file = _pin_locked(location, locked, context)
        elif location.is_local:
            file = pin_local(location, context)
        elif digest is not None:
            file = _pin_stated(location, digest, pool, context, mirrors)
        else:
            with no_mirror(mirrors):
                file = replace(pin_remote(location.file, pool, context), location=location)
        if digest not in (None, file.sha256):
            raise DigestMismatchError(
                location.public,
                dataset=context.dataset,
                pinned=f"sha256:{digest}",
                found=f"sha256:{file.sha256}",
                is_stated=True,
                is_locked=locked is not None and not location.is_local,
            )
        files.append(replace(file, requested=requested or (path if path != location else "")))
    forms = [_form(file.location) for file in files]
    pairs = [[file.sha256, form] for file, form in zip(files, forms, strict=True)]
    return SourcePin({"files": pairs}, tuple(files))


def probe_files(
    paths: Sequence[Location], options: Mapping[str, Any], context: SourceContext
) -> SourcePin | None:
    """Return what distinguishes versions of the files, without reading them.

    Returns None if nothing does (a server without ETag and date, a file that was just written),
    or if the files are so small that reading them completely costs little.
    """
    if any(one.member for one in paths):  # a member can't be read from the start of its archive
        return None
    _check_credentials(paths, options)
    pool = FilesystemPool(options, context.boundary, context.deadline, context.report)
    files, states = [], []
    for _, location, locked in _locate(paths, pool, context):
        if locked is not None and context.cache.blob(locked.sha256 or "").exists():
            return None
        local = location.is_local
        state = _probe_local(location, context) if local else probe_remote(location, pool, context)
        if state is None or (locked and not _has_pinned_bytes(location, state, locked, context)):
            return None
        seen = FileState(*state["validators"]) if local else None
        etag = None if local else validated(location, state).etag
        files.append(PinnedFile(location, "", state["size"], etag, state=seen))
        states.append([location_key(location, options), state])
    # Part of fingerprints: another key than "glance" would make every user build again.
    return SourcePin({"glance": states}, tuple(files))


def _form(location: Location) -> str:
    """Return what determines the records beside the bytes of a file."""
    # A path would make the cache differ by machine; the names in an archive are part of its bytes.
    archive = location.file
    if archive != location:
        return location.removesuffix(archive)
    return location.unpacked_suffix + location.packed_suffix


def _locate(
    paths: Sequence[Location], pool: FilesystemPool, context: SourceContext
) -> Iterator[tuple[Location, Location, Material | None]]:
    """Yield each path with every location it matches, and the pin of that location.

    A glob that the lockfile pins is not expanded: it means the files that it matched then.
    """
    locked = {path: context.lock.files(path) if context.lock else None for path in paths}
    found = expand_or_recall([path for path in paths if locked[path] is None], pool, context)
    for path in paths:
        pinned = locked[path]
        if pinned is None:
            yield from ((path, location, None) for location in found[path])
        else:
            yield from ((path, location, file) for location, file in pinned)


def _pin_locked(location: Location, locked: Material, context: SourceContext) -> PinnedFile:
    """Return the pin of a file; only a local file is compared with it now.

    Remote bytes are compared when they are downloaded, which a cached dataset never needs.
    """
    pinned = PinnedFile(
        location,
        locked.sha256 or "",
        locked.size or 0,
        locked.etag,
        locked.version_id,
        parts=None if location.is_local else locked.parts,
    )
    if location.is_local and context.lock is not None and context.lock.compare:
        found = pin_local(location, context)
        if found.sha256 != pinned.sha256:
            with option_errors(location), context.boundary.open_location(location) as read:
                raise digest_mismatch(pinned, found.sha256, context, read=read)
        return replace(pinned, size=found.size, state=found.state)
    return pinned


def _pin_stated(
    location: Location,
    sha256: str,
    pool: FilesystemPool,
    context: SourceContext,
    mirrors: Sequence[str],
) -> PinnedFile:
    """Return the pin of a remote file by the digest in the manifest: no request is needed.

    Its bytes are compared when they are downloaded; a lockfile has their size, too.
    """
    file = PinnedFile(location.file, sha256, 0, is_stated=True)
    blob = context.cache.blob(sha256)
    if context.reread:
        blob = fetch_blob(file, pool, context, mirrors=mirrors)
    size = blob.stat().st_size if blob.is_file() else 0
    return replace(file, location=location, size=size)


def pin_local(location: Location, context: SourceContext) -> PinnedFile:
    """Return the digest of a local file, which is read unless it was read in this state."""
    path = location.local_path()
    with option_errors(location):
        state = FileState.of(context.boundary.check_location(location))
        # A file written within the clock's resolution may change again without a new mtime.
        racy = state.is_racy()
        key = digest_of({"local": path})
        known = None if context.reread else context.cache.recall(key, "state", "sha256", "racy")
        if known and known["state"] == list(state) and not known["racy"]:
            return PinnedFile(location, known["sha256"], state.size, state=state)
        if not context.whole:
            raise UnknownDigestError(path)
        with context.boundary.open_location(location) as file:
            sha256 = stream_sha256(file)
    context.cache.remember(key, {"state": state, "sha256": sha256, "racy": racy})
    return PinnedFile(location, sha256, state.size, state=state)


def _probe_local(location: Location, context: SourceContext) -> dict[str, Any] | None:
    with option_errors(location):
        state = FileState.of(context.boundary.check_location(location))
    if state.size < _SMALL_LOCAL_BYTES or state.is_racy():
        return None
    return {"size": state.size, "validators": list(state)}


def _has_pinned_bytes(
    location: Location, state: Mapping[str, Any], locked: Material, context: SourceContext
) -> bool:
    """Return whether a probe proves that a file still has its pinned bytes."""
    if location.is_local:
        with contextlib.suppress(UnknownDigestError):
            return _pin_locked(location, locked, replace(context, whole=False)).size == locked.size
        return False
    now = validated(location, state)
    # A weak ETag may stay the same when the bytes change (RFC 9110, 8.8.1).
    etag = now.etag if is_strong(now.etag or "") else None
    pairs = [(etag, locked.etag), (now.version_id, locked.version_id)]
    known = [pair for pair in pairs if None not in pair]
    return now.size == locked.size and bool(known) and all(a == b for a, b in known)


def _check_credentials(paths: Sequence[Location], options: Mapping[str, Any]) -> None:
    """Refuse to send this machine's own credentials to a server that a manifest names."""
    endpoint = endpoint_of(options)
    named = options.get("anon") is True or (options.get("key") and options.get("secret"))
    if "endpoint" in options:  # a Hub, whose client sends HF_TOKEN unless told otherwise
        named = options.get("token") not in (None, True)
        if paths and not named:
            raise AccessError(
                f"{paths[0].public}: HF_TOKEN is not sent to the endpoint of a manifest;"
                " give token as {env: NAME}, or token: false"
            )
    if endpoint and not named and paths:
        raise AccessError(
            f"{paths[0].public}: this machine's own credentials are not sent to the"
            f" endpoint_url of a manifest; give key and secret as {{env: NAME}}, or anon: true"
        )
