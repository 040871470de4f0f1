"""Finding, fetching and pushing, with stores that fail in every way."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import Any

import pytest

from registry.cache.cache import Cache, CacheEntry
from registry.errors import CacheError, LockError
from registry.plugins.remote_cache.folder_store import FolderStore
from registry.plugins.remote_cache.record import SAMPLES, Record, parse_index
from registry.plugins.remote_cache.remote_cache import RemoteCache
from registry.progress import silent
from registry.settings import Remote
from tests.cache.entries import key

FINGERPRINT = f"sha256:{key('one')}"
META: dict[str, Any] = {
    "name": "one",
    "samples": 2,
    "source": "one.csv",
    "batches": "",
    "columns": ["input"],
    "quality": {},
    "limit": None,
}
CI = ("ci", "0123456789abcdef")

DAY = 24 * 60 * 60
ENTRIES = "v3/samples"
STORED = f"{'a' * 64}.arrow"


def entry(tmp_path: Path, content: bytes = b"samples") -> CacheEntry:
    cache = Cache(tmp_path / "writer")
    with cache.temporary() as folder:
        (folder / SAMPLES).write_bytes(content)
        return cache.publish(folder, "samples", FINGERPRINT, META, replace=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "remote"
    path.mkdir()
    return path


def remote(folder: Path, **settings: Any) -> RemoteCache:
    return RemoteCache(Remote(url=str(folder), **settings))


def found(one: RemoteCache) -> Record:
    record = one.find(FINGERPRINT, pinned=2, dataset="d")
    assert record is not None
    return record


def fetch(tmp_path: Path, one: RemoteCache, record: Record, **options: Any) -> CacheEntry | None:
    default = {"limit": None, "check": lambda _: None, "report": silent, "dataset": "d"}
    return one.fetch(Cache(tmp_path / "reader"), record, **{**default, **options})


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.name == "registry"]


def test_what_was_pushed_is_fetched_with_the_same_bytes(tmp_path: Path, folder: Path) -> None:
    one, own = remote(folder), entry(tmp_path)
    assert [one.push(own), one.push(own)] == ["pushed", "present"]
    fetched = fetch(tmp_path, one, found(one))
    assert fetched is not None
    assert fetched.meta == own.meta
    assert fetched.damage() == ""
    assert {path.name for path in fetched.folder.iterdir()} == {"meta.json", SAMPLES}


@pytest.mark.parametrize(
    ("settings", "pinned", "is_found"),
    [
        ({}, 2, True),
        ({}, 3, False),  # a view of other samples: its pin proves only those
        ({}, None, False),
        ({"keys": (CI,)}, None, True),
        ({"keys": (CI,)}, 3, True),
        ({"keys": (("ci", "another key of it"),)}, None, False),
        ({"keys": (("other", CI[1]),)}, None, False),
        ({"trusts_all": True}, None, True),
    ],
)
def test_who_is_trusted(
    tmp_path: Path, folder: Path, settings: dict[str, Any], pinned: int | None, is_found: bool
) -> None:
    remote(folder, signs_as=CI).push(entry(tmp_path))
    found = remote(folder, **settings).find(FINGERPRINT, pinned=pinned, dataset="d")
    assert (found is not None) == is_found


def test_a_writer_signs_what_others_left_unsigned(tmp_path: Path, folder: Path) -> None:
    own = entry(tmp_path)
    remote(folder).push(own)
    signing = remote(folder, signs_as=CI)
    assert [signing.push(own), signing.push(own)] == ["pushed", "present"]
    assert remote(folder, keys=(CI,)).find(FINGERPRINT, pinned=None, dataset="d") is not None


def test_two_writers_with_other_bytes_leave_one_complete_entry(
    tmp_path: Path, folder: Path
) -> None:
    first, second = remote(folder), remote(folder)
    assert first.push(entry(tmp_path, b"one way to write it")) == "pushed"
    assert second.push(entry(tmp_path, b"another")) == "present"
    assert fetch(tmp_path, second, found(second)) is not None


def test_samples_that_expired_are_pushed_again(tmp_path: Path, folder: Path) -> None:
    one, own = remote(folder), entry(tmp_path)
    one.push(own)
    next(folder.rglob("*.arrow")).unlink()
    assert one.push(own) == "pushed"


def test_what_the_check_refuses_is_not_published(
    tmp_path: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_: CacheEntry) -> None:
        raise LockError("its samples are others")

    one = remote(folder)
    one.push(entry(tmp_path))
    record = found(one)
    assert fetch(tmp_path, one, record, check=refuse) is None
    assert fetch(tmp_path, one, record, check=refuse) is None
    assert list(Cache(tmp_path / "reader").entries("samples")) == []
    assert len(told(caplog)) == 1
    assert "d: not used: its samples are others (the source is used" in told(caplog)[0]
    # It is not asked for again, and the next push replaces it.
    assert one.find(FINGERPRINT, pinned=2, dataset="d") is None
    assert one.push(entry(tmp_path)) == "pushed"
    assert one.find(FINGERPRINT, pinned=2, dataset="d") is not None


def test_first_samples_are_not_taken_for_all(
    tmp_path: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one = remote(folder)
    one.push(entry(tmp_path))
    assert fetch(tmp_path, one, found(one), limit=5) is None
    assert "another part of the samples" in told(caplog)[0]


class Failing(FolderStore):
    """A folder whose methods fail, and count how often they are called."""

    def __init__(self, root: Path, error: Exception, *names: str) -> None:
        super().__init__(root)
        self.calls = 0
        for name in names:
            setattr(self, name, self._fail)
        self._error = error

    def _fail(self, *_: object, **__: object) -> Any:
        self.calls += 1
        raise self._error


FAULTS = [
    PermissionError(errno.EACCES, "not permitted"),
    OSError(errno.ENOSPC, "no space left"),
    ConnectionRefusedError(errno.ECONNREFUSED, "refused"),
    KeyError("a library's own fault"),
]


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_a_store_that_fails_is_asked_once_and_reported_once(
    folder: Path, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    store = Failing(folder, error, "read")
    one = RemoteCache(Remote(url=str(folder)), store=store)
    for n in range(100):
        assert one.find(f"sha256:{key(str(n))}", pinned=2, dataset="d") is None
    assert store.calls == 1
    (warning,) = told(caplog)
    assert warning.endswith("the sources are used")
    assert type(error).__name__ in warning


@pytest.mark.parametrize("name", ["read", "size", "upload", "write_new"])
@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_a_push_that_fails_is_an_error_each_time(
    tmp_path: Path, folder: Path, error: Exception, name: str
) -> None:
    store = Failing(folder, error, name)
    one = RemoteCache(Remote(url=str(folder)), store=store)
    for _ in range(3):
        with pytest.raises(CacheError, match="can't push to the remote cache") as caught:
            one.push(entry(tmp_path))
        assert str(caught.value).endswith(f"{folder}: {type(error).__name__}: {error}")
    assert store.calls == 1
    assert not any(path.name == "entry.json" for path in folder.rglob("*"))


def test_a_download_that_fails_leaves_nothing(
    tmp_path: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    remote(folder).push(entry(tmp_path))
    store = Failing(folder, ConnectionResetError("reset"), "download")
    one = RemoteCache(Remote(url=str(folder)), store=store)
    assert fetch(tmp_path, one, found(one)) is None
    assert list((tmp_path / "reader" / "v3" / "tmp").iterdir()) == []
    assert "ConnectionResetError: reset; the sources are used" in told(caplog)[0]


def test_samples_that_are_gone_say_nothing_about_other_entries(
    tmp_path: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one = remote(folder)
    one.push(entry(tmp_path))
    record = found(one)
    (samples,) = folder.rglob("*.arrow")
    samples.unlink()  # by `cache prune --remote`, or a rule of the bucket
    assert fetch(tmp_path, one, record, dataset="d") is None
    (warning,) = told(caplog)
    assert "d: not used: its samples are gone (the source is used" in warning
    assert one.push(entry(tmp_path)) == "pushed"


@pytest.mark.parametrize("name", ["read", "upload"])
def test_an_entry_that_is_gone_here_is_no_fault_of_the_remote_cache(
    tmp_path: Path, folder: Path, name: str
) -> None:
    own = entry(tmp_path)

    class Removing(FolderStore):
        """Another process removes the local entry just before a call."""

        def __getattribute__(self, called: str) -> Any:
            if called == name:
                shutil.rmtree(own.folder, ignore_errors=True)
            return super().__getattribute__(called)

    one = RemoteCache(Remote(url=str(folder)), store=Removing(folder))
    with pytest.raises(FileNotFoundError, match=str(own.folder)):
        one.push(own)
    name = ""
    assert one.push(entry(tmp_path)) == "pushed"


def test_without_anything_to_prove_it_nothing_is_asked(folder: Path) -> None:
    store = Failing(folder, AssertionError(), "read")
    one = RemoteCache(Remote(url=str(folder)), store=store)
    assert one.find(FINGERPRINT, pinned=None, dataset="d") is None
    assert store.calls == 0


def test_a_damaged_local_entry_is_not_spread(tmp_path: Path, folder: Path) -> None:
    own = entry(tmp_path)
    (own.folder / SAMPLES).write_bytes(b"Samples")
    with pytest.raises(CacheError, match="doesn't have its digest"):
        remote(folder).push(own)
    assert list(folder.rglob("*.arrow")) == []


def test_progress_is_reported(tmp_path: Path, folder: Path) -> None:
    one = remote(folder)
    one.push(entry(tmp_path, b"x" * 5_000_000))
    record = found(one)
    seen: list[int | None] = []
    assert fetch(tmp_path, one, record, report=lambda progress: seen.append(progress.total))
    assert set(seen) == {5_000_000}


def test_a_pack_keeps_what_was_packed_before(tmp_path: Path, folder: Path) -> None:
    one, own, cache = remote(folder), entry(tmp_path), Cache(tmp_path / "writer")
    with cache.temporary() as temporary:
        (temporary / SAMPLES).write_bytes(b"others")
        other = cache.publish(temporary, "samples", f"sha256:{key('two')}", META)
    one.pack([own], lock="1" * 64, cache=cache)
    one.pack([other], lock="1" * 64, cache=cache)
    (index,) = (path for path in folder.rglob("*.json") if path.parent.name == "packs")
    records = {record.fingerprint: record for record in parse_index(index.read_bytes())}
    assert {*records} == {FINGERPRINT, f"sha256:{key('two')}"}
    fetched = fetch(tmp_path, one, records[FINGERPRINT])
    assert fetched is not None
    assert (fetched.folder / SAMPLES).read_bytes() == b"samples"
