"""Servers on the loopback, and an environment of its own for every test."""

from __future__ import annotations

import gc
import itertools
import os
import re
import signal
import ssl
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache, partial
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, urlsplit

import hypothesis
import pytest
import trustme
import yaml
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.servers.hub import HubEmulator
from tests.servers.stores import StoreServers

REPOSITORY = Path(__file__).parents[1]

# How long an example takes depends on what else the machine does.
desk = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("desk", desk)
# CI tries the same examples each time, so that what lands does not hang on chance; at a
# developer's desk every run tries new ones.
hypothesis.settings.register_profile("ci", desk, derandomize=True)
hypothesis.settings.register_profile("nothing is stored", desk, database=None)
if os.environ.get("CI"):
    hypothesis.settings.load_profile("ci")
elif os.access(Path.cwd(), os.W_OK):
    hypothesis.settings.load_profile("desk")
else:
    # Else Hypothesis warns that it can't store examples there, which is an error.
    hypothesis.settings.load_profile("nothing is stored")

CatalogRoot = Callable[[Mapping[str, str]], Path]
"""Writes manifests, YAML text by name, and an index of them; returns their folder."""
OneDataset = Callable[..., Path]
"""Writes a catalog with one dataset, `data`, of a source and further keys; returns its folder."""

_AMBIENT = (
    *("AWS_", "HF_", "HUGGING", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "REGISTRY_"),
    *("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PAGER"),
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"),  # of a hook that runs the tests
)
_OF_TESTS = (
    *("REGISTRY_CLUSTER_", "REGISTRY_EVIDENCE_", "REGISTRY_FAULTS", "REGISTRY_INSPECT_"),
    *("REGISTRY_EXAMPLES", "REGISTRY_SHARED"),
)
_SETTINGS = "_hypothesis_internal_use_settings"
_NUMBERS = itertools.count()
HUB = pytest.StashKey[HubEmulator]()
_AUTHORITY = pytest.StashKey[trustme.CA]()


