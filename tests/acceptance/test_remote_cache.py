"""A cache that machines share: on S3, in a folder and on WebDAV; and what is wrong with one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import fsspec.config
import pytest
from s3fs import S3FileSystem

from registry import get_dataset
from registry.cache.cache import Cache
from registry.cache.folders import seal, unseal
from registry.cli import main
from registry.load.call import OpenCatalog
from registry.plugins.remote_cache.of_dataset import open_remote_cache
from registry.plugins.remote_cache.record import SAMPLES, entry_folder, record_of, record_text
from registry.plugins.remote_cache.stores import open_store, public_url
from registry.settings import Settings
from registry.workflows.sync import sync
from tests.acceptance.conftest import Machine
from tests.conftest import S3, Https, OneDataset, Page, permit
from tests.servers.stores import KINDS, StoreServers

Caplog = pytest.LogCaptureFixture
Capsys = pytest.CaptureFixture[str]
ROWS = b"q,a\n" + b"".join(b"question %d,answer %d\n" % (n, n) for n in range(2000))


@pytest.fixture
def root(https: Https, one_dataset: OneDataset, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a locked catalog with one dataset behind a server."""
    https.pages["/data.csv"] = Page(ROWS)
    source = {"type": "csv", "path": f"{https.url}/data.csv"}
    root = permit(one_dataset(source), hosts=["localhost"])
    monkeypatch.setenv("REGISTRY_ROOT", str(root))
    assert main(["lock", "data"]) == 0
    return root


EVERYWHERE = pytest.mark.parametrize("remote", ["s3", "folder", *KINDS], indirect=True)


