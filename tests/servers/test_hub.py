"""The Hub emulator, called by the real client libraries and by raw requests."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.servers.hub import HubEmulator, Request, parquet_repo

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OLD = [{"id": 1, "q": "one"}, {"id": 2, "q": "two"}]
NEW = [{"id": 1, "q": "uno"}, {"id": 2, "q": "due"}, {"id": 3, "q": "tre"}]
TOKEN = "hf_test"

LIBRARY_CALLS = """
import json, sys

import datasets
from huggingface_hub import HfApi, HfFileSystem, hf_hub_download, snapshot_download

sha, token = sys.argv[1:]
datasets.config.USE_PARQUET_EXPORT = False  # else asks a second host, named after the first
datasets.disable_progress_bars()
api, fs = HfApi(), HfFileSystem()


def rows(repo="org/name", config="cfg", split="test", **options):
    return list(datasets.load_dataset(repo, config, split=split, **options))


def error(function, *arguments, **options):
    try:
        return repr(function(*arguments, **options))
    except Exception as failure:
        return type(failure).__name__


def opened(path):
    with fs.open(path, "rb") as file:
        file.seek(-4, 2)
        return file.read().decode()


def snapshot_names():
    import pathlib
    root = pathlib.Path(snapshot_download("org/name", repo_type="dataset", revision=sha))
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


info = api.dataset_info("org/name", revision="main")
print(json.dumps({
    "main": rows(revision="main"),
    "sha": rows(revision=sha),
    "slash": rows(revision="release/1"),
    "streamed": rows(streaming=True),
    # First without a token, as what is in the cache would be returned in spite of a refusal.
    "private_anonymous": error(rows, "org/secret"),
    "private": rows("org/secret", token=token),
    "private_info": api.dataset_info("org/secret", token=token).private,
    "info_sha": info.sha,
    "info_license": info.card_data.license,
    "info_pinned_sha": api.dataset_info("org/name", revision=sha).sha,
    "script_siblings": [file.rfilename for file in api.dataset_info("org/script").siblings],
    "script": error(rows, "org/script"),
    "unknown_repo": error(api.dataset_info, "org/gone"),
    "unknown_revision": error(api.dataset_info, "org/name", revision="gone"),
    "load_unknown_revision": error(rows, revision="gone"),
    "unknown_file": error(hf_hub_download, "org/name", "gone.txt", repo_type="dataset"),
    "glob": fs.glob("datasets/org/name@release%2F1/**/*.parquet"),
    "opened": opened(f"hf://datasets/org/name@{sha}/cfg/test-00000-of-00001.parquet"),
    "fs_unknown_file": error(opened, "hf://datasets/org/name/gone.txt"),
    "snapshot": snapshot_names(),
    "paths_info": [
        type(entry).__name__
        for entry in api.get_paths_info("org/name", ["cfg", "README.md", "gone"], repo_type="dataset")
    ],
}))
"""


@pytest.fixture
def hub() -> Iterator[HubEmulator]:
    with HubEmulator() as running:
        yield running


def test_client_libraries_receive_expected_data(hub: HubEmulator, tmp_path: Path) -> None:
    hub.token = TOKEN
    old_files = parquet_repo({"cfg": {"test": OLD}})
    old = hub.commit("org/name", old_files)
    hub.commit("org/name", old_files, branch="release/1")
    new = hub.commit("org/name", parquet_repo({"cfg": {"test": NEW}}, licence="mit"))
    hub.commit("org/secret", old_files, private=True)
    hub.commit("org/script", {"script.py": b"raise SystemExit"})
    environment = {name: text for name, text in os.environ.items() if not name.startswith("HF_")}
    environment |= {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path), "NO_PROXY": "127.0.0.1"}
    environment |= {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1"}
    command = [sys.executable, "-c", LIBRARY_CALLS, old, TOKEN]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "main": NEW,
        "sha": OLD,
        "slash": OLD,
        "streamed": NEW,
        "private_anonymous": "DatasetNotFoundError",
        "private": OLD,
        "private_info": True,
        "info_sha": new,
        "info_license": "mit",
        "info_pinned_sha": old,
        "script_siblings": ["script.py"],
        "script": "RuntimeError",
        "unknown_repo": "RepositoryNotFoundError",
        "unknown_revision": "RevisionNotFoundError",
        "load_unknown_revision": "DatasetNotFoundError",
        "unknown_file": "RemoteEntryNotFoundError",
        "glob": ["datasets/org/name@release%2F1/cfg/test-00000-of-00001.parquet"],
        "opened": "PAR1",
        "fs_unknown_file": "FileNotFoundError",
        "snapshot": ["README.md", "cfg/test-00000-of-00001.parquet"],
        "paths_info": ["RepoFolder", "RepoFile"],
    }
    readme = f"/datasets/org/name/resolve/{old}/README.md"
    paths_info = Request("POST", "/api/datasets/org/name/paths-info/main")
    assert {Request("HEAD", readme), paths_info} <= set(hub.requests)


def send(
    hub: HubEmulator, target: str, *, method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Send one request; underscores in header names become hyphens."""
    connection = http.client.HTTPConnection(urlsplit(hub.url).netloc, timeout=10)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, target, headers=sent)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, dict(response.getheaders()), body


