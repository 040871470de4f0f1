"""Files as a source: expand globs, pin by digest."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from registry.base.digest import digest_of
from registry.base.file_state import FileState
from registry.base.fs import file_sha256
from registry.base.locations import (
    is_local,
    local_path,
    packed_suffix,
    protocol_of,
    public_location,
    unpacked_suffix,
)
from registry.errors import AccessError, DigestMismatchError, OfflineError, SourceError
from registry.sources.filesystem import (
    filesystem,
    option_errors,
    read_secrets,
    source_errors,
)
from registry.sources.pins import (
    ExpectedFile,
    PinnedFile,
    SourceContext,
    SourcePin,
    UnknownDigestError,
)

__all__ = [
    "FilesystemPool",
    "changed_error",
    "download",
    "expand",
    "offline_error",
    "pin_files",
    "probe_files",
]

_MAGIC = frozenset("*?[")
_VALIDATORS = ("ETag", "etag", "VersionId", "Last-Modified", "LastModified", "mtime", "Content-MD5")
# Smaller files are read whole even where the first samples would do: then all views share them.
_SMALL_LOCAL_BYTES = 1 << 26
_SMALL_REMOTE_BYTES = 1 << 20


class FilesystemPool:
    """File systems for one source: one a protocol, made when it is needed."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.options = options
        self._made: dict[str, Any] = {}

    def of(self, location: str) -> Any:
        """Return the file system of a location."""
        protocol = protocol_of(location)
        if protocol not in self._made:
            options = read_secrets(self.options, location=location)
            self._made[protocol] = filesystem(location, options)
        return self._made[protocol]


def expand(paths: Sequence[str], options: Mapping[str, Any]) -> list[str]:
    """Return the locations that paths and globs stand for, a glob's in order of their names.

    Raises:
        SourceError: a glob matches nothing, or can't be used with the file system.
    """
    pool = FilesystemPool(options)
    return [location for path in paths for location in _expand_one(path, pool)]


def _expand_one(path: str, pool: FilesystemPool) -> list[str]:
    if not _is_glob(path) or (is_local(path) and os.path.exists(local_path(path))):
        return [path]
    if is_local(path):
        found = [
            name for name in glob.glob(local_path(path), recursive=True) if os.path.isfile(name)
        ]
    else:
        files = pool.of(path)
        with option_errors(path):
            found = [files.unstrip_protocol(name) for name in files.glob(path)]
    if not found:
        raise SourceError(f"{public_location(path)}: no file matches")
    return sorted(found)


def pin_files(
    paths: Sequence[str], options: Mapping[str, Any], context: SourceContext, *, asked: str = ""
) -> SourcePin:
    """Return the digests of the files; remote ones are fetched where they are not known.

    What the lockfile pins is taken from it, and only local files are compared with it here.
    `asked` is the folder that the paths are the files of, if any.
    """
    for path in paths:
        _check_credentials(path, options)
    pool = FilesystemPool(options)
    files = []
    for path, location, locked in _locate(paths, options, context):
        if locked is not None:
            file = _pin_locked(location, locked, context)
        else:
            file = _pin_unlocked(location, options, pool, context)
        files.append(replace(file, asked=asked or (path if path != location else "")))
    # The bytes and the suffix decide what is decoded; where they lie does not.
    identity = {"files": [[file.sha256, _form(file.location)] for file in files]}
    return SourcePin(identity, tuple(files))


_Located = tuple[str, str, ExpectedFile | None]
"""A path of a source, a location that it stands for, and what the lockfile says of that."""


def _locate(
    paths: Sequence[str], options: Mapping[str, Any], context: SourceContext
) -> list[_Located]:
    """Return the locations of paths: those that the lockfile has for it, else what is there."""
    lock = {path: context.lock.files(path) if context.lock else None for path in paths}
    found = _locations([path for path in paths if lock[path] is None], options, context)
    located: list[_Located] = []
    for path in paths:
        pinned = lock[path]
        if pinned is None:
            located += [(path, location, None) for location in found[path]]
        else:
            located += [(path, location, locked) for location, locked in pinned]
    return located


def _pin_locked(location: str, locked: ExpectedFile, context: SourceContext) -> PinnedFile:
    """Return what the lockfile says of a file; only a local one is looked at now.

    Remote bytes are compared when they are fetched, which a build that is cached never does.
    """
    pinned = PinnedFile(
        location, locked.sha256 or "", locked.size or 0, locked.etag, locked.version_id
    )
    if is_local(location) and context.lock is not None and context.lock.compare:
        found = _pin_local(location, context)
        if found.sha256 != pinned.sha256:
            raise _mismatch(pinned, found.sha256, context)
        return replace(pinned, size=found.size, state=found.state)
    return pinned


