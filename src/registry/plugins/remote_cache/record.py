"""`entry.json` of a remote cache: what an entry holds, who wrote it, and the proof of that."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from registry import CacheError
from registry.api import CACHE_FORMAT, canonical_json, check_meta, convert, seal, unseal

__all__ = [
    "ENTRY",
    "MAX_RECORD_BYTES",
    "SAMPLES",
    "Record",
    "Writer",
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


class Record(Struct, frozen=True):
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
    try:
        found = convert(unseal(data), _Text)
        if found.remote != _RECORD_FORMAT:
            raise ValueError(f"its format is {found.remote}, not {_RECORD_FORMAT}")
        files = {SAMPLES: {"size": found.size, "sha256": found.sha256}}
        # As for an entry of the local cache, so that what is published there can be found there.
        check_meta(
            {**found.meta, "fingerprint": found.fingerprint, "files": files}, "samples", fingerprint
        )
    # A deeply nested text, which anyone can give a correct checksum, is a RecursionError.
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise CacheError(f"its entry.json is invalid: {error}") from error
    if not _SHA256.fullmatch(found.sha256) or found.size < 0:
        raise CacheError("its entry.json has no digest or no size of its samples")
    if set(found.meta) != {*_KEPT}:
        raise CacheError("its entry.json has other keys than those of samples")
    return Record(fingerprint, found.meta, found.sha256, found.size, found.writer, found.signature)
