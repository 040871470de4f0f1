"""Later parts of a file are fetched while it begins to arrive, and what fails is left to its reader."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Event

import pytest

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED, Limits
from registry.errors import SourceError
from registry.progress import Deadline, Progress, silent
from registry.sources import parts_ahead
from registry.sources.bodies import Body
from registry.sources.filesystem import FilesystemPool
from registry.sources.parts_ahead import PartsAhead
from registry.sources.retry import passing_error
from registry.sources.transfer import Transfer
from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.hub import HubEmulator
from tests.servers.static import StaticFiles

DATA = os.urandom(1_000_001)
WHOLE = (hashlib.sha256(DATA).hexdigest(), len(DATA))
QUARTER = 250_001


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_ahead, "_LEAST_BYTES", len(DATA))


@pytest.fixture
def site() -> Iterator[StaticFiles]:
    with StaticFiles({"/a": DATA, "/small": DATA[1:]}) as running:
        yield running


def transfer(url: str, folder: Path, limits: Limits | None = None, seconds: float = 60) -> bytes:
    """Return the file; the digest is that of its bytes."""
    pool = FilesystemPool({}, UNBOUNDED, Deadline(seconds))
    path = folder / "download"
    found = Transfer(Location(url), pool, path, limits=limits or Limits(), report=silent).run()
    data = path.read_bytes()
    own = f"/proc/{os.getpid()}/fd"
    opened = {os.path.realpath(os.path.join(own, one)) for one in os.listdir(own)}
    assert str(path) not in opened, "no thread writes to it any more"
    assert found == (hashlib.sha256(data).hexdigest(), len(data))
    return data


@pytest.mark.parametrize(("most_together", "count"), [(1 << 28, 4), (len(DATA) - 1, 8), (1000, 16)])
def test_each_part_is_requested_at_most_once(
    site: StaticFiles,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    most_together: int,
    count: int,
) -> None:
    monkeypatch.setattr(parts_ahead, "_ROUND_BYTES", most_together)
    assert transfer(f"{site.url}/a", tmp_path) == DATA
    size = -(-len(DATA) // count)
    starts = range(size, len(DATA), size)
    parts = {f"bytes={start}-{min(start + size, len(DATA)) - 1}" for start in starts}
    assert site.requests[0] == ""
    # Those that had not begun when the stream reached them came by it.
    assert set(site.requests[1:]) <= parts
    assert len(site.requests[1:]) == len(set(site.requests[1:]))


def test_a_small_file_and_one_above_the_limit_are_one_stream(
    site: StaticFiles, tmp_path: Path
) -> None:
    assert transfer(f"{site.url}/small", tmp_path) == DATA[1:]
    (tmp_path / "download").unlink()
    with pytest.raises(SourceError, match="the file has more than 1,000 bytes"):
        transfer(f"{site.url}/a", tmp_path, Limits(unpacked_bytes=1000))
    assert site.requests == ["", ""]


BROKEN = {
    "reset": Fault(reset_after=100_000),
    "cut": Fault(cut_after=100_000, without=("Content-Length",)),
    "whole": Fault(ignore_range=True),
    "etag": Fault(headers={"ETag": '"b"'}),
    "place": Fault(without=("Content-Range",)),
    "silent": Fault(reset_after=-1),
}
REFUSED = {
    "403": Fault(status=403),
    "416": Fault(status=416),
    "503": Fault(status=503, headers={"Retry-After": "300"}),
}


@pytest.mark.parametrize("name", [*BROKEN, *REFUSED])
def test_what_fails_beside_the_stream_costs_time_alone(
    site: StaticFiles, tmp_path: Path, name: str
) -> None:
    with FaultProxy(site.url) as proxy:
        proxy.add(Fault(), times=1)
        proxy.add({**BROKEN, **REFUSED}[name], times=3)
        assert transfer(f"{proxy.url}/a", tmp_path) == DATA


@pytest.mark.parametrize("name", BROKEN)
def test_stream_and_parts_may_fail_together(site: StaticFiles, tmp_path: Path, name: str) -> None:
    with FaultProxy(site.url) as proxy:
        proxy.add(Fault(reset_after=100_000), times=1)
        proxy.add(BROKEN[name], times=3)
        assert transfer(f"{proxy.url}/a", tmp_path) == DATA


def test_nothing_is_left_of_a_longer_version(site: StaticFiles, tmp_path: Path) -> None:
    with FaultProxy(site.url) as proxy:
        proxy.add(Fault(reset_after=0), times=1)
        proxy.add(Fault(), times=3)
        proxy.add(Fault(before=lambda: site.files.update({"/a": DATA[:9]})), times=1)
        assert transfer(f"{proxy.url}/a", tmp_path) == DATA[:9]


def test_a_file_of_the_hub_comes_in_parts(hub: HubEmulator, tmp_path: Path) -> None:
    commit = hub.commit("org/parts", {"a.bin": DATA})
    assert transfer(f"hf://datasets/org/parts@{commit}/a.bin", tmp_path) == DATA


def bodies(
    position: int, stop: int, *, wait: Callable[[int], object] = lambda _: None, etag: str = '"a"'
) -> Body:
    """Answer a request; `wait` is called with the position of the bytes before they are sent."""
    at = position

    def read() -> bytes:
        nonlocal at
        wait(at)
        chunk = DATA[at : min(stop, at + 50_000)]
        at += len(chunk)
        return chunk

    return Body(read=read, close=lambda: None, start=position, size=len(DATA), etag=etag)


def ahead_of(path: Path, open_part: Callable[[int, int], Body], seconds: float = 60) -> PartsAhead:
    path.write_bytes(DATA[:10])
    return PartsAhead(
        path,
        range(len(DATA)),
        open_part,
        etag='"a"',
        location=Location("https://example.com/a"),
        seconds=seconds,
    )


def settled(ahead: PartsAhead, count: int) -> None:
    """Wait until so many bytes have arrived."""
    end = time.monotonic() + 30
    while ahead.arrived(0) < count:
        assert time.monotonic() < end
        time.sleep(0.001)


def test_the_parts_are_taken_in_order(tmp_path: Path) -> None:
    ahead = ahead_of(tmp_path / "a", bodies)
    settled(ahead, len(DATA) - QUARTER)
    assert ahead.room(QUARTER - 10, 30) == 10
    assert b"".join(ahead.chunks(QUARTER, silent)) == DATA[QUARTER:]
    ahead.stop()


def test_a_part_that_has_not_begun_is_the_reader_s(tmp_path: Path) -> None:
    go_on = Event()

    def wait(position: int) -> None:
        if QUARTER <= position < 2 * QUARTER:
            go_on.wait()

    path = tmp_path / "a"
    ahead = ahead_of(path, partial(bodies, wait=wait))
    settled(ahead, len(DATA) - 2 * QUARTER)
    assert ahead.room(QUARTER - 10, 30) == 30
    go_on.set()
    time.sleep(0.1)
    assert path.read_bytes()[10 : 2 * QUARTER] == bytes(2 * QUARTER - 10)
    assert ahead.room(2 * QUARTER - 10, 30) == 10
    assert b"".join(ahead.chunks(2 * QUARTER, silent)) == DATA[2 * QUARTER :]
    ahead.stop()


def test_what_came_before_a_failure_is_taken(tmp_path: Path) -> None:
    def broken(position: int) -> None:
        if position >= QUARTER + 100_000:
            raise SourceError("it is broken")

    ahead = ahead_of(tmp_path / "a", partial(bodies, wait=broken))
    settled(ahead, 100_000)
    assert b"".join(ahead.chunks(QUARTER, silent)) == DATA[QUARTER:][:100_000]
    ahead.stop()


def test_a_pause_of_a_thread_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_ahead, "_CHECK_SECONDS", 0.01)
    broken = QUARTER + 50_000
    asked: list[int] = []

    def open_part(position: int, stop: int) -> Body:
        asked.append(position)
        if position == broken and asked.count(broken) == 1:
            error = passing_error("the server is busy")
            error.retry_after = 1
            raise error
        return bodies(position, broken if position == QUARTER else stop)

    ahead = ahead_of(tmp_path / "a", open_part)
    settled(ahead, 50_000)
    waits: list[Progress] = []
    assert b"".join(ahead.chunks(QUARTER, waits.append)) == DATA[QUARTER:]
    assert any("the server is busy" in one.note for one in waits)
    ahead.stop()


def test_nothing_is_written_after_the_end(tmp_path: Path) -> None:
    go_on = Event()
    path = tmp_path / "a"
    ahead = ahead_of(path, partial(bodies, wait=lambda _: go_on.wait()))
    ahead.stop()
    go_on.set()
    time.sleep(0.1)
    assert path.read_bytes() == DATA[:10]