def _mismatch(pinned: PinnedFile, sha256: str, context: SourceContext) -> SourceError:
    shown = public_location(pinned.location)
    if context.lock is None:
        return changed_error(shown)
    return DigestMismatchError(
        shown,
        dataset=context.lock.dataset,
        pinned=f"sha256:{pinned.sha256}",
        found=f"sha256:{sha256}",
    )


def _pin_unlocked(
    location: str, options: Mapping[str, Any], pool: FilesystemPool, context: SourceContext
) -> PinnedFile:
    if is_local(location):
        return _pin_local(location, context)
    return _pin_remote(location, _memory_key(location, options), pool, context)


def _form(location: str) -> str:
    return unpacked_suffix(location) + packed_suffix(location)


def _locations(
    paths: Sequence[str], options: Mapping[str, Any], context: SourceContext
) -> dict[str, list[str]]:
    """Expand each path; offline, remote globs give what they gave when last looked at."""
    if not any(_is_remote_glob(path) for path in paths):
        return _expanded(paths, options)
    key = digest_of({"paths": list(paths), "options": dict(options)})
    if not context.offline:
        found = _expanded(paths, options)
        context.cache.remember(key, {"found": found})
        return found
    known = context.cache.recall(key, "found")
    if known is None:
        raise offline_error(paths[0])
    return dict(known["found"])


def _expanded(paths: Sequence[str], options: Mapping[str, Any]) -> dict[str, list[str]]:
    pool = FilesystemPool(options)
    return {path: _expand_one(path, pool) for path in paths}


def _is_remote_glob(path: str) -> bool:
    return not is_local(path) and _is_glob(path)


def _is_glob(path: str) -> bool:
    return bool(_MAGIC.intersection(path)) and protocol_of(path) not in ("http", "https")


def offline_error(location: str) -> OfflineError:
    """Return the error of a file that would have to be asked for."""
    shown = public_location(location)
    return OfflineError(f"{shown}: not in the cache, and requests are switched off (offline)")


def changed_error(shown: str) -> SourceError:
    """Return the error of a file that is not what it was when it was looked at."""
    return SourceError(f"{shown}: changed while it was read (try again)")


def _check_credentials(path: str, options: Mapping[str, Any]) -> None:
    """Refuse to send this machine's own credentials to a server that a manifest names."""
    endpoint = options.get("endpoint_url") or _nested(options).get("endpoint_url")
    named = options.get("anon") is True or (options.get("key") and options.get("secret"))
    if endpoint and not named:
        raise AccessError(
            f"{public_location(path)}: this machine's own credentials are not sent to the"
            f" endpoint_url of a manifest; give key and secret as {{env: NAME}}, or anon: true"
        )


