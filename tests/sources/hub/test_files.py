"""Files of a commit: listed, downloaded once, and checked each time."""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from registry.errors import SourceError
from registry.progress import Deadline
from registry.sources import parts_ahead
from registry.sources.hub.files import (
    Commit,
    CommitFiles,
    HubFile,
    check_card,
    fetch_file,
    fetch_files,
    list_files,
)
from registry.sources.pins import SourceContext
from registry.sources.ranges import RemoteRanges
from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.hub import HubEmulator
from tests.servers.static import StaticFiles

FILES = {"README.md": b"# x\n", "a/b.txt": b"text", "c.parquet": b"PAR1"}


@pytest.fixture
def commit(hub: HubEmulator) -> Commit:
    return Commit("org/files", hub.commit("org/files", FILES))


def test_a_location_elsewhere_is_refused(commit: Commit) -> None:
    root = f"hf://datasets/org/files@{commit.revision}"
    assert commit.path_of(f"{root}/a/b.txt") == "a/b.txt"
    for location in (f"{root}/../x", "hf://datasets/org/other@main/x", "https://host/x", "/etc/x"):
        with pytest.raises(SourceError, match="not a file of this commit"):
            commit.path_of(location)


def test_digests_are_those_that_git_and_lfs_have(commit: Commit) -> None:
    found = list_files(commit, ["a/b.txt", "c.parquet", "a", "gone"])
    assert {path: file.size for path, file in found.items()} == {"a/b.txt": 4, "c.parquet": 4}
    # printf text | git hash-object --stdin; printf PAR1 | sha256sum
    assert found["a/b.txt"].digest == "git:f3a34851d44d6b97c90fbb99dd3d18c261b9a237"
    assert found["c.parquet"].digest == (
        "sha256:fbc62d3b511368ee275ddc74117d8689b430e1427220e25d30816201d89ca7b6"
    )


def test_files_are_downloaded_once_and_have_their_names(
    hub: HubEmulator, commit: Commit, context: SourceContext, tmp_path: Path
) -> None:
    locations = [f"hf://datasets/{commit.repository}@{commit.revision}/{name}" for name in FILES]
    paths = fetch_files(locations, commit, tmp_path / "one", context)
    assert [Path(path).read_bytes() for path in paths] == list(FILES.values())
    assert paths[1] == str(tmp_path / "one" / "a" / "b.txt")
    hub.requests.clear()
    fetch_files(locations, commit, tmp_path / "two", context)
    assert [one.method for one in hub.requests] == ["POST"]
    with pytest.raises(SourceError, match="no file 'gone'"):
        fetch_files([locations[0].replace("README.md", "gone")], commit, tmp_path, context)


@pytest.mark.parametrize("name", ["a/b.txt", "c.parquet"])
def test_a_damaged_blob_is_downloaded_again(
    commit: Commit, context: SourceContext, name: str
) -> None:
    file = list_files(commit, [name])[name]
    blob = fetch_file(file, commit, context)
    blob.write_bytes(b"TEXT")
    assert fetch_file(file, commit, context).read_bytes() == FILES[name]


def test_a_card_that_the_commit_does_not_have_is_removed(
    hub: HubEmulator, commit: Commit, context: SourceContext
) -> None:
    from huggingface_hub import try_to_load_from_cache

    check_card(commit, context)
    known = try_to_load_from_cache(
        "org/files", "README.md", repo_type="dataset", revision=commit.revision
    )
    assert isinstance(known, str)
    strange = Path(known).with_name("dataset_infos.json")
    strange.write_text("{}")
    check_card(commit, context)
    assert not strange.exists()
    assert Path(known).read_bytes() == FILES["README.md"]


BODY = bytes(range(256)) * 1200


@pytest.fixture
def proxy(
    hub: HubEmulator, monkeypatch: pytest.MonkeyPatch, commit: Commit
) -> Iterator[FaultProxy]:
    """Give a server of one file, which is that of each commit now."""
    with StaticFiles({"/a": BODY}) as site, FaultProxy(site.url) as proxy:
        monkeypatch.setattr(CommitFiles, "url", lambda *_: f"{proxy.url}/a")
        yield proxy


