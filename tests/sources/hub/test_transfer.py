"""Transfers from the Hub: whole files that are resumed, and ranges."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.errors import SourceError
from registry.progress import Deadline
from registry.sources.hub.transfer import Remote, download, open_remote
from registry.sources.pins import SourceContext
from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.hub import HubEmulator
from tests.servers.static import StaticFiles

BODY = bytes(range(256)) * 40


@pytest.fixture
def context(tmp_path: Path) -> SourceContext:
    return SourceContext(boundary=UNBOUNDED, cache=Cache(tmp_path / "cache"))


def test_a_file_is_continued_where_it_broke_off(context: SourceContext, tmp_path: Path) -> None:
    with StaticFiles({"/a": BODY}) as site, FaultProxy(site.url) as proxy:
        proxy.add(Fault(cut_after=1000), times=1)
        path = tmp_path / "download"
        download(Remote(f"{proxy.url}/a", len(BODY), None, "a"), path, context)
        assert path.read_bytes() == BODY
        assert proxy.log[1].headers["range"] == "bytes=1000-"


def test_a_file_of_another_size_is_an_error(context: SourceContext, tmp_path: Path) -> None:
    with StaticFiles({"/a": BODY}) as site:
        remote = Remote(f"{site.url}/a", 10, None, "a")
        with pytest.raises(SourceError, match=r"a: [\d,]+ bytes arrived, not 10"):
            download(remote, tmp_path / "download", context)


def test_ranges_are_read_and_their_place_is_checked(hub: HubEmulator) -> None:
    commit = hub.commit("org/ranges", {"a": BODY})
    with FaultProxy(hub.url) as proxy:
        url = f"{proxy.url}/datasets/org/ranges/resolve/{commit}/a"
        remote = Remote(url, len(BODY), None, "a")
        with open_remote(remote, Deadline(0)) as file:
            file.seek(-6, 2)
            assert file.read(3) == BODY[-6:-3]
            assert file.read() == BODY[-3:]
            file.seek(256)
            assert file.read(2) == b"\x00\x01"
        proxy.add(Fault(ignore_range=True))
        with (
            open_remote(remote, Deadline(0)) as file,
            pytest.raises(SourceError, match="a: requested bytes 0-10239/10240, the server sent"),
        ):
            file.read(3)


def test_the_token_does_not_follow_a_redirect(context: SourceContext, tmp_path: Path) -> None:
    with (
        StaticFiles({"/a": BODY}) as site,
        FaultProxy(site.url) as storage,
        FaultProxy(site.url) as front,
    ):
        front.add(Fault(status=302, headers={"Location": f"{storage.url}/a"}))
        download(Remote(f"{front.url}/a", len(BODY), "hf_x", "a"), tmp_path / "download", context)
        assert front.log[0].headers["authorization"] == "Bearer hf_x"
        assert "authorization" not in storage.log[0].headers
        assert (tmp_path / "download").read_bytes() == BODY


@pytest.mark.parametrize("status", [403, 404])
def test_the_signature_of_a_redirect_is_in_no_message(
    context: SourceContext, tmp_path: Path, status: int
) -> None:
    with StaticFiles({"/a": BODY}) as site, FaultProxy(site.url) as proxy:
        signed = f"{proxy.url}/signed?X-Amz-Signature=0a1b2c"
        proxy.add(Fault(status=302, headers={"Location": signed}), path="/a")
        proxy.add(Fault(status=status), path="/signed")
        with pytest.raises(SourceError, match=f"a: .*{status}") as caught:
            download(Remote(f"{proxy.url}/a", len(BODY), None, "a"), tmp_path / "x", context)
        assert proxy.log[-1].path.endswith("0a1b2c")
        assert "0a1b2c" not in "".join(traceback.format_exception(caught.value))


def test_a_connection_that_is_lost_after_the_last_byte_is_no_error(
    context: SourceContext, tmp_path: Path
) -> None:
    with StaticFiles({"/a": BODY}) as site, FaultProxy(site.url) as proxy:
        without = ("Content-Length",)
        proxy.add(Fault(reset_after=len(BODY), without=without), times=1)
        download(Remote(f"{proxy.url}/a", len(BODY), None, "a"), tmp_path / "x", context)
        assert (tmp_path / "x").read_bytes() == BODY
        assert len(proxy.log) == 1  # servers refuse a range behind the end


def test_a_range_that_drips_is_an_error(hub: HubEmulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGISTRY_READ_TIMEOUT", "1")
    commit = hub.commit("org/dripping", {"a": BODY})
    with FaultProxy(hub.url) as proxy:
        proxy.add(Fault(drip=10))
        url = f"{proxy.url}/datasets/org/dripping/resolve/{commit}/a"
        with (
            open_remote(Remote(url, len(BODY), None, "a"), Deadline(0)) as file,
            pytest.raises(SourceError, match=r"a: only \d+ bytes arrived in \d+ s"),
        ):
            file.read(100)
