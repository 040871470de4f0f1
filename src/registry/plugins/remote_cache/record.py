"""Records of the samples in a remote cache, with who wrote them and a proof, and packs of samples.

    v3/samples/<fingerprint>/entry.json      the record of an entry
    v3/packs/<sha256>.pack                   files of samples, one after the other
    v3/packs/<digest of the lockfile>.json   their records, with pack and offset; written last

A pack has the samples of many datasets, so that a cold machine makes few requests. A record proves
what an entry holds, wherever its bytes are. So a pack needs no trust of its own: each part is
compared with its digest, as an object of its own would be.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from registry import CacheError
from registry.api import (
    CACHE_FORMAT,
    CacheEntry,
    canonical_json,
    check_meta,
    convert,
    file_sha256,
    seal,
    unseal,
)
from registry.plugins.remote_cache.folder_store import copy_bytes

__all__ = [
    "ENTRY",
    "MAX_INDEX_BYTES",
    "MAX_RECORD_BYTES",
    "SAMPLES",
    "Pack",
    "Record",
    "Window",
    "Windows",
    "Writer",
    "collect",
    "entry_folder",
    "index_object",
    "index_text",
    "pack_object",
    "parse_index",
    "parse_record",
    "record_of",
    "record_text",
]


SAMPLES = "samples.arrow"
"""The one file of samples in the cache."""
ENTRY = "entry.json"
"""Name of the record of an entry."""
MAX_RECORD_BYTES = 1 << 24
"""A reader takes one byte more at most, by which `parse_record` sees that a record is too large."""
MAX_INDEX_BYTES = 1 << 27
"""The same for the index of packs: some 100,000 records."""

_RECORD_FORMAT = 1
_KEPT = ("name", "samples", "source", "batches", "columns", "quality", "limit")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Writer(Struct, frozen=True):
    """Who writes entries, and the key that proves it."""

    name: str
    key: bytes

    def signature(self, meta: Mapping[str, Any]) -> str:
        """Return the HMAC-SHA256 of what an entry holds, which has the digests of its files."""
        # The first line keeps the key's other uses apart from this one.
        head = f"registry remote cache {_RECORD_FORMAT}\n{self.name}\n".encode()
        return hmac.new(self.key, head + canonical_json(meta), hashlib.sha256).hexdigest()


class Record(Struct, frozen=True, omit_defaults=True):
    """What a remote cache says about an entry; nothing of it is trusted before it is checked."""

    fingerprint: str
    meta: dict[str, Any]
    """The keys of samples, as `Cache.publish` takes them."""
    sha256: str
    """Digest of its samples file."""
    size: int
    """Bytes of its samples file."""
    writer: str | None = None
    signature: str | None = None
    pack: str | None = None
    """Digest of the pack that has its samples file; None if that is an object of its own."""
    offset: int = 0
    """Where the samples file begins in the pack."""

    @property
    def samples_object(self) -> str:
        """The name of the object that has its samples file."""
        if self.pack is not None:
            return pack_object(self.pack)
        return f"{entry_folder(self.fingerprint)}/{self.sha256}.arrow"

    @property
    def end(self) -> int:
        """Where the samples file ends in that object."""
        return self.offset + self.size

    @property
    def _signed(self) -> dict[str, Any]:
        file = {"sha256": self.sha256, "size": self.size}
        return {**self.meta, "fingerprint": self.fingerprint, "file": file, "format": CACHE_FORMAT}

    def signed_by(self, writer: Writer | None) -> Record:
        """Return it with the signature of a writer, or with none."""
        if writer is None:
            return self
        return replace(self, writer=writer.name, signature=writer.signature(self._signed))

    def is_by(self, writers: Mapping[str, Writer]) -> bool:
        """Return whether one of the writers signed exactly this."""
        writer = writers.get(self.writer or "")
        if writer is None or self.signature is None:
            return False
        # Anyone may have written it: a lone surrogate is in no signature, and has no UTF-8.
        given = self.signature.encode("utf-8", "replace")
        return hmac.compare_digest(writer.signature(self._signed).encode(), given)


class _Text(Record, frozen=True, kw_only=True):
    """Contents of `entry.json`."""

    remote: int
    """Its format."""


class _Index(Struct, frozen=True):
    """Contents of the index of packs."""

    remote: int
    """Its format."""
    records: list[Record]


def entry_folder(fingerprint: str) -> str:
    """Return the folder of an entry in a store."""
    return f"v{CACHE_FORMAT}/samples/{fingerprint.removeprefix('sha256:')}"


def pack_object(sha256: str) -> str:
    """Return the name of a pack in a store."""
    return f"v{CACHE_FORMAT}/packs/{sha256}.pack"


def index_object(lock: str) -> str:
    """Return the name of the index of the packs for a lockfile, given the digest of its bytes."""
    return f"v{CACHE_FORMAT}/packs/{lock.removeprefix('sha256:')}.json"


def record_of(fingerprint: str, meta: Mapping[str, Any]) -> Record:
    """Return the record of a local entry, from the content of its `meta.json`."""
    file = meta["files"][SAMPLES]
    kept = {key: meta[key] for key in _KEPT}
    return Record(fingerprint, kept, file["sha256"], file["size"])


def record_text(record: Record) -> bytes:
    """Return the content of `entry.json`."""
    return seal({"remote": _RECORD_FORMAT, **msgspec.to_builtins(record)})


def parse_record(data: bytes, fingerprint: str) -> Record:
    """Return what `entry.json` says.

    Raises:
        CacheError: it is cut, altered, too large, of another entry or of another format.
    """
    if len(data) > MAX_RECORD_BYTES:
        raise CacheError("its entry.json is too large")
    with _invalid("its entry.json"):
        found = convert(unseal(data), _Text)
        _check_format(found.remote)
        return _checked(found, fingerprint)


def index_text(records: Iterable[Record]) -> bytes:
    """Return the content of the index of packs."""
    return seal({"remote": _RECORD_FORMAT, "records": msgspec.to_builtins(list(records))})


def parse_index(data: bytes) -> list[Record]:
    """Return the records of the index of packs.

    Raises:
        CacheError: it is cut, altered, too large or of another format.
    """
    if len(data) > MAX_INDEX_BYTES:
        raise CacheError("its index of packs is too large")
    with _invalid("its index of packs"):
        found = convert(unseal(data), _Index)
        _check_format(found.remote)
        return [_checked(record, record.fingerprint) for record in found.records]


@contextlib.contextmanager
def _invalid(what: str) -> Iterator[None]:
    try:
        yield
    # A deeply nested text, which anyone can give a correct checksum, is a RecursionError.
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise CacheError(f"{what} is invalid: {error}") from error


def _check_format(remote: int) -> None:
    if remote != _RECORD_FORMAT:
        raise ValueError(f"its format is {remote}, not {_RECORD_FORMAT}")


def _checked(found: Record, fingerprint: str) -> Record:
    """Return a record if it could be that of an entry of the local cache.

    Raises:
        ValueError: it is not, or it leads elsewhere than to samples.
    """
    files = {SAMPLES: {"size": found.size, "sha256": found.sha256}}
    # As for an entry of the local cache, so that what is published there can be found there.
    check_meta(
        {**found.meta, "fingerprint": found.fingerprint, "files": files}, "samples", fingerprint
    )
    digests = [found.sha256, *filter(None, [found.pack])]
    if not all(map(_SHA256.fullmatch, digests)) or found.size < 0 or found.offset < 0:
        raise ValueError("it has no digest or no size of its samples")
    if set(found.meta) != {*_KEPT}:
        raise ValueError("it has other keys than those of samples")
    values = {name: getattr(found, name) for name in Record.__struct_fields__}
    return Record(**values)


_PACK_BYTES = 64 << 20
"""A pack is closed before the file that would make it larger; a larger file is one of its own."""
_GAP_BYTES = 1 << 20
"""Less than this between two wanted files is downloaded too, which is faster than a request."""


class Pack(Struct, frozen=True):
    """Files of samples that become one object."""

    parts: Sequence[tuple[Record, Path]]

    def write(self, path: Path) -> tuple[str, list[Record]]:
        """Write the object; return its digest, and the records with their place in it.

        Raises:
            CacheError: a file is not what its record says.
            FileNotFoundError: another process has removed one.
        """
        offset, places = 0, []
        with path.open("xb") as target:
            for record, source in self.parts:
                if file_sha256(source) != record.sha256:
                    text = f"{source}: it doesn't have its digest (`registry cache verify`)"
                    raise CacheError(text)
                with source.open("rb") as file:
                    copy_bytes(file, target, record.size)
                places.append((record, offset))
                offset += record.size
        sha256 = file_sha256(path)
        return sha256, [replace(record, pack=sha256, offset=at) for record, at in places]


def collect(entries: Iterable[CacheEntry]) -> Iterator[Pack]:
    """Divide entries into packs; the same entries always give the same packs."""
    parts = {
        record.fingerprint: (record, entry.folder / SAMPLES)
        for entry in entries
        for record in [record_of(entry.meta["fingerprint"], entry.meta)]
    }
    ordered = sorted(parts.values(), key=lambda one: (one[0].meta["name"], one[0].fingerprint))
    size, pack = 0, list[tuple[Record, Path]]()
    for record, path in ordered:
        if pack and size + record.size > _PACK_BYTES:
            yield Pack(pack)
            size, pack = 0, []
        pack.append((record, path))
        size += record.size
    if pack:
        yield Pack(pack)


class Window:
    """A range of a pack that has wanted files, downloaded by the first thread that needs one."""

    def __init__(self, records: Sequence[Record], file: Path) -> None:
        self.object = records[0].samples_object
        self.start = records[0].offset
        self.size = records[-1].end - self.start
        self.file = file
        self.lock = threading.Lock()
        self._left = {record.fingerprint for record in records}

    def take(self, record: Record, path: Path) -> None:
        """Write a file of samples; the last one that is taken removes the range."""
        with self.file.open("rb") as source, path.open("xb") as target:
            source.seek(record.offset - self.start)
            copy_bytes(source, target, record.size)
        self._left.discard(record.fingerprint)
        if not self._left:
            self.file.unlink(missing_ok=True)


class Windows:
    """The records of an index, and the ranges to download for those that a run wants."""

    def __init__(
        self,
        records: Iterable[Record] = (),
        wanted: Iterable[Record] = (),
        folder: Path = Path(),
    ) -> None:
        """Plan the ranges: `wanted` are some of the records, `folder` has what is not taken yet."""
        self.records = {record.fingerprint: record for record in records}
        self._windows: dict[str, Window] = {}
        for number, group in enumerate(_ranges(wanted)):
            window = Window(group, folder / f"{number}.range")
            self._windows |= dict.fromkeys((one.fingerprint for one in group), window)

    def of(self, record: Record) -> Window | None:
        """Return the range that has the samples of a record, if it was planned for this place."""
        window = self._windows.get(record.fingerprint)
        return window if record is self.records.get(record.fingerprint) else None


def _ranges(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Yield records that one download fetches together."""
    ordered = sorted(
        (one for one in records if one.pack is not None),
        key=lambda one: (one.samples_object, one.offset),
    )
    for _, group in groupby(ordered, key=lambda one: one.samples_object):
        found: list[Record] = []
        for record in group:
            # The sizes are what anybody wrote there: no range is larger than a pack.
            is_far = found and record.offset - found[-1].end > _GAP_BYTES
            if is_far or (found and record.end - found[0].offset > _PACK_BYTES):
                yield found
                found = []
            found.append(record)
        yield found
