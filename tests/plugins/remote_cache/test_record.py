"""What `entry.json` says, its signature, and what is refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from registry.cache.folders import seal, unseal
from registry.errors import CacheError
from registry.plugins.remote_cache import record
from registry.plugins.remote_cache.record import (
    Record,
    Writer,
    parse_record,
    record_of,
    record_text,
)

FINGERPRINT = "sha256:" + "1" * 64
META: dict[str, Any] = {
    "name": "demo",
    "samples": 2,
    "source": "demo.csv",
    "batches": "",
    "columns": ["input"],
    "quality": {},
    "limit": None,
}
FILES = {"samples.arrow": {"size": 5, "sha256": "a" * 64}}
RECORD = record_of(FINGERPRINT, {**META, "files": FILES, "format": 3, "fingerprint": FINGERPRINT})
CI = Writer("ci", b"0123456789abcdef")


def test_text_is_parsed_to_the_same_record() -> None:
    assert parse_record(record_text(RECORD), FINGERPRINT) == RECORD
    signed = RECORD.signed_by(CI)
    assert parse_record(record_text(signed), FINGERPRINT).is_by({"ci": CI})


CHANGES = [
    {"sha256": "b" * 64},
    {"size": 6},
    {"meta": {**META, "samples": 3}},
    {"meta": {**META, "quality": {"duplicates": {"count": 1, "first": []}}}},
    {"writer": "other"},
    {"signature": "0" * 64},
    {"signature": None},
    {"signature": "é"},
    {"signature": "\ud800"},
    {"fingerprint": "sha256:" + "2" * 64},
]


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_invalidates_the_signature(change: dict[str, Any]) -> None:
    signed = RECORD.signed_by(CI)
    writers = {"ci": CI, "other": Writer("other", CI.key)}
    assert signed.is_by(writers)
    assert not replace(signed, **change).is_by(writers)


def test_only_a_trusted_writer_counts() -> None:
    assert not RECORD.signed_by(CI).is_by({})
    assert not RECORD.is_by({"ci": CI})
    assert RECORD.signed_by(None) == RECORD


def altered(**change: Any) -> bytes:
    data = unseal(record_text(RECORD))
    return seal({**data, **change})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the checksum differs"),
        (record_text(RECORD)[:-1], "the checksum differs"),
        (altered(remote=2), "its format is 2, not 1"),
        (altered(fingerprint="sha256:" + "3" * 64), "it describes sha256:333"),
        (altered(sha256="../../../etc/passwd"), "no digest"),
        (altered(size=-1), "no size"),
        (altered(meta={**META, "more": 1}), "other keys"),
        (altered(meta={**META, "samples": "2"}), r"\$\.samples"),
        (altered(meta={}), "missing required field"),
    ],
)
def test_invalid_records_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(CacheError, match=message):
        parse_record(data, FINGERPRINT)


def test_a_record_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = record_text(RECORD)
    monkeypatch.setattr(record, "MAX_RECORD_BYTES", len(data))
    assert parse_record(data, FINGERPRINT) == RECORD
    monkeypatch.setattr(record, "MAX_RECORD_BYTES", len(data) - 1)
    with pytest.raises(CacheError, match="too large"):
        parse_record(data, FINGERPRINT)


def test_deep_nesting_is_refused() -> None:
    deep = b"[" * 200_000 + b"]" * 200_000
    body = b'"x":' + deep + b"}"
    from registry.cache.folders import checksum

    with pytest.raises(CacheError, match="json is invalid"):
        parse_record(b'{"checksum":"%016x",' % checksum(body) + body, FINGERPRINT)


def test_a_record_has_no_secret() -> None:
    signed: Record = RECORD.signed_by(CI)
    assert CI.key.decode() not in record_text(signed).decode()
    assert CI.key not in msgspec.json.encode(signed)