def _nested(options: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = options.get("client_kwargs")
    return inner if isinstance(inner, Mapping) else {}


def _pin_local(location: str, context: SourceContext) -> PinnedFile:
    path = Path(local_path(location))
    with option_errors(location):
        state = FileState.of(path)
        racy = state.is_racy()
        key = digest_of({"local": str(path)})
        known = context.cache.recall(key, "state", "sha256", "racy")
        if known and known["state"] == list(state) and not known["racy"]:
            return PinnedFile(location, known["sha256"], state.size, state=state)
        if not context.whole:
            raise UnknownDigestError(str(path))
        sha256 = file_sha256(path)
    context.cache.remember(key, {"state": state, "sha256": sha256, "racy": racy})
    return PinnedFile(location, sha256, state.size, state=state)


def _memory_key(location: str, options: Mapping[str, Any]) -> str:
    return digest_of({"location": location, "options": dict(options)})


def _pin_remote(
    location: str, key: str, pool: FilesystemPool, context: SourceContext
) -> PinnedFile:
    if context.offline:
        known = _remembered(key, context)
        if known is None and not context.whole:
            raise UnknownDigestError(public_location(location))
        if known is None:
            raise offline_error(location)
        return _of_memory(location, known)
    with option_errors(location):
        state = _remotefile_state(pool.of(location).info(location))
    known = _remembered(key, context)
    if not _is_current(known, state, context):
        if not context.whole:
            raise UnknownDigestError(public_location(location))
        # One process fetches; the others find its bytes when the lock is theirs.
        with context.cache.working("blobs", key):
            latest = _remembered(key, context)
            if latest == known or not _is_current(latest, state, context):
                return _fetch_new(location, key, state, pool, context)
            known = latest
    return _of_memory(location, known)


def _of_memory(location: str, known: Mapping[str, Any]) -> PinnedFile:
    validators = known["state"]["validators"]
    etag = validators.get("ETag") or validators.get("etag")
    return PinnedFile(location, known["sha256"], known["size"], etag, validators.get("VersionId"))


def probe_files(
    paths: Sequence[str], options: Mapping[str, Any], context: SourceContext
) -> SourcePin | None:
    """Return what tells files apart without reading them, for a build of the first samples.

    None where nothing does (a server that gives no ETag or date, a file that was just written),
    and where they are so small that reading them whole is as good.
    """
    for path in paths:
        _check_credentials(path, options)
    pool = FilesystemPool(options)
    files, states = [], []
    for _, location, locked in _locate(paths, options, context):
        if locked is not None and context.cache.blob(locked.sha256 or "").exists():
            return None
        state = (
            _probe_local(location)
            if is_local(location)
            else _probe_remote(location, options, pool, context)
        )
        if state is None or (locked and not _is_pinned(location, state, locked, context)):
            return None
        seen = FileState(*state["validators"]) if is_local(location) else None
        files.append(PinnedFile(location, "", state["size"], state=seen))
        states.append([_memory_key(location, options), state])
    return SourcePin({"glance": states}, tuple(files))


def _probe_local(location: str) -> dict[str, Any] | None:
    with option_errors(location):
        state = FileState.of(local_path(location))
    if state.size < _SMALL_LOCAL_BYTES or state.is_racy():
        return None
    return {"size": state.size, "validators": list(state)}


def _probe_remote(
    location: str, options: Mapping[str, Any], pool: FilesystemPool, context: SourceContext
) -> dict[str, Any] | None:
    key = digest_of({"glance": location, "options": dict(options)})
    if context.offline:
        known = context.cache.recall(key, "state")
        return known["state"] if known else None
    with option_errors(location):
        state = _remotefile_state(pool.of(location).info(location))
    if not state["validators"] or (state["size"] or 0) < _SMALL_REMOTE_BYTES:
        return None
    context.cache.remember(key, {"state": state})
    return state


def _is_pinned(
    location: str, state: Mapping[str, Any], locked: ExpectedFile, context: SourceContext
) -> bool:
    """Return whether a glance tells that a file still has the pinned bytes."""
    if is_local(location):
        with contextlib.suppress(UnknownDigestError):
            return _pin_locked(location, locked, replace(context, whole=False)).size == locked.size
        return False
    now = _of_memory(location, {"state": state, "sha256": "", "size": state["size"]})
    etag = None if (now.etag or "").startswith("W/") else now.etag  # of much the same bytes
    same = [(etag, locked.etag), (now.version_id, locked.version_id)]
    known = [pair for pair in same if None not in pair]
    return now.size == locked.size and bool(known) and all(a == b for a, b in known)


def _remembered(key: str, context: SourceContext) -> Any:
    return context.cache.recall(key, "state", "sha256", "size")


def _is_current(known: Any, state: dict[str, Any], context: SourceContext) -> bool:
    return bool(known and state["validators"] and known["state"] == state and not context.refresh)


def _fetch_new(
    location: str, key: str, state: dict[str, Any], pool: FilesystemPool, context: SourceContext
) -> PinnedFile:
    pinned = download(location, pool, state["size"], context)
    known = {"state": state, "sha256": pinned.sha256, "size": pinned.size}
    context.cache.remember(key, known)
    return _of_memory(location, known)


def _remotefile_state(info: Mapping[str, Any]) -> dict[str, Any]:
    validators = {name: str(info[name]) for name in _VALIDATORS if info.get(name)}
    return {"size": info.get("size"), "validators": validators}


def download(
    location: str,
    pool: FilesystemPool,
    expected: int | None,
    context: SourceContext,
    *,
    pinned: PinnedFile | None = None,
) -> PinnedFile:
    """Fetch a remote file into the blobs; a transfer of another length is an error.

    With `pinned`, bytes of another digest are an error, and never come into the blobs.
    """
    from registry.sources.callback import Counter

    files = pool.of(location)
    with context.cache.temporary() as folder:
        path = folder / "download"
        with source_errors(location):
            files.get_file(location, str(path), callback=Counter(context.report, expected))
        size = path.stat().st_size
        if expected not in (None, size):
            message = f"the transfer gave {size} of {expected} bytes"
            raise SourceError(f"{public_location(location)}: {message} (try again)")
        sha256 = file_sha256(path)
        if pinned is not None and sha256 != pinned.sha256:
            raise _mismatch(pinned, sha256, context)
        context.cache.store_blob(path, sha256)
    return PinnedFile(location, sha256, size)
