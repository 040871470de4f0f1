"""A location is opened wherever it lies; a remote one goes on after a lost connection."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED
from registry.errors import SourceError
from registry.sources.opening import open_location
from tests.conftest import S3, Https
from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.hub import HubEmulator
from tests.servers.static import StaticFiles


def test_local_and_remote_locations_are_opened(tmp_path: Path, https: Https) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    url = https.put("/a", b"abc")
    for location in (str(path), f"file://{path}", url):
        for part in (False, True):
            with open_location(Location(location), {}, UNBOUNDED, part=part) as file:
                assert file.read(2) == b"ab"
    faults = {f"{url}-none": "no such file", "hf://x": "invalid location or fs_options: .* 'x'"}
    for name, fault in faults.items():
        with (
            pytest.raises(SourceError, match=f"^{name}: {fault}"),
            open_location(Location(name), {}, UNBOUNDED) as file,
        ):
            file.read()


def test_a_lost_connection_is_continued(s3: S3, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytes(range(256)) * 2000
    s3.bucket("data")
    url = s3.put("data", "a", data)
    with (
        StaticFiles({"/a": data}) as site,
        FaultProxy(site.url) as http,
        FaultProxy(s3.url) as bucket,
    ):
        monkeypatch.setenv("AWS_ENDPOINT_URL", bucket.url)
        for proxy, location in ((http, f"{http.url}/a"), (bucket, url)):
            proxy.add(Fault(reset_after=200_000), path="/a$", times=1)
            with open_location(Location(location), {}, UNBOUNDED) as file:
                assert file.read() == data
            assert len(proxy.requests("GET", "/a$")) == 2


def test_a_file_of_the_hub_is_continued(hub: HubEmulator, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytes(range(256)) * 12_000
    commit = hub.commit("org/opened", {"a.bin": data})
    location = f"hf://datasets/org/opened@{commit}/a.bin"
    with FaultProxy(hub.url) as proxy:
        monkeypatch.setenv("REGISTRY_READ_TIMEOUT", "1")
        for fault in (Fault(reset_after=50_000), Fault(status=503), Fault(drip=5)):
            proxy.clear()
            proxy.add(fault, path="/resolve/", times=1)
            with open_location(Location(location), {"endpoint": proxy.url}, UNBOUNDED) as file:
                assert file.read() == data
            assert [one.fault for one in proxy.requests("GET", "/resolve/")] == [fault, None]
