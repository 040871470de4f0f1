"""Parts of a remote file are those of one version, requested once, or the whole file is copied."""

from __future__ import annotations

import base64
import hashlib
import io
import math
import os
import random

import pytest

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED
from registry.errors import SourceError
from registry.progress import Deadline
from registry.sources import ranges
from registry.sources.filesystem import filesystem
from registry.sources.ranges import RemoteRanges
from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.hub import HubEmulator
from tests.servers.static import StaticFiles

DATA = os.urandom(6_000_000)
MD5 = base64.b64encode(hashlib.md5(DATA, usedforsecurity=False).digest()).decode()


def opened(url: str, *, etag: str = "", size: int | None = len(DATA)) -> RemoteRanges:
    location = Location(f"{url}/a")
    files = filesystem(location, {}, UNBOUNDED)
    return RemoteRanges(location, files, Deadline(5), etag=etag, size=size)


@pytest.mark.parametrize("size", [len(DATA), None])
@pytest.mark.parametrize("expect", [False, True])
def test_every_part_has_the_bytes_of_the_file(
    site: StaticFiles, monkeypatch: pytest.MonkeyPatch, *, expect: bool, size: int | None
) -> None:
    monkeypatch.setattr(ranges, "_MOST_HELD", 1 << 21)  # so that parts are dropped
    choose = random.Random(3)
    with opened(site.url, size=size) as file:
        for _ in range(20):
            start = choose.randrange(len(DATA))
            if expect:
                file.expect([range(start, start + 300_000), range(10), range(-5, 10**9)])
            for count in (1, 70_000, 200_000):
                file.seek(start)
                assert file.read(count) == DATA[start : start + count]
                assert file.tell() == min(len(DATA), start + count)
        file.seek(-10, io.SEEK_END)
        assert file.read() == DATA[-10:]
        assert file.read(5) == b""
    assert all(site.requests)


def test_expected_parts_are_requested_once_and_neighbours_together(site: StaticFiles) -> None:
    columns = [range(10, 1000), range(1000, 5000), range(3_000_000, 3_000_100)]
    later = [range(5_000, 2_000_000), range(2_010_000, 2_900_000)]
    with opened(site.url) as file:
        file.expect(columns)
        for part in (*columns, *columns):
            file.seek(part.start)
            file.read(len(part))
        file.expect(later)  # who goes on to a second group reads all of it
        for part in later:
            file.seek(part.start)
            file.read(len(part))
    assert sorted(site.requests) == [
        "bytes=10-4999",
        "bytes=3000000-3000099",
        "bytes=5000-2899999",
        f"bytes={len(DATA) - (1 << 16)}-{len(DATA) - 1}",
    ]


def test_a_part_of_a_long_column_is_followed_by_larger_ones(site: StaticFiles) -> None:
    with opened(site.url) as file:
        file.expect([range(len(DATA))])
        while file.read(1 << 18):
            pass
    assert len(site.requests) == 4  # the end; 1, 2 and 4 MiB


def test_a_lost_connection_is_tried_again(proxy: FaultProxy) -> None:
    with opened(proxy.url) as file:
        file.seek(10)
        file.read(1)
        proxy.add(Fault(reset_after=1000), times=2)
        file.seek(2_000_000)
        assert file.read(500_000) == DATA[2_000_000:2_500_000]


@pytest.mark.parametrize(
    "fault", [Fault(headers={"ETag": '"b"'}), Fault(ignore_range=True)], ids=["etag", "whole"]
)
def test_parts_of_two_versions_are_never_joined(proxy: FaultProxy, fault: Fault) -> None:
    with opened(proxy.url) as file:
        file.read(10)
        proxy.add(fault)
        file.seek(3_000_000)
        with pytest.raises(SourceError, match="changed while it was read"):
            file.read(10)


def test_the_file_is_the_one_that_was_looked_up(site: StaticFiles) -> None:
    with (
        opened(site.url, etag='"other"') as file,
        pytest.raises(SourceError, match="changed while it was read"),
    ):
        file.read(10)


@pytest.mark.parametrize(
    "fault",
    [
        Fault(ignore_range=True),
        Fault(headers={"ETag": 'W/"weak"'}),
        Fault(without=("ETag",)),
        Fault(without=("Content-Range",)),
        Fault(ignore_range=True, flip=150, headers={"Content-MD5": MD5}),
    ],
    ids=["no ranges", "weak", "no etag", "unknown place", "damaged once"],
)
def test_without_parts_of_one_version_the_whole_file_is_read(
    proxy: FaultProxy, fault: Fault
) -> None:
    proxy.add(fault, times=1 if fault.flip else math.inf)
    with opened(proxy.url) as file:
        for start in (5_000_000, 100):
            file.seek(start)
            assert file.read(100) == DATA[start : start + 100]
    assert len(proxy.log) <= (4 if fault.flip else 2)


def test_a_file_of_the_hub_is_read_in_parts(hub: HubEmulator) -> None:
    commit = hub.commit("org/parts", {"a.bin": DATA})
    location = Location(f"hf://datasets/org/parts@{commit}/a.bin")
    with RemoteRanges(location, filesystem(location, {}, UNBOUNDED), Deadline(5)) as file:
        file.seek(-10, io.SEEK_END)
        assert file.read() == DATA[-10:]
        for start in (0, 3_000_000):
            file.expect([range(start, start + 100_000)])
            file.seek(start)
            assert file.read(100_000) == DATA[start : start + 100_000]