@pytest.mark.parametrize(
    ("wanted", "status", "body", "content_range"),
    [
        ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=-2", 206, b"89", "bytes 8-9/10"),
        ("bytes=8-99", 206, b"89", "bytes 8-9/10"),
        ("bytes=-99", 206, b"0123456789", "bytes 0-9/10"),
        ("bytes=10-", 416, b"", "bytes */10"),
        ("bytes=0-1,4-5", 200, b"0123456789", None),
        ("lines=0-1", 200, b"0123456789", None),
    ],
)
def test_range_requests_are_answered(
    hub: HubEmulator, wanted: str, status: int, body: bytes, content_range: str | None
) -> None:
    hub.commit("org/name", {"a.txt": b"0123456789"})
    answer = send(hub, "/datasets/org/name/resolve/main/a.txt", Range=wanted)
    assert (answer[0], answer[2], answer[1].get("Content-Range")) == (status, body, content_range)
    assert answer[1]["Content-Length"] == str(len(body))


@pytest.mark.parametrize(
    ("path", "etag"),
    [
        # As computed by `git hash-object` and `sha256sum`.
        ("a.txt", "ad471007bd7f5983d273b9584e5629230150fd54"),
        ("a.parquet", "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"),
    ],
)
def test_head_of_a_file_describes_it(hub: HubEmulator, path: str, etag: str) -> None:
    sha = hub.commit("org/name", {path: b"0123456789"})
    target = f"/datasets/org/name/resolve/main/{path}"
    status, headers, body = send(hub, target, method="HEAD", Range="bytes=0-1")
    assert (status, body) == (200, b"")
    assert headers["Content-Length"] == "10"
    assert headers["X-Repo-Commit"] == sha
    assert headers["ETag"] == f'"{etag}"'


@pytest.mark.parametrize(
    ("target", "status", "code"),
    [
        ("/api/datasets/org/gone", 401, "RepoNotFound"),
        ("/api/datasets/org/secret", 401, "RepoNotFound"),
        ("/api/datasets/org/name/revision/gone", 404, "RevisionNotFound"),
        ("/api/datasets/org/name/tree/main/gone", 404, "EntryNotFound"),
        ("/datasets/org/name/resolve/main/gone", 404, "EntryNotFound"),
        ("/elsewhere", 404, None),
    ],
)
def test_errors_have_the_expected_status_codes(
    hub: HubEmulator, target: str, status: int, code: str | None
) -> None:
    hub.token = TOKEN
    sha = hub.commit("org/name", {"a.txt": b""})
    hub.commit("org/secret", {"a.txt": b""}, private=True)
    answer = send(hub, target, Authorization="Bearer wrong")
    assert (answer[0], answer[1].get("X-Error-Code")) == (status, code)
    assert answer[1].get("X-Repo-Commit") == (sha if code == "EntryNotFound" else None)


def test_tree_lists_one_level_unless_recursive(hub: HubEmulator) -> None:
    hub.commit("org/name", {"a/b/c.parquet": b"c", "d.txt": b"d"})
    target = "/api/datasets/org/name/tree/main"
    top, deep, below = (
        {entry["path"]: entry["type"] for entry in json.loads(send(hub, target + rest)[2])}
        for rest in ("", "?recursive=true", "/a%2Fb")
    )
    assert top == {"a": "directory", "d.txt": "file"}
    assert deep == top | {"a/b": "directory", "a/b/c.parquet": "file"}
    assert below == {"a/b/c.parquet": "file"}


def test_configured_failure_lasts_until_it_is_cleared(hub: HubEmulator) -> None:
    hub.commit("org/name", {"a.txt": b""})
    hub.fail_with(429, headers={"Retry-After": "7"})
    status, headers, _ = send(hub, "/api/datasets/org/name")
    assert (status, headers["Retry-After"]) == (429, "7")
    hub.fail_with(None)
    assert send(hub, "/api/datasets/org/name")[0] == 200
    assert hub.requests == [Request("GET", "/api/datasets/org/name")] * 2
    hub.requests.clear()
    assert hub.requests == []


def test_stop_closes_open_connections(hub: HubEmulator) -> None:
    connection = http.client.HTTPConnection(urlsplit(hub.url).netloc, timeout=10)
    connection.request("GET", "/")
    connection.getresponse().read()
    hub.stop()
    with pytest.raises(ConnectionError):  # noqa: PT012 - either may notice first
        connection.request("GET", "/")
        connection.getresponse()
    connection.close()


def test_sha_depends_on_content_and_history() -> None:
    first, second = HubEmulator(), HubEmulator()
    shas = [hub.commit("org/name", {"a": b"1"}) for hub in (first, second)]
    assert shas == ["b5138514c29a1eab77b6ffac83061f820d21f040"] * 2
    assert first.commit("org/name", {"a": b"1"}) != shas[0]
    assert first.commit("org/other", {"a": b"1"}) != shas[0]


def test_schema_determines_types_and_allows_an_empty_split() -> None:
    schema = pa.schema([("id", pa.int32())])
    files = parquet_repo({"cfg": {"empty": [], "full": [{"id": 1}]}}, schemas={"cfg": schema})
    for split in ("empty", "full"):
        source = pa.BufferReader(files[f"cfg/{split}-00000-of-00001.parquet"])
        assert pq.read_schema(source).equals(schema)