def pytest_configure(config: pytest.Config) -> None:
    """Point the libraries, which read some of the environment when imported, at the loopback."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell starts jobs in the background so, and the processes of tests would inherit it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    environment = pytest.MonkeyPatch()
    config.add_cleanup(environment.undo)
    for name in list(os.environ):
        if name.upper().startswith(_AMBIENT) and not name.startswith(_OF_TESTS):
            environment.delenv(name)
    folder = TemporaryDirectory(prefix="registry-tests-")
    config.add_cleanup(folder.cleanup)
    hub, authority = HubEmulator(), trustme.CA()
    hub.start()
    config.add_cleanup(hub.stop)
    config.stash[HUB], config.stash[_AUTHORITY] = hub, authority
    certificate = Path(folder.name, "authority.pem")
    authority.cert_pem.write_to_path(str(certificate))
    settings = {
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(Path(folder.name, "huggingface")),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_XET": "1",
        # Else `datasets` tells a third host what it loads.
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        "NO_PROXY": "127.0.0.1,localhost",
        # A dumb terminal gets no colors.
        "TERM": "xterm-256color",
        # aiohttp makes its default context when it is imported.
        "SSL_CERT_FILE": str(certificate),
        # Else credentials are looked for on this machine, and at a link-local address.
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    for name, value in settings.items():
        environment.setenv(name, value)


def pytest_sessionstart() -> None:
    """Let finalizers of garbage fail at the end of the stack, where tests of deep values go."""
    report = sys.unraisablehook

    def unraisable(unraised: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraised.exc_type, RecursionError):
            report(unraised)

    sys.unraisablehook = unraisable  # pytest puts back the one before its own at the end


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without looking for garbage, of which there is none: in four fifths of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


_LONG = ("acceptance", "docs", "faults", "inspect", "review_flow", "roads", "security")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put long tests first, and try a tenth of the generated examples with REGISTRY_EXAMPLES=few.

    Each worker of xdist has an equal part of the list, and the last tests that any of them runs
    should be short. What another version of Python or of a package changes, the first examples
    show, and all of them run once in CI.
    """
    folders = tuple(f"tests/{name}/" for name in _LONG)
    long = [one for one in items if one.nodeid.startswith(folders)]
    short = [one for one in items if not one.nodeid.startswith(folders)]
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    items[:] = [
        one
        for number in range(workers)
        for part in (long, short)
        for one in part[len(part) * number // workers : len(part) * (number + 1) // workers]
    ]
    if os.environ.get("REGISTRY_EXAMPLES") != "few":
        return
    for test in {one.obj for one in items if isinstance(one, pytest.Function)}:
        if hypothesis.is_hypothesis_test(test):
            # Hypothesis refuses `settings` on a test that has some.
            given = getattr(test, _SETTINGS)
            tenth = max(1, given.max_examples // 10)
            fewer = hypothesis.settings(given, max_examples=tenth)
            setattr(test, _SETTINGS, fewer)


def pytest_collection_finish() -> None:
    """Leave what is imported and collected out of each collection of garbage: a sixth of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def cache_dir(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """Give every test a cache of its own, and no settings but that."""
    if "tmp_path" in request.fixturenames:
        folder: Path = request.getfixturevalue("tmp_path") / "cache"
    else:
        # pytest looks through all folders of a session to number the next.
        own = tmp_path_factory.getbasetemp() / "caches" / str(next(_NUMBERS))
        own.mkdir(parents=True)
        folder = own / "cache"
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up after one attempt: tests/faults has the tests of those that follow."""
    monkeypatch.setenv("REGISTRY_DEADLINE", "0")


@pytest.fixture
def catalog_root(tmp_path: Path) -> CatalogRoot:
    """Write manifests and an index of them; what was written before is replaced."""
    root = tmp_path / "catalog"

    def write(manifests: Mapping[str, str]) -> Path:
        folder = root / "registry"
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.yaml"):
            old.unlink()
        for name, text in manifests.items():
            (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        # The data of many tests lies beside the catalog's folder.
        index = "version: 1\ninclude: [registry/*.yaml]\npaths: [..]\n"
        (root / "datasets.yaml").write_text(index, encoding="utf-8")
        return root

    return write


@pytest.fixture
def one_dataset(catalog_root: CatalogRoot) -> OneDataset:
    """Write a catalog with one dataset, `data`, of questions `q` and answers `a`."""

    def write(source: Mapping[str, Any], **keys: Any) -> Path:
        dataset = {"source": dict(source), "fields": {"input": "q", "target": "a"}, **keys}
        text = yaml.safe_dump({"datasets": {"data": dataset}}, sort_keys=False)
        return catalog_root({"data": text})

    return write


def permit(root: Path, **keys: Any) -> Path:
    """Add what the index of a catalog permits: `hosts`, `secrets`; return its folder."""
    index = root / "datasets.yaml"
    text = yaml.safe_dump({**yaml.safe_load(index.read_text("utf-8")), **keys}, sort_keys=False)
    index.write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def hub(pytestconfig: pytest.Config) -> Iterator[HubEmulator]:
    """Give the emulator that HF_ENDPOINT names, without failures and requests of others."""
    emulator = pytestconfig.stash[HUB]
    emulator.fail_with(None)
    emulator.requests.clear()
    yield emulator
    emulator.fail_with(None)


# moto checks no signature, but lets only those with one replace an object.
_MOTO_ANYONE = "AWS4-HMAC-SHA256 Credential=test/20240101/us-east-1/s3/aws4_request"


@dataclass(frozen=True)
class S3:
    """A server that speaks S3; unlike a real one it asks nobody for credentials."""

    url: str
    """Its endpoint."""

    def bucket(self, name: str) -> None:
        """Make a bucket."""
        self._ask("PUT", f"/{name}")

    def keep_versions(self, bucket: str) -> None:
        """Have a bucket keep what is overwritten."""
        status = b"<Status>Enabled</Status>"
        body = b"<VersioningConfiguration>" + status + b"</VersioningConfiguration>"
        self._ask("PUT", f"/{bucket}?versioning", body)

    def put(self, bucket: str, key: str, body: bytes) -> str:
        """Put an object into a bucket that is there; return its URL."""
        self._ask("PUT", f"/{bucket}/{quote(key)}", body)
        return f"s3://{bucket}/{key}"

    def reset(self) -> None:
        """Remove everything."""
        self._ask("POST", "/moto-api/reset")

    def _ask(self, method: str, path: str, body: bytes | None = None) -> None:
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=30)
        try:
            connection.request(method, path, body, {"Authorization": _MOTO_ANYONE})
            response = connection.getresponse()
            answer = response.read()
        finally:
            connection.close()
        assert response.status < 300, answer


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3]:
    """Start moto, and have clients share what each reads of botocore: half of their time."""
    from botocore.loaders import JSONFileLoader
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    read = cache(partial(JSONFileLoader.load_file, JSONFileLoader()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JSONFileLoader, "load_file", lambda _, path: read(path))
        yield S3(f"http://{host}:{port}")
    server.stop()


@pytest.fixture
def s3(s3_server: S3, monkeypatch: pytest.MonkeyPatch) -> S3:
    """Give an empty S3, and a user's environment that leads there."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test-key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test-secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server.url)
    s3_server.reset()
    return s3_server


@pytest.fixture(scope="session")
def store_servers() -> Iterator[StoreServers]:
    """Give the servers of other file systems, each of which starts when it is asked for."""
    with ExitStack() as running:
        yield StoreServers(running)


_PIECE = 1 << 16


@dataclass
class Page:
    """What an address answers with."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    """Beside those that go without saying."""
    cut: int = 0
    """Bytes at the end of the body that are never sent."""
    announced: bool = True
    """Whether the answer to a GET says how long it is; that to a HEAD does."""
    seconds: float = 0.0
    """How long a GET takes."""

    def response(self, method: str, sent: list[int]) -> Response:
        """Return the answer, with a length that is that of the whole body.

        The length of each piece that is sent is added to `sent`.
        """
        time.sleep(self.seconds if method == "GET" else 0)
        pieces = self._pieces(sent if method == "GET" else [])
        response = Response(pieces, self.status, self.headers, "application/octet-stream")
        if self.announced or method == "HEAD":
            response.content_length = len(self.body)
        else:
            response.automatically_set_content_length = False
        return response

    def _pieces(self, sent: list[int]) -> Iterator[bytes]:
        for start in range(0, len(self.body) - self.cut, _PIECE):
            piece = self.body[start : min(start + _PIECE, len(self.body) - self.cut)]
            sent.append(len(piece))
            yield piece


@dataclass
class Https:
    """A site with a certificate, whose pages can be changed while it runs."""

    url: str
    """Its root, without a slash at the end."""
    pages: dict[str, Page] = field(default_factory=dict)
    """By path."""
    requests: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of every request so far."""
    sent: list[int] = field(default_factory=list)
    """Length of each piece of the bodies that were sent."""
    at_once: int = 0
    """The most requests that were answered at the same time."""
    _under_way: list[str] = field(default_factory=list)

    def put(self, path: str, body: bytes, *, etag: str = "", **page: Any) -> str:
        """Serve bytes at a path, `page` are further fields of a `Page`; return the URL."""
        tag = {"ETag": f'"{etag}"'} if etag else {}
        self.pages[path] = Page(body, **{"headers": tag, **page})
        return f"{self.url}{path}"

    def fail(self, path: str, status: int) -> str:
        """Answer a path with a status; return the URL."""
        self.pages[path] = Page(b"", status)
        return f"{self.url}{path}"

    def redirect(self, path: str, location: str) -> str:
        """Send visitors of a path to another place; return the URL."""
        self.pages[path] = Page(b"", 302, headers={"Location": location})
        return f"{self.url}{path}"

    def reset(self) -> None:
        """Forget pages and requests."""
        self.pages.clear()
        self.requests.clear()
        self.sent.clear()
        self.at_once = 0

    def answer(self, request: Request) -> Response:
        """Answer as a server of static files does."""
        self.requests.append((request.method, request.path))
        self._under_way.append(request.path)
        self.at_once = max(self.at_once, len(self._under_way))
        try:
            page = self.pages.get(request.path, Page(b"", 404))
            return page.response(request.method, self.sent)
        finally:
            self._under_way.remove(request.path)


@pytest.fixture(scope="session")
def https_server(pytestconfig: pytest.Config) -> Iterator[Https]:
    """Start a server with a certificate of the authority that SSL_CERT_FILE names."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pytestconfig.stash[_AUTHORITY].issue_cert("localhost").configure_cert(context)
    with HTTPServer(host="localhost", port=0, ssl_context=context, threaded=True) as server:
        site = Https(server.url_for("").rstrip("/"))
        server.expect_request(re.compile(".*")).respond_with_handler(site.answer)
        yield site


@pytest.fixture
def https(https_server: Https) -> Https:
    """Give a site without pages."""
    https_server.reset()
    return https_server


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Find the folder of real data: REGISTRY_SHARED_DATA, else beside the repository."""
    given = os.environ.get("REGISTRY_SHARED_DATA")
    folder = Path(given) if given else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder} (REGISTRY_SHARED_DATA names its folder)")
    return folder
