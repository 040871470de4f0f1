"""Files as a source: expand globs, pin by digest, fetch remote bytes once."""

from __future__ import annotations

import contextlib
import glob
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from fsspec.callbacks import Callback

from registry.canonical import digest_of
from registry.decode.bytes import SourceBytes, unpacked_suffix
from registry.errors import AccessError, OfflineError, SourceError
from registry.files import file_sha256
from registry.progress import Progress
from registry.sources.filesystem import (
    filesystem,
    is_local,
    local_path,
    open_location,
    protocol_of,
    public_location,
    read_secrets,
    source_errors,
)
from registry.sources.pin import Access, PinnedFile, SourcePin

__all__ = ["expand", "fetch_files", "open_files", "pin_files"]

_MAGIC = frozenset("*?[")
_VALIDATORS = ("ETag", "etag", "VersionId", "Last-Modified", "LastModified", "mtime", "Content-MD5")
# A file changed within this time of being hashed may change again under the same time stamp.
_RACY_SECONDS = 2.0
_OWN_CREDENTIALS = frozenset({"key", "anon", "profile"})


def expand(paths: Sequence[str], options: Mapping[str, Any]) -> list[str]:
    """Return the locations that paths and globs stand for, a glob's in order of their names.

    Raises:
        SourceError: a glob matches nothing, or can't be used with the file system.
    """
    return [location for path in paths for location in _expand_one(path, options)]


def _expand_one(path: str, options: Mapping[str, Any]) -> list[str]:
    if not _is_glob(path) or (is_local(path) and os.path.exists(local_path(path))):
        return [path]
    if is_local(path):
        found = [
            name for name in glob.glob(local_path(path), recursive=True) if os.path.isfile(name)
        ]
    else:
        files = filesystem(path, read_secrets(options, location=path))
        with source_errors(path):
            found = [files.unstrip_protocol(name) for name in files.glob(path)]
    if not found:
        raise SourceError(f"{public_location(path)}: no file matches")
    return sorted(found)


def open_files(paths: Sequence[str], options: Mapping[str, Any]) -> list[SourceBytes]:
    """Return files to read straight from where they are, for the loaders."""
    return [
        SourceBytes(public_location(location), partial(open_location, location, options))
        for location in expand(paths, options)
    ]


def pin_files(paths: Sequence[str], options: Mapping[str, Any], access: Access) -> SourcePin:
    """Return the digests of the files; remote ones are fetched where they are not known."""
    for path in paths:
        _check_credentials(path, options)
    files = tuple(
        _pin_one(location, options, access) for location in _locations(paths, options, access)
    )
    # The bytes and the suffix decide what is decoded; where they lie does not.
    identity = {"files": [[file.sha256, _form(file.location)] for file in files]}
    return SourcePin(identity, files)


def _form(location: str) -> str:
    path = public_location(location).removesuffix("?…")
    return f"{unpacked_suffix(path)} {os.path.splitext(path)[1].lower()}"


def _locations(paths: Sequence[str], options: Mapping[str, Any], access: Access) -> list[str]:
    """Expand the paths; offline, remote globs give what they gave when last looked at."""
    if not any(_is_remote_glob(path) for path in paths):
        return expand(paths, options)
    key = digest_of({"paths": list(paths), "options": dict(options)})
    if not access.offline:
        found = expand(paths, options)
        access.cache.remember(key, {"locations": found})
        return found
    known = access.cache.recall(key)
    if known is None:
        raise _offline(paths[0])
    return list(known["locations"])


def _is_remote_glob(path: str) -> bool:
    return not is_local(path) and _is_glob(path)


def _is_glob(path: str) -> bool:
    return bool(_MAGIC.intersection(path)) and protocol_of(path) not in ("http", "https")


def _offline(location: str) -> OfflineError:
    shown = public_location(location)
    return OfflineError(f"{shown}: not in the cache, and requests are switched off (offline)")


def _check_credentials(path: str, options: Mapping[str, Any]) -> None:
    """Refuse to send this machine's own credentials to a server that a manifest names."""
    endpoint = options.get("endpoint_url") or options.get("client_kwargs", {}).get("endpoint_url")
    if endpoint and not _OWN_CREDENTIALS.intersection(options):
        raise AccessError(
            f"{public_location(path)}: this machine's own credentials are not sent to the"
            f" endpoint_url of a manifest; give key and secret as {{env: NAME}}, or anon: true"
        )


