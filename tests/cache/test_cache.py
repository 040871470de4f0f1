"""Entries of the cache folder: found when complete, quarantined when damaged."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from msgspec.structs import replace

from registry.base import fs
from registry.base.cache_access import create_file
from registry.base.local_files import read_regular
from registry.cache import cache as module
from registry.cache.cache import Cache, CacheEntry
from registry.cache.folders import EntryKind, seal, unseal
from registry.errors import CacheError
from registry.progress import Deadline, silent
from tests.cache.entries import age, blob

FINGERPRINT = f"sha256:{'0' * 64}"
META: dict[EntryKind, dict[str, Any]] = {
    "samples": {
        "name": "d",
        "samples": 3,
        "source": "x",
        "batches": "",
        "columns": ["input"],
        "quality": {"few_choices": {"count": 1, "first": [{"record": 3}]}},
        "limit": None,
    },
    "views": {"first_bad": None, "checksums": {}, "samples": FINGERPRINT},
    "records": {"rows": 3},
}
KINDS = pytest.mark.parametrize("kind", META)


def publish(
    cache: Cache, kind: EntryKind = "samples", content: bytes = b"data", **options: Any
) -> CacheEntry:
    with cache.temporary() as folder:
        (folder / "file").write_bytes(content)
        return cache.publish(folder, kind, FINGERPRINT, META[kind], **options)


def quarantined(cache: Cache) -> list[str]:
    folder = cache.root / "v3" / "quarantine"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


# --- find and publish ---


@KINDS
def test_published_entry_is_found(cache: Cache, kind: EntryKind) -> None:
    published = publish(cache, kind)
    found = cache.find(kind, FINGERPRINT)
    assert found is not None
    assert found.folder == published.folder == cache.root / "v3" / kind / ("0" * 64)
    digest = "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7"
    assert found.meta == {
        **META[kind],
        "format": 3,
        "fingerprint": FINGERPRINT,
        "files": {"file": {"size": 4, "sha256": digest}},
    }
    assert found.size == 4
    assert list((cache.root / "v3" / "tmp").iterdir()) == []


@KINDS
def test_unpublished_entry_is_not_found(cache: Cache, kind: EntryKind) -> None:
    assert cache.find(kind, FINGERPRINT) is None
    assert quarantined(cache) == []
    assert not cache.root.exists()


def test_first_of_two_entries_with_the_same_fingerprint_wins_unless_it_is_to_be_replaced(
    cache: Cache,
) -> None:
    old = publish(cache, content=b"first")
    entry = publish(cache, content=b"second")
    assert (entry.folder / "file").read_bytes() == b"first"
    with (old.folder / "file").open("rb") as opened:
        entry = publish(cache, content=b"second", replace=True)
        assert (entry.folder / "file").read_bytes() == b"second"
        assert opened.read() == b"first"
    assert list((cache.root / "v3" / "tmp").iterdir()) == []


def test_known_digest_is_not_computed_again(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "file_sha256", lambda path: pytest.fail("was hashed"))
    entry = publish(cache, digests={"file": "known"})
    assert entry.meta["files"]["file"]["sha256"] == "known"


def test_meta_is_written_last(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[str]] = []

    def note(path: Path) -> BinaryIO:
        seen.append(set(os.listdir(path.parent)))
        return create_file(path)

    monkeypatch.setattr(module, "create_file", note)
    publish(cache)
    assert seen == [{"file"}]


# --- damage ---


def set_keys(**keys: object) -> Callable[[Path], object]:
    """Return a function that changes keys of `meta.json`, and its checksum."""

    def change(folder: Path) -> None:
        path = folder / "meta.json"
        path.write_bytes(seal({**unseal(path.read_bytes()), **keys}))

    return change


def unsealed(folder: Path) -> None:
    path = folder / "meta.json"
    path.write_text(json.dumps(unseal(path.read_bytes())))


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def as_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_bytes(b"data")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no meta": lambda folder: (folder / "meta.json").unlink(),
    "no file": lambda folder: (folder / "file").unlink(),
    "longer file": lambda folder: (folder / "file").write_bytes(b"longer"),
    "cut meta": lambda folder: (folder / "meta.json").write_text('{"files": '),
    "meta that is a list": lambda folder: (folder / "meta.json").write_text("[]"),
    "meta that is not UTF-8": lambda folder: (folder / "meta.json").write_bytes(b'{"\xff"'),
    "no files": set_keys(files=None),
    "files without size": set_keys(files={"file": {}}),
    "no batches": set_keys(batches=None),
    "no columns": set_keys(columns=None),
    "no quality": set_keys(quality=None),
    "quality without counts": set_keys(quality={"few_choices": {}}),
    "a limit that is no number": set_keys(limit="x"),
    "other fingerprint": set_keys(fingerprint="sha256:1"),
    "meta without a checksum": unsealed,
    "meta that is nested deeply": lambda folder: (folder / "meta.json").write_text("[" * 100_000),
    "meta that is a folder": lambda folder: as_folder(folder / "meta.json"),
    "file that is a folder": lambda folder: as_folder(folder / "file"),
    "entry that is a file": as_file,
}


def test_entry_can_be_quarantined_twice_and_stays_where_that_is_not_permitted(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        entry = publish(cache)
        os.utime(entry.folder, (0, 0))
        assert cache.quarantine_file(entry.folder)
    assert len(quarantined(cache)) == 2
    # It is kept for as long as from now on, however old it is.
    folder = cache.root / "v3" / "quarantine"
    assert all((folder / name).stat().st_mtime > 0 for name in quarantined(cache))
    entry = publish(cache)
    monkeypatch.setattr(Path, "rename", raising(errno.EROFS))
    assert not cache.quarantine_file(entry.folder)
    assert entry.folder.is_dir()


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_entry_is_quarantined(cache: Cache, damage: str) -> None:
    DAMAGES[damage](publish(cache).folder)
    assert cache.find("samples", FINGERPRINT) is None
    (name,) = quarantined(cache)
    assert name.startswith("0" * 64)
    assert cache.find("samples", FINGERPRINT) is None
    publish(cache)
    assert cache.find("samples", FINGERPRINT) is not None


@pytest.mark.parametrize(("kind", "key"), [("views", "first_bad"), ("records", "rows")])
def test_meta_has_the_fields_of_its_kind(cache: Cache, kind: EntryKind, key: str) -> None:
    set_keys(**{key: "x"})(publish(cache, kind).folder)
    assert cache.find(kind, FINGERPRINT) is None
    assert len(quarantined(cache)) == 1


def test_only_verify_reads_the_files(cache: Cache) -> None:
    entry = publish(cache)
    assert cache.verify("samples", entry)
    (entry.folder / "file").write_bytes(b"atad")
    assert cache.find("samples", FINGERPRINT) is not None
    assert not cache.verify("samples", entry)
    assert len(quarantined(cache)) == 1
    assert cache.find("samples", FINGERPRINT) is None


def test_an_entry_that_replaces_another_while_it_is_read_is_intact(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(cache)
    turns = iter(range(20))

    def replacing(path: Path) -> bytes:
        if next(turns, None) is None:
            return read_regular(path)
        # As another process does, between two system calls. Linux often reuses the inode.
        cache.discard("samples", FINGERPRINT)
        publish(cache)
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))

    monkeypatch.setattr(module, "read_regular", replacing)
    assert cache.find("samples", FINGERPRINT) is not None
    assert quarantined(cache) == []


def test_an_entry_that_replaces_another_while_it_is_verified_stays(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = publish(cache)
    (entry.folder / "file").write_bytes(b"atad")

    def damage(self: CacheEntry) -> str:
        monkeypatch.undo()
        cache.discard("samples", FINGERPRINT)
        publish(cache)
        return "a digest differs"

    monkeypatch.setattr(CacheEntry, "damage", damage)
    assert not cache.verify("samples", entry)
    assert cache.find("samples", FINGERPRINT) is not None
    assert quarantined(cache) == []


def raising(number: int) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> Any:
        raise OSError(number, os.strerror(number))

    return fail


def test_unreadable_cache_is_a_cache_error(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(cache)
    cache.remember("sha256:1", {"x": 1})
    monkeypatch.setattr(module, "read_regular", raising(errno.EACCES))
    message = r"^can't read the cache: .*Permission denied \(REGISTRY_CACHE_DIR sets another"
    with pytest.raises(CacheError, match=message):
        cache.find("samples", FINGERPRINT)
    with pytest.raises(CacheError, match=message):
        cache.recall("sha256:1")


def test_discarding_a_missing_entry_does_nothing(cache: Cache) -> None:
    cache.discard("samples", FINGERPRINT)
    entry = publish(cache)
    cache.discard("samples", FINGERPRINT)
    assert not entry.folder.exists()
    assert quarantined(cache) == []


@pytest.mark.parametrize("place", [Path.touch, lambda path: path.symlink_to("/")])
def test_discarding_what_is_no_folder_leaves_nothing(
    cache: Cache, place: Callable[[Path], object]
) -> None:
    folder = publish(cache).folder
    shutil.rmtree(folder)
    place(folder)
    cache.discard("samples", FINGERPRINT)
    for part in ("samples", "tmp"):
        assert os.listdir(cache.versioned / part) == []


# --- blobs and source states ---


def test_blob_is_moved_to_its_digest(cache: Cache) -> None:
    with cache.temporary() as folder:
        (folder / "part").write_bytes(b"bytes")
        path = cache.store_blob(folder / "part", "ab12")
        assert not (folder / "part").exists()
    assert path == cache.blob("ab12") == cache.root / "v3" / "blobs" / "ab12"
    assert path.read_bytes() == b"bytes"


def test_blobs_that_can_not_be_written_are_an_error_with_a_hint(cache: Cache) -> None:
    cache.versioned.mkdir(parents=True)
    (cache.versioned / "blobs").touch()
    message = r"^can't write to the cache in .*blobs: .*Not a directory.* \(REGISTRY_CACHE_DIR sets"
    with pytest.raises(CacheError, match=message):
        blob(cache, b"bytes")


@pytest.mark.parametrize("harm", [lambda path: path.write_bytes(b"other"), as_folder])
def test_damaged_blob_is_quarantined(cache: Cache, harm: Callable[[Path], object]) -> None:
    digest = hashlib.sha256(b"bytes").hexdigest()
    assert cache.intact_blob(digest) is None
    for _ in range(2):
        path = blob(cache, b"bytes")
        assert cache.intact_blob(digest) == path
        harm(path)
    assert cache.intact_blob(digest) is None
    assert not path.exists()


def test_blob_that_replaces_a_damaged_one_while_it_is_read_stays(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns, hashed = iter(range(3)), fs.file_sha256

    def file_sha256(path: Path) -> str:
        if next(turns, None) is None:
            return hashed(path)
        blob(cache, b"bytes")  # as another process does that found the same damage
        return "0" * 64

    path = blob(cache, b"bytes")
    monkeypatch.setattr(module, "file_sha256", file_sha256)
    assert cache.intact_blob(path.name) == path
    assert quarantined(cache) == []


def test_entry_that_replaces_one_whose_file_is_gone_stays(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = publish(cache).folder / "file"

    def inode_of(path: Path) -> None:
        monkeypatch.undo()
        cache.discard("samples", FINGERPRINT)
        publish(cache)

    monkeypatch.setattr(module, "inode_of", inode_of)
    error = cache.damaged("samples", FINGERPRINT, path, 0, "is gone")
    assert str(error) == f"{path}: is gone (open it again to have it built again)"
    assert quarantined(cache) == []
    assert cache.find("samples", FINGERPRINT) is not None


def test_only_the_damaged_entry_itself_is_quarantined(cache: Cache) -> None:
    path = publish(cache).folder / "file"
    inode = path.stat().st_ino
    error = cache.damaged("samples", FINGERPRINT, path, inode + 1, "was cut")
    assert str(error) == f"{path}: was cut (open it again to have it built again)"
    assert quarantined(cache) == []
    cache.damaged("samples", FINGERPRINT, path, inode, "was cut")
    assert len(quarantined(cache)) == 1


def test_source_state_is_stored(cache: Cache) -> None:
    cache.remember("sha256:1", {"etag": "x", "size": 3})
    assert cache.recall("sha256:1") == {"etag": "x", "size": 3}
    assert cache.recall("sha256:1", "etag", "size") == {"etag": "x", "size": 3}
    assert cache.recall("sha256:1", "etag", "sha256") is None
    assert cache.recall("sha256:2") is None
    cache.remember("sha256:1", {"etag": "y"})
    assert cache.recall("sha256:1") == {"etag": "y"}


def writing(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


@pytest.mark.parametrize(
    "harm",
    [
        *map(writing, (b"", b"\0" * 20, b"[]", b"1", b'{"x": ', b"\xff", b"[" * 100_000)),
        writing(b'{"x": 1, "key": "sha256:1"}'),
        writing(seal({"x": 1, "key": "sha256:2"})),
        lambda path: path.write_bytes(path.read_bytes().replace(b"1", b"2", 1)),
        as_folder,
    ],
)
def test_damaged_source_state_is_quarantined(cache: Cache, harm: Callable[[Path], object]) -> None:
    cache.remember("sha256:1", {"x": 1})
    harm(cache.root / "v3" / "sources" / "1.json")
    assert cache.recall("sha256:1") is None
    assert len(quarantined(cache)) == 1
    cache.remember("sha256:1", {"x": 2})
    assert cache.recall("sha256:1") == {"x": 2}


def test_source_state_that_replaces_a_damaged_one_while_it_is_read_stays(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = iter(range(3))

    def replacing(path: Path) -> bytes:
        if next(turns, None) is None:
            return read_regular(path)
        cache.remember("sha256:1", {"x": 1})  # as another process does
        return b"{"

    cache.remember("sha256:1", {"x": 1})
    monkeypatch.setattr(module, "read_regular", replacing)
    assert cache.recall("sha256:1") == {"x": 1}
    assert quarantined(cache) == []


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC, errno.EIO])
def test_source_state_that_can_not_be_stored_is_looked_up_again(
    cache: Cache, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(module, "write_cached", raising(number))
    cache.remember("sha256:1", {"x": 1})
    assert cache.recall("sha256:1") is None


# --- use ---


@pytest.mark.parametrize(("seconds", "is_noted"), [(7200, True), (60, False), (-7200, True)])
@pytest.mark.parametrize("passive", [False, True])
def test_finding_an_entry_is_noted_once_an_hour(
    cache: Cache, seconds: float, is_noted: bool, passive: bool
) -> None:
    meta = publish(cache).folder / "meta.json"
    age(meta, seconds)
    before = meta.stat().st_mtime
    replace(cache, passive=passive).find("samples", FINGERPRINT)
    assert (meta.stat().st_mtime != before) == (is_noted and not passive)


def test_a_passive_look_quarantines_nothing(cache: Cache) -> None:
    folder = publish(cache).folder
    (folder / "meta.json").write_text("{")
    assert replace(cache, passive=True).find("samples", FINGERPRINT) is None
    assert folder.is_dir()


def test_reading_a_blob_is_noted(cache: Cache) -> None:
    path = blob(cache, b"bytes")
    age(path, 7200)
    assert cache.blob(path.name).stat().st_mtime > time.time() - 200


def test_what_an_operation_depends_on_is_collected_and_made_durable(cache: Cache) -> None:
    publish(cache, "records")
    collecting = replace(cache, used=set())
    publish(collecting, "samples")
    publish(collecting, "views")
    collecting.find("records", FINGERPRINT)
    collecting.remember("sha256:1", {"x": 1})
    collecting.recall("sha256:2")
    parts = cache.versioned
    assert collecting.used == {
        parts / "samples" / ("0" * 64),
        parts / "views" / ("0" * 64),
        parts / "sources" / "1.json",
    }
    collecting.make_durable()
    found = replace(cache, used=set())
    found.find("samples", FINGERPRINT)
    found.recall("sha256:1")
    assert found.used == collecting.used - {parts / "views" / ("0" * 64)}


def test_entries_that_can_not_be_made_durable_are_removed(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    collecting = replace(cache, used=set())
    publish(collecting)
    monkeypatch.setattr(os, "fsync", raising(errno.EIO))
    with pytest.raises(CacheError, match=r"^can't write to the cache: .*is the disk broken"):
        collecting.make_durable()
    assert cache.find("samples", FINGERPRINT) is None


# --- all entries ---


def test_entries_are_listed_by_fingerprint_without_damaged_ones(cache: Cache) -> None:
    assert list(cache.entries("views")) == []
    for name in ("b", "a", "c"):
        with cache.temporary() as folder:
            cache.publish(folder, "views", f"sha256:{name}", META["views"])
    (cache.root / "v3" / "views" / "c" / "meta.json").write_text("{")
    names = [entry.meta["fingerprint"] for entry in cache.entries("views")]
    assert names == ["sha256:a", "sha256:b"]
    assert len(quarantined(cache)) == 1


def test_lock_of_an_entry_is_in_the_cache(cache: Cache) -> None:
    with cache.working("blobs", "sha256:ab", dataset="d", report=silent, deadline=Deadline()):
        assert (cache.root / "v3" / "locks" / "blobs-ab.lock").exists()
