"""A transfer goes on after a lost connection, and accepts nothing but the whole file."""

from __future__ import annotations

import base64
import gzip
import hashlib
import time
from dataclasses import replace
from pathlib import Path

import pytest

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED, Limits
from registry.errors import SourceError
from registry.progress import Deadline, silent
from registry.sources.bodies import DamagedError
from registry.sources.filesystem import FilesystemPool, filesystem
from registry.sources.transfer import ChangedError, RemoteFile, Transfer
from tests.servers.fault_proxy import Fault, FaultProxy

DATA = bytes(range(256)) * 4000
WHOLE = (hashlib.sha256(DATA).hexdigest(), len(DATA))
BROKEN = Fault(reset_after=500_000)


def transfer(
    proxy: FaultProxy,
    path: Path,
    *,
    limits: Limits | None = None,
    seconds: float = 60,
    size: int | None = None,
    etag: str = "",
) -> tuple[str, int]:
    pool = FilesystemPool({}, UNBOUNDED, Deadline(seconds))
    return Transfer(
        Location(f"{proxy.url}/a"),
        pool,
        path / "a",
        limits=limits or Limits(),
        report=silent,
        size=size,
        etag=etag,
    ).run()


def test_a_lost_connection_is_continued_under_the_same_etag(
    proxy: FaultProxy, tmp_path: Path
) -> None:
    proxy.add(BROKEN, times=2)
    assert transfer(proxy, tmp_path) == WHOLE
    assert (tmp_path / "a").read_bytes() == DATA
    assert [one.status for one in proxy.log] == [200, 206, 206]


def test_a_part_of_unknown_place_is_not_the_file(proxy: FaultProxy, tmp_path: Path) -> None:
    proxy.add(BROKEN, times=1)
    proxy.add(Fault(without=("Content-Range",)))
    assert transfer(proxy, tmp_path) == WHOLE
    assert [one.status for one in proxy.log] == [200, 206, 200]


def test_a_file_that_arrived_is_progress(proxy: FaultProxy, tmp_path: Path) -> None:
    deadline = Deadline(60)
    pool = FilesystemPool({}, UNBOUNDED, deadline)
    # By their bytes alone, thousands of small files would be none.
    proxy.add(Fault(body=b"small", status=200))
    one = Transfer(Location(f"{proxy.url}/a"), pool, tmp_path / "a", limits=Limits(), report=silent)
    assert one.run()[1] == 5
    assert deadline.progressed == 1


@pytest.mark.parametrize(
    "fault",
    [
        Fault(reset_after=500_000, headers={"ETag": 'W/"weak"'}),
        Fault(reset_after=500_000, without=("ETag",)),
    ],
)
def test_without_a_strong_etag_it_begins_again(
    proxy: FaultProxy, tmp_path: Path, fault: Fault
) -> None:
    proxy.add(fault, times=1)
    assert transfer(proxy, tmp_path) == WHOLE
    assert [one.status for one in proxy.log] == [200, 200]


@pytest.mark.parametrize("second", [Fault(ignore_range=True), Fault(headers={"ETag": '"b"'})])
def test_a_part_that_does_not_fit_is_not_used(
    proxy: FaultProxy, tmp_path: Path, second: Fault
) -> None:
    proxy.add(BROKEN, times=1)
    proxy.add(second, times=1)
    assert transfer(proxy, tmp_path) == WHOLE
    assert (tmp_path / "a").read_bytes() == DATA


def test_a_position_beyond_the_end_begins_again(proxy: FaultProxy, tmp_path: Path) -> None:
    proxy.add(BROKEN, times=1)
    proxy.add(Fault(status=416), times=1)
    assert transfer(proxy, tmp_path) == WHOLE


def test_a_cut_body_is_noticed_by_the_size_that_is_known(proxy: FaultProxy, tmp_path: Path) -> None:
    proxy.add(Fault(cut_after=500_000, without=("Content-Length",)), times=1)
    assert transfer(proxy, tmp_path, size=len(DATA)) == WHOLE
    assert [one.status for one in proxy.log] == [200, 206]


def test_another_etag_or_size_than_was_looked_up_is_a_change(
    proxy: FaultProxy, tmp_path: Path
) -> None:
    for known in ({"etag": '"other"'}, {"size": 5}):
        with pytest.raises(ChangedError, match=r"/a: changed while it was read"):
            transfer(proxy, tmp_path, **known)
        (tmp_path / "a").unlink()


