"""`entry.json` of a remote cache: what an entry holds, who wrote it, and the proof of that."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from registry import CacheError
from registry.api import CACHE_FORMAT, canonical_json, check_meta, convert, seal, unseal

__all__ = [
    "ENTRY",
    "MAX_INDEX_BYTES",
    "MAX_RECORD_BYTES",
    "SAMPLES",
    "Record",
    "Writer",
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
