"""Globs become locations, which are opened wherever they lie, and after a lost connection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.errors import OfflineError, SourceError
from registry.sources.filesystem import FilesystemPool
from registry.sources.opening import expand, expand_or_recall, open_location
from tests.conftest import S3, Https
from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.hub import HubEmulator
from tests.servers.static import StaticFiles
from tests.sources.conftest import context_of


def no_archive(location: str) -> Any:
    raise AssertionError(f"{location} is not an archive")


def expanded(location: str) -> list[Location]:
    return expand(Location(location), FilesystemPool({}, UNBOUNDED), no_archive, UNBOUNDED)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.csv", "a.csv", "[c].csv"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("*.csv", ["[c].csv", "a.csv", "b.csv"]),
        ("[c].csv", ["[c].csv"]),
        ("[ab].csv", ["a.csv", "b.csv"]),
        ("none.csv", ["none.csv"]),
    ],
)
def test_a_local_glob_returns_sorted_names(folder: Path, path: str, expected: list[str]) -> None:
    assert expanded(str(folder / path)) == [str(folder / name) for name in expected]


def test_a_url_with_a_query_is_not_a_glob() -> None:
    url = "https://host/[x]*.csv?a=b"
    assert expanded(url) == [url]


def test_a_glob_that_matches_nothing_is_an_error(folder: Path) -> None:
    with pytest.raises(SourceError, match=r"\*\.tsv: no file matches"):
        expanded(str(folder / "*.tsv"))


def test_offline_a_remote_glob_has_its_last_expansion(s3: S3, cache: Cache) -> None:
    s3.bucket("bucket")
    names = [s3.put("bucket", name, b"x") for name in ("2.csv", "1.csv")]
    glob, pool = Location("s3://bucket/*.csv"), FilesystemPool({}, UNBOUNDED)
    offline = context_of(cache, offline=True)
    with pytest.raises(OfflineError, match=r"s3://bucket/\*\.csv: not in the cache"):
        expand_or_recall([glob], pool, offline)
    found = {"s3://bucket/*.csv": sorted(names)}
    assert expand_or_recall([glob], pool, context_of(cache)) == found
    s3.put("bucket", "3.csv", b"x")
    assert expand_or_recall([glob], pool, offline) == found


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