def _pin_one(location: str, options: Mapping[str, Any], access: Access) -> PinnedFile:
    if is_local(location):
        return _pin_local(location, access)
    return _pin_remote(location, options, access)


def _pin_local(location: str, access: Access) -> PinnedFile:
    path = Path(local_path(location))
    with source_errors(location):
        state = _state(path)
        key = digest_of({"local": str(path)})
        known = access.cache.recall(key)
        if known and known["state"] == state and known["settled"]:
            return PinnedFile(location, known["sha256"], state[0])
        sha256 = file_sha256(path)
    settled = abs(time.time() - state[1] / 1e9) > _RACY_SECONDS
    access.cache.remember(key, {"state": state, "sha256": sha256, "settled": settled})
    return PinnedFile(location, sha256, state[0])


def _state(path: Path) -> list[int]:
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns, stat.st_ino]


def _pin_remote(location: str, options: Mapping[str, Any], access: Access) -> PinnedFile:
    key = digest_of({"location": location, "options": dict(options)})
    known = access.cache.recall(key)
    if access.offline:
        if known is None:
            raise _offline(location)
        return PinnedFile(location, known["sha256"], known["size"])
    files = filesystem(location, read_secrets(options, location=location))
    with source_errors(location):
        state = _remote_state(files.info(location))
    if known and state["validators"] and known["state"] == state and not access.refresh:
        return PinnedFile(location, known["sha256"], known["size"])
    pinned = _download(location, files, state, access)
    access.cache.remember(key, {"state": state, "sha256": pinned.sha256, "size": pinned.size})
    return pinned


def _remote_state(info: Mapping[str, Any]) -> dict[str, Any]:
    validators = {name: str(info[name]) for name in _VALIDATORS if info.get(name)}
    return {"size": info.get("size"), "validators": validators}


def _download(location: str, files: Any, state: dict[str, Any], access: Access) -> PinnedFile:
    """Fetch a remote file into the blobs; a transfer of another length is an error."""
    with access.cache.temporary() as folder:
        path = folder / "download"
        with source_errors(location):
            files.get_file(location, str(path), callback=_Counter(access, state["size"]))
        size = path.stat().st_size
        if state["size"] not in (None, size):
            message = f"the transfer gave {size} of {state['size']} bytes"
            raise SourceError(f"{public_location(location)}: {message} (try again)")
        sha256 = file_sha256(path)
        access.cache.keep_blob(path, sha256)
    return PinnedFile(location, sha256, size)


class _Counter(Callback):  # type: ignore[misc]  # fsspec has no types
    """Passes on how many bytes fsspec has fetched."""

    def __init__(self, access: Access, size: int | None) -> None:
        super().__init__(size=size)
        self._report = access.report

    def call(self, hook_name: str | None = None, **kwargs: Any) -> None:
        self._report(Progress("fetch", self.value, self.size))


def fetch_files(options: Mapping[str, Any], pinned: SourcePin, access: Access) -> list[SourceBytes]:
    """Return the files of a pin, remote ones from the blobs."""
    return [_fetch_one(file, options, access) for file in pinned.files]


def _fetch_one(file: PinnedFile, options: Mapping[str, Any], access: Access) -> SourceBytes:
    shown = public_location(file.location)
    if is_local(file.location):
        path = Path(local_path(file.location))
        return SourceBytes(shown, partial(_open_unchanged, path, file), str(path))
    path = access.cache.blob(file.sha256)
    if not path.exists():
        if access.offline:
            raise _offline(file.location)
        _download_again(file, options, access)
    return SourceBytes.of_file(shown.removesuffix("?…"), path)


def _download_again(file: PinnedFile, options: Mapping[str, Any], access: Access) -> None:
    files = filesystem(file.location, read_secrets(options, location=file.location))
    again = _download(file.location, files, {"size": file.size}, access)
    if again.sha256 != file.sha256:
        shown = public_location(file.location)
        raise SourceError(f"{shown}: changed while it was read (try again)")


@contextlib.contextmanager
def _open_unchanged(path: Path, file: PinnedFile) -> Iterator[IO[bytes]]:
    """Open a local file, and make sure at the end that it is still the one that was hashed."""
    with source_errors(str(path)):
        before = _state(path)
        with path.open("rb") as opened:
            yield opened
        if _state(path) != before or before[0] != file.size:
            raise SourceError(f"{path}: changed while it was read (try again)")