def fetched(context: SourceContext, *, size: int = len(BODY), token: str | None = None) -> bytes:
    """Return what is downloaded as a file of this size."""
    file = HubFile("a", size, f"sha256:{hashlib.sha256(BODY).hexdigest()}")
    return fetch_file(file, Commit("org/files", "1" * 40, token), context).read_bytes()


def test_a_file_is_continued_where_it_broke_off(proxy: FaultProxy, context: SourceContext) -> None:
    proxy.add(Fault(cut_after=1000), times=1)
    assert fetched(context) == BODY
    assert proxy.log[1].headers["range"] == "bytes=1000-"


def test_a_connection_that_is_lost_after_the_last_byte_is_no_error(
    proxy: FaultProxy, context: SourceContext
) -> None:
    proxy.add(Fault(reset_after=len(BODY), without=("Content-Length",)), times=1)
    assert fetched(context) == BODY
    assert len(proxy.log) == 1  # servers refuse a range behind the end


def test_a_large_file_comes_in_parts(
    proxy: FaultProxy, context: SourceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts_ahead, "_LEAST_BYTES", len(BODY))
    assert fetched(context) == BODY
    ranges = [one.headers.get("range", "") for one in proxy.log]
    assert ranges[0] == ""
    assert len(set(ranges)) == len(ranges) > 1


def test_a_header_without_end_is_an_error_in_a_thread_too(
    proxy: FaultProxy, context: SourceContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_READ_TIMEOUT", "1")
    proxy.add(Fault(begin=b"HTTP/1.1 200 OK\r\n", repeat=b"X: y\r\n"))
    short = replace(context, deadline=Deadline(0))
    with ThreadPoolExecutor() as pool:  # as many files are fetched
        later = pool.submit(fetched, short)
        with pytest.raises(SourceError, match=r"a: .*no whole header in 1 second"):
            later.result(timeout=60)


def test_a_file_of_another_size_is_an_error(proxy: FaultProxy, context: SourceContext) -> None:
    with pytest.raises(SourceError, match="@1111111: a: more than its 10 bytes arrived"):
        fetched(context, size=10)


def test_the_token_does_not_follow_a_redirect(proxy: FaultProxy, context: SourceContext) -> None:
    with FaultProxy(proxy.upstream) as storage:
        there = {"Location": f"{storage.url}/a"}
        proxy.add(Fault(status=302, headers=there))
        assert fetched(context, token="hf_x") == BODY
        assert proxy.log[0].headers["authorization"] == "Bearer hf_x"
        assert "authorization" not in storage.log[0].headers


@pytest.mark.parametrize("status", [403, 404])
def test_the_signature_of_a_redirect_is_in_no_message(
    proxy: FaultProxy, context: SourceContext, status: int
) -> None:
    signed = f"{proxy.url}/signed?X-Amz-Signature=0a1b2c"
    proxy.add(Fault(status=302, headers={"Location": signed}), path="/a")
    proxy.add(Fault(status=status), path="/signed")
    with pytest.raises(SourceError, match=f"a: .*{status}") as caught:
        fetched(context)
    assert proxy.log[-1].path.endswith("0a1b2c")
    assert "0a1b2c" not in "".join(traceback.format_exception(caught.value))


def parts_of(commit: Commit, deadline: Deadline) -> RemoteRanges:
    files = CommitFiles(commit, {"a": HubFile("a", len(BODY), "git:00")})
    return RemoteRanges(commit.location("a"), files, deadline)


def test_ranges_are_read_and_their_place_is_checked(proxy: FaultProxy, commit: Commit) -> None:
    with parts_of(commit, Deadline(0)) as file:
        file.seek(-6, 2)
        assert (file.read(3), file.read()) == (BODY[-6:-3], BODY[-3:])
        file.seek(256)
        assert file.read(2) == b"\x00\x01"
        proxy.add(Fault(ignore_range=True))
        file.seek(100_000)
        with pytest.raises(SourceError, match="a: changed while it was read"):
            file.read(10)


def test_a_range_that_drips_is_an_error(
    proxy: FaultProxy, commit: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_READ_TIMEOUT", "1")
    proxy.add(Fault(drip=10))
    message = r"a: only \d+ bytes arrived in \d+ s"
    with parts_of(commit, Deadline(0)) as file, pytest.raises(SourceError, match=message):
        file.read(100)
