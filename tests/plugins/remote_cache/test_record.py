"""What `entry.json` says, its signature, what is refused, and packs with the ranges to download."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from registry.cache.cache import Cache, CacheEntry
from registry.cache.folders import seal, unseal
from registry.errors import CacheError
from registry.plugins.remote_cache import record
from registry.plugins.remote_cache.record import (
    SAMPLES,
    Record,
    Windows,
    Writer,
    collect,
    parse_record,
    record_of,
    record_text,
)
from tests.cache.entries import key
from tests.plugins.remote_cache.test_remote_cache import META

FINGERPRINT = "sha256:" + "1" * 64
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


def entries(cache: Cache, sizes: dict[str, int]) -> list[CacheEntry]:
    found = []
    for name, size in sizes.items():
        with cache.temporary() as folder:
            (folder / SAMPLES).write_bytes(name.encode() * size)
            meta = {**META, "name": name}
            found.append(cache.publish(folder, "samples", f"sha256:{key(name)}", meta))
    return found


def recorded(name: str, offset: int, size: int, packed: str | None = "1" * 64) -> Record:
    meta = {**META, "name": name}
    return Record(f"sha256:{key(name)}", meta, "0" * 64, size, pack=packed, offset=offset)


def ranges(*records: Record) -> list[tuple[int, int]]:
    windows = Windows(records, records)
    found = {id(window): window for one in records if (window := windows.of(one))}
    return [(one.start, one.size) for one in found.values()]


def test_the_same_entries_are_the_same_packs_up_to_a_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "_PACK_BYTES", 10)
    found = entries(Cache(tmp_path), {"c": 6, "a": 4, "d": 30, "b": 6})
    packs = [*collect(reversed(found))]
    assert [[one.meta["name"] for one, _ in each.parts] for each in packs] == [
        ["a", "b"],
        ["c"],
        ["d"],
    ]
    sha256, records = packs[0].write(tmp_path / "first")
    assert (tmp_path / "first").read_bytes() == b"aaaabbbbbb"
    assert [(one.pack, one.offset, one.size) for one in records] == [(sha256, 0, 4), (sha256, 4, 6)]


def test_a_damaged_entry_is_not_packed(tmp_path: Path) -> None:
    (one,) = entries(Cache(tmp_path), {"a": 4})
    (one.folder / SAMPLES).write_bytes(b"aaab")
    (packed,) = collect([one])
    with pytest.raises(CacheError, match=r"doesn't have its digest \(`registry cache verify`\)"):
        packed.write(tmp_path / "first")


def test_what_is_near_is_one_range() -> None:
    near = 1 << 20
    assert ranges(recorded("a", 0, 10), recorded("b", 10 + near, 5)) == [(0, 15 + near)]
    assert ranges(recorded("a", 0, 10), recorded("b", 11 + near, 5)) == [(0, 10), (11 + near, 5)]
    assert ranges(recorded("a", 0, 10), recorded("b", 10, 5, "2" * 64)) == [(0, 10), (10, 5)]
    assert ranges(recorded("a", 0, 10, None)) == []


def test_no_range_is_larger_than_a_pack_whatever_an_index_says() -> None:
    huge = 64 << 20
    assert ranges(recorded("a", 0, huge - 1), recorded("b", huge - 1, 2)) == [
        (0, huge - 1),
        (huge - 1, 2),
    ]


def test_a_range_is_removed_when_all_of_it_was_taken(tmp_path: Path) -> None:
    first, second = recorded("a", 100, 2), recorded("b", 102, 3)
    windows = Windows([first, second], [first, second], tmp_path)
    window = windows.of(first)
    assert window is not None
    window.file.write_bytes(b"aabbb")
    window.take(first, tmp_path / "a")
    window.take(second, tmp_path / "b")
    assert [(tmp_path / name).read_bytes() for name in "ab"] == [b"aa", b"bbb"]
    assert not window.file.exists()