def test_weak_and_strong_forms_of_an_etag_are_the_same(proxy: FaultProxy, tmp_path: Path) -> None:
    strong = f'"{hashlib.md5(DATA, usedforsecurity=False).hexdigest()}"'
    assert transfer(proxy, tmp_path, etag=f"W/{strong}") == WHOLE


def test_bytes_that_differ_from_the_digest_of_the_server_are_requested_again(
    proxy: FaultProxy, tmp_path: Path
) -> None:
    import base64

    digest = base64.b64encode(hashlib.md5(DATA, usedforsecurity=False).digest()).decode()
    named = {"Content-MD5": digest}
    proxy.add(Fault(flip=7, headers=named), times=1)
    assert transfer(proxy, tmp_path) == WHOLE
    assert [one.status for one in proxy.log] == [200, 200]
    (tmp_path / "a").unlink()
    proxy.add(Fault(flip=7, headers=named))
    message = r"the bytes differ from the md5 that the server names, in 2 downloads \(nothing"
    with pytest.raises(SourceError, match=message):
        transfer(proxy, tmp_path, seconds=60)
    assert len(proxy.log) == 4


def test_a_transfer_ends_at_a_limit(proxy: FaultProxy, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="the file has more than 1,000 bytes"):
        transfer(proxy, tmp_path, limits=Limits(unpacked_bytes=1000))


def stream(proxy: FaultProxy, etag: str = "") -> RemoteFile:
    url = f"{proxy.url}/a"
    return RemoteFile(
        Location(url), filesystem(Location(url), {}, UNBOUNDED), Deadline(5), etag=etag
    )


def test_a_body_that_is_mostly_unpacked_here_ends_at_the_ratio(
    proxy: FaultProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zeros = gzip.compress(bytes(20_000_000))
    proxy.add(Fault(status=200, headers={"Content-Encoding": "gzip"}, body=zeros), times=2)
    assert transfer(proxy, tmp_path)[1] == 20_000_000
    monkeypatch.setattr("registry.sources.transfer.HARMLESS_BYTES", 10_000_000)
    (tmp_path / "b").mkdir()
    words = r"/a: [\d,]+ packed bytes unpack to 1\d,[\d,]+, so each gives more than 200 bytes"
    with pytest.raises(SourceError, match=words):
        transfer(proxy, tmp_path / "b")


def test_a_stream_is_of_the_version_that_was_looked_up(proxy: FaultProxy) -> None:
    with stream(proxy, '"other"') as file, pytest.raises(SourceError, match="changed while"):
        file.read()


def test_a_reader_may_take_its_time(proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGISTRY_READ_TIMEOUT", "1")
    proxy.add(Fault(without=("ETag",)))
    with stream(proxy) as file:
        first = file.read(10)
        time.sleep(1.1)
        assert first + file.read() == DATA


def test_a_stream_goes_on_after_a_lost_connection(proxy: FaultProxy) -> None:
    proxy.add(BROKEN, times=2)
    with stream(proxy) as file:
        assert file.read() == DATA
    assert [one.status for one in proxy.log] == [200, 206, 206]


@pytest.mark.parametrize("is_broken", [False, True])
def test_a_stream_has_the_digest_that_the_server_names(proxy: FaultProxy, is_broken: bool) -> None:
    def read(digest: bytes) -> bytes:
        named = {"Repr-Digest": f"sha-256=:{base64.b64encode(digest).decode()}:"}
        proxy.add(replace(BROKEN if is_broken else Fault(), headers=named), times=1)
        with stream(proxy) as file:
            return file.read()

    assert read(hashlib.sha256(DATA).digest()) == DATA
    message = r"differ from the sha256 that the server names \(try again\)"
    with pytest.raises(DamagedError, match=message):
        read(hashlib.sha256(b"other").digest())


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (Fault(reset_after=500_000, without=("ETag",)), Fault(), "the connection was lost, and"),
        (BROKEN, Fault(ignore_range=True), "changed while it was read"),
        (BROKEN, Fault(headers={"ETag": '"b"'}), "changed while it was read"),
    ],
)
def test_a_stream_never_joins_what_may_not_belong_together(
    proxy: FaultProxy, first: Fault, second: Fault, message: str
) -> None:
    proxy.add(first, times=1)
    proxy.add(second)
    with stream(proxy) as file, pytest.raises(SourceError, match=message):
        file.read()
