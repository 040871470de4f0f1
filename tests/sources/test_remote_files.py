"""Remote files: identified by validators, downloaded by one process, complete or not at all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.errors import DigestMismatchError, SourceError
from registry.lockfile.pinned import PinnedSources
from registry.progress import Progress
from registry.sources.filesystem import FilesystemPool
from registry.sources.pins import PinnedFile, SourceContext, UnknownDigestError
from registry.sources.remote_files import (
    digest_mismatch,
    download,
    location_key,
    look_up,
    pin_remote,
    probe_remote,
    validated,
)
from registry.sources.transfer import ChangedError
from tests.conftest import Https
from tests.sources.conftest import context_of

POOL = FilesystemPool({}, UNBOUNDED)
LARGE = b"x" * (1 << 20)


def methods(https: Https) -> list[str]:
    found = [method for method, _ in https.requests]
    https.requests.clear()
    return found


def test_a_file_is_downloaded_again_when_its_validators_change(https: Https, cache: Cache) -> None:
    url = https.put("/a", b"1", etag="1")
    first = pin_remote(Location(url), POOL, context_of(cache))
    assert (first.size, first.etag, methods(https)) == (1, '"1"', ["HEAD", "GET"])
    assert pin_remote(Location(url), POOL, context_of(cache)) == first
    assert methods(https) == ["HEAD"]
    https.put("/a", b"2", etag="2")
    assert pin_remote(Location(url), POOL, context_of(cache)).sha256 != first.sha256
    assert methods(https) == ["HEAD", "GET"]


def test_a_file_without_validators_is_downloaded_each_time(https: Https, cache: Cache) -> None:
    url = https.put("/a", b"1")
    for _ in range(2):
        pin_remote(Location(url), POOL, context_of(cache))
        assert methods(https) == ["HEAD", "GET"]


def test_nothing_is_downloaded_if_whole_files_may_not_be_read(https: Https, cache: Cache) -> None:
    url = https.put("/a", b"1", etag="1")
    for offline in (False, True):
        with pytest.raises(UnknownDigestError):
            pin_remote(Location(url), POOL, context_of(cache, whole=False, offline=offline))
    assert "GET" not in methods(https)


def test_one_of_several_threads_downloads(https: Https, cache: Cache) -> None:
    url = https.put("/a", b"1", etag="1", seconds=0.2)
    with ThreadPoolExecutor(4) as pool:
        pins = [pool.submit(pin_remote, Location(url), POOL, context_of(cache)) for _ in range(4)]
        assert len({pin.result() for pin in pins}) == 1
    assert methods(https).count("GET") == 1


@pytest.mark.parametrize(
    ("body", "etag", "probed"), [(LARGE, "1", True), (LARGE[1:], "1", False), (LARGE, "", False)]
)
def test_only_large_files_with_validators_are_probed(
    https: Https, cache: Cache, body: bytes, etag: str, probed: bool
) -> None:
    url = https.put("/a", body, etag=etag)
    state = probe_remote(Location(url), POOL, context_of(cache))
    assert state == ({"size": len(body), "validators": {"ETag": '"1"'}} if probed else None)
    assert probe_remote(Location(url), POOL, context_of(cache, offline=True)) == state


def test_a_file_that_changes_is_looked_up_once_more(https: Https, context: SourceContext) -> None:
    url = https.put("/a", b"1", etag="1")
    look_up(Location(url), POOL, context)
    https.put("/a", b"22", etag="2")
    pinned = pin_remote(Location(url), POOL, context)
    assert (pinned.etag, pinned.size) == ('"2"', 2)
    assert methods(https) == ["HEAD", "GET", "HEAD", "GET"]


def test_a_file_of_another_size_than_was_looked_up_has_changed(
    https: Https, context: SourceContext
) -> None:
    url = https.put("/a", b"123")
    state = {"size": 4, "validators": {}}
    with pytest.raises(ChangedError, match=r"/a: changed while it was read \(try again\)"):
        download(Location(url), POOL, context, state=state)


def test_a_rejected_download_is_in_the_quarantine_only(
    https: Https, context: SourceContext
) -> None:
    url = https.put("/a", b"123")
    with pytest.raises(SourceError, match="changed while it was read"):
        download(Location(url), POOL, context, pinned=PinnedFile(Location(url), "0" * 64, 3))
    kept = context.cache.versioned
    assert [path.read_bytes() for path in kept.glob("quarantine/*")] == [b"123"]
    assert list(kept.glob("blobs/*")) == list(kept.glob("tmp/*")) == []


def test_a_download_reports_its_progress(https: Https, cache: Cache) -> None:
    seen: list[Progress] = []
    context = context_of(cache, report=seen.append)
    download(Location(https.put("/a", b"123")), POOL, context)
    assert {one.stage for one in seen} == {"fetch"}
    assert (seen[-1].done, seen[-1].total) == (3, 3)


def test_a_digest_mismatch_is_a_lock_error_if_there_is_a_lock(cache: Cache) -> None:
    pinned = PinnedFile(Location("https://host/a?sig=1"), "0" * 64, 1)
    changed = digest_mismatch(pinned, "1" * 64, context_of(cache))
    assert str(changed) == "https://host/a?…: changed while it was read (try again)"
    lock = PinnedSources(dataset="d", folder=Path("/"), sources=())
    error = digest_mismatch(pinned, "1" * 64, context_of(cache, lock=lock))
    assert isinstance(error, DigestMismatchError)
    assert "sig" not in str(error)


def test_etag_and_version_id_are_stored_with_the_file() -> None:
    state = {"size": 1, "validators": {"etag": "e", "VersionId": "v", "mtime": "1"}}
    file = validated(Location("s3://b/a"), state, "0" * 64)
    assert (file.etag, file.version_id) == ("e", "v")
    assert location_key(Location("s3://b/a"), {}) != location_key(
        Location("s3://b/a"), {"anon": True}
    )