@pytest.fixture
def remote(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Set a remote cache, a folder or one of EVERYWHERE; give its URL."""
    kind = getattr(request, "param", "folder")
    if kind == "folder":
        url = str(tmp_path / "shared")
        Path(url).mkdir()
    elif kind == "s3":
        request.getfixturevalue("s3").bucket("remote-cache")
        url = "s3://remote-cache/team"
    else:
        url = request.getfixturevalue("store_servers").open(kind, monkeypatch)
    monkeypatch.setenv("REGISTRY_REMOTE_CACHE", url)
    return url


def told(caplog: Caplog) -> list[str]:
    """Return what users were told; the servers of the tests log, too."""
    return [one.getMessage() for one in caplog.records if one.name == "registry"]


def push() -> int:
    """Build the dataset, and store it in the remote cache, too."""
    return main(["sync", "data", "--push"])


@EVERYWHERE
@pytest.mark.usefixtures("root", "remote")
def test_a_second_machine_asks_the_source_for_nothing(https: Https, machine: Machine) -> None:
    machine("first")
    assert push() == 0
    first = get_dataset("data")
    https.requests.clear()
    machine("second")
    assert list(get_dataset("data")) == list(first)
    assert len(first) == 2000
    # The first samples come from all that are shared.
    machine("third")
    assert [one.input for one in get_dataset("data", limit=2)] == ["question 0", "question 1"]
    assert https.requests == []


def altered_entry(tmp_path: Path, root: Path, https: Https, machine: Machine) -> None:
    """Push samples that are consistent in themselves, under the fingerprint of others."""
    machine("attacker")
    lock = (root / "datasets.lock").read_text("utf-8")
    https.pages["/data.csv"] = Page(ROWS.replace(b"answer 7\n", b"answer X\n"))
    (root / "datasets.lock").unlink()
    other = get_dataset("data")
    assert other[7].target == "answer X"
    (entry,) = Cache(tmp_path / "attacker").entries("samples")
    https.pages["/data.csv"] = Page(ROWS)
    (root / "datasets.lock").write_text(lock, "utf-8")
    machine("honest")
    get_dataset("data")
    (honest,) = Cache(tmp_path / "honest").entries("samples")
    record = record_of(honest.meta["fingerprint"], entry.meta)
    store = open_store(os.environ["REGISTRY_REMOTE_CACHE"])
    folder = entry_folder(record.fingerprint)
    store.upload(entry.folder / SAMPLES, f"{folder}/{record.sha256}.arrow", lambda _: None)
    store.write(f"{folder}/entry.json", record_text(record))


def test_samples_that_the_lockfile_does_not_pin_are_never_used(
    root: Path, remote: str, tmp_path: Path, https: Https, machine: Machine, caplog: Caplog
) -> None:
    altered_entry(tmp_path, root, https, machine)
    folder = machine("second")

    assert get_dataset("data")[7].target == "answer 7"
    (warning,) = told(caplog)
    assert "not used: its samples are not those of datasets.lock" in warning
    (entry,) = Cache(folder).entries("samples")
    assert entry.damage() == ""

    assert push() == 0
    machine("third")
    https.requests.clear()
    caplog.clear()
    assert get_dataset("data")[7].target == "answer 7"
    assert (https.requests, told(caplog)) == ([], [])


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("change", [cut, flipped, lambda _: b"", lambda _: b"{}"])
@pytest.mark.parametrize("suffix", [".arrow", ".json"])
def test_damaged_objects_are_not_used_and_the_next_push_replaces_them(
    remote: str,
    https: Https,
    machine: Machine,
    caplog: Caplog,
    change: Callable[[bytes], bytes],
    suffix: str,
) -> None:
    machine("first")
    assert push() == 0
    store = open_store(remote)
    (name,) = (one.name for one in store.objects() if one.name.endswith(suffix))
    store.write(name, change(store.read(name, 1 << 30) or b""))
    machine("second")

    assert get_dataset("data")[1999].target == "answer 1999"
    (warning,) = told(caplog)
    assert f"{public_url(remote)}: data: not used: " in warning
    assert warning.endswith(
        "(the source is used; `registry sync --push --refresh data` replaces it)"
    )

    open_remote_cache.cache_clear()  # the command is another process
    assert main(["sync", "--push", "--refresh", "data"]) == 0
    machine("third")
    https.requests.clear()
    assert len(get_dataset("data")) == 2000
    assert https.requests == []


@pytest.mark.parametrize(
    ("kind", "example"), [("other", {}), ("blank_inputs", {"record": 1}), ("blank_inputs", None)]
)
def test_counts_that_nobody_can_have_made_are_not_used(
    one_dataset: OneDataset,
    remote: str,
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    example: Any,
) -> None:
    root = one_dataset({"type": "csv", "path": "d.csv"}, expect={"nonempty_inputs": True})
    (root / "d.csv").write_bytes(ROWS)
    monkeypatch.setenv("REGISTRY_ROOT", str(root))
    machine("first")
    assert main(["lock", "data"]) == 0
    assert push() == 0
    (entry,) = Path(remote).rglob("entry.json")
    record = unseal(entry.read_bytes())
    first = [] if example is None else [example]
    record["meta"]["quality"] = {kind: {"count": 1, "first": first}}
    entry.write_bytes(seal(record))
    machine("second")
    assert len(get_dataset("data", locked=True)) == 2000
    assert main(["sync", "data", "--locked"]) == 0


def test_without_a_lockfile_only_trusted_writers_count(
    root: Path, remote: str, machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (root / "datasets.lock").unlink()
    key = "0123456789abcdef" * 4
    monkeypatch.setenv("REGISTRY_REMOTE_WRITER", "ci")
    monkeypatch.setenv("REGISTRY_REMOTE_KEY_CI", key)
    machine("first")
    assert push() == 0
    monkeypatch.delenv("REGISTRY_REMOTE_WRITER")

    def status(name: str) -> str:
        machine(name)
        opened = OpenCatalog.of(Settings.from_environment(root=root))
        (result,) = sync(["data"], opened, jobs=1, report=lambda *_: None)
        return result.status

    assert status("nobody is trusted") == "built"
    monkeypatch.setenv("REGISTRY_REMOTE_TRUST", "ci")
    assert status("the writer is trusted") == "fetched"
    monkeypatch.setenv("REGISTRY_REMOTE_KEY_CI", key[::-1])
    assert status("another key") == "built"
    monkeypatch.setenv("REGISTRY_REMOTE_TRUST", "anyone")
    assert status("everybody is trusted") == "fetched"


@pytest.fixture
def silent_server() -> Iterator[str]:
    """Give a server that accepts connections and never answers."""
    S3FileSystem.clear_instance_cache()  # they keep the address of the server before
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    S3FileSystem.clear_instance_cache()


@pytest.mark.usefixtures("root", "s3")
def test_a_server_that_does_not_answer_costs_one_wait_and_one_warning(
    silent_server: str, machine: Machine, monkeypatch: pytest.MonkeyPatch, caplog: Caplog
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", silent_server)
    monkeypatch.setenv("REGISTRY_REMOTE_CACHE", "s3://slow-bucket")
    monkeypatch.setenv("REGISTRY_REMOTE_TIMEOUT", "1")
    machine("first")

    assert len(get_dataset("data")) == 2000
    assert len(get_dataset("data", refresh=True)) == 2000
    (warning,) = told(caplog)
    assert warning == (
        "remote cache s3://slow-bucket: no progress for 1 second"
        " (REGISTRY_REMOTE_TIMEOUT sets the limit); the sources are used"
    )
    assert push() == 1


@pytest.mark.parametrize(
    ("url", "package"),
    [
        ("s3://no-such-bucket", "s3fs"),
        ("nowhere://x", "fsspec"),
        ("/no/such/folder", "fsspec"),
        ("gs://bucket/x", "gcsfs"),
        ("abfs://container/x", "adlfs"),
        ("sftp://team:secret-word@127.0.0.1:1/x", "paramiko"),
    ],
)
@pytest.mark.usefixtures("root", "s3")
def test_a_remote_cache_that_is_not_there_is_one_warning(
    url: str,
    package: str,
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    caplog: Caplog,
    capsys: Capsys,
) -> None:
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    nobody = "http://127.0.0.1:1"
    account = f"AccountName=a;AccountKey=c2VjcmV0;BlobEndpoint={nobody}/a"
    monkeypatch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    monkeypatch.setitem(fsspec.config.conf, "gs", {"token": "anon"})
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", nobody)
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", account)
    monkeypatch.setenv("REGISTRY_REMOTE_CACHE", url)
    monkeypatch.setenv("REGISTRY_REMOTE_TIMEOUT", "2")
    machine("first")
    assert len(get_dataset("data")) == 2000
    (warning,) = told(caplog)
    assert warning.startswith(f"remote cache {public_url(url)}: ")
    assert warning.endswith("; the sources are used")
    assert push() == 1
    error = capsys.readouterr().err
    assert f"error: data: can't push to the remote cache {public_url(url)}: " in error
    assert "secret-word" not in warning + error
    if package != "fsspec":  # which keeps what it made in this environment, for other tests too
        fsspec.get_filesystem_class(url.partition(":")[0]).clear_instance_cache()


@pytest.mark.usefixtures("root")
def test_a_store_that_permits_no_writing_still_serves(remote: str, machine: Machine) -> None:
    machine("first")
    assert push() == 0
    before = {path: path.stat().st_mtime_ns for path in Path(remote).rglob("*")}
    machine("second")
    get_dataset("data")
    # Not even the time of a file, as readers may have no permission.
    assert {path: path.stat().st_mtime_ns for path in Path(remote).rglob("*")} == before


@pytest.mark.parametrize("state", ["read-only", "full"])
@pytest.mark.usefixtures("root")
def test_an_sftp_server_that_takes_nothing_still_serves(
    state: str,
    store_servers: StoreServers,
    https: Https,
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capsys,
) -> None:
    url = store_servers.open("sftp", monkeypatch)
    monkeypatch.setenv("REGISTRY_REMOTE_CACHE", url)
    switch = store_servers.server("sftp").folder / state
    machine("first")
    switch.touch()
    assert push() == 1
    error = capsys.readouterr().err
    assert "error: data: can't push to the remote cache sftp://" in error
    assert "secret-word" not in error
    switch.unlink()
    machine("first")
    assert push() == 0
    switch.touch()
    machine("second")
    https.requests.clear()
    assert len(get_dataset("data")) == 2000
    assert https.requests == []
    switch.unlink()


OPEN = "import registry; print(len(registry.get_dataset('data')))"


@pytest.mark.usefixtures("root")
def test_processes_that_start_cold_download_an_entry_once_and_ask_the_source_for_nothing(
    s3: S3, https: Https, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3.bucket("remote-cache")
    monkeypatch.setenv("REGISTRY_REMOTE_CACHE", "s3://remote-cache")
    machine("first")
    assert push() == 0
    machine("second")
    https.requests.clear()

    started = [
        subprocess.Popen([sys.executable, "-c", OPEN], stdout=subprocess.PIPE) for _ in range(2)
    ]
    outputs = [process.communicate(timeout=60)[0] for process in started]

    assert outputs == [b"2000\n"] * 2
    assert https.requests == []
