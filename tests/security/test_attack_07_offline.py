"""Attack 7: names of files in samples were looked up beside the URL of a cached file, offline too.

The sockets of the process are counted, not the calls of a client: the data is in the cache, and
each change of the manifest builds samples anew.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.git_repository import GitRepository
from tests.security.audit import Audited, run_audited
from tests.servers.recorder import Recorder

ROWS = [{"q": "one", "a": "1", "f": "img/1.png"}, {"q": "two", "a": "2", "f": "img/2.png"}]
NUMBERS = itertools.count()
INDEX = "version: 1\ninclude: [m.yaml]\n"
VERBS = [
    *("sync --offline", "preview d --offline", "diff --build --offline HEAD"),
    "diff --build --offline HEAD --format markdown",
]
BY_ENVIRONMENT = [
    *("sync", "preview d", "preview new", "diff --build HEAD", "lock", "lock --check", "verify"),
    *("show d", "list", "validate --strict", "add other --file URL"),
]


@pytest.fixture(scope="module")
def online() -> Iterator[Recorder]:
    with Recorder() as server:
        server.body = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
        server.pages["/img/2.png"] = None
        yield server


@pytest.fixture
def server(online: Recorder) -> Recorder:
    """Forget the requests of other tests."""
    online.received.clear()
    return online


def manifest(server: Recorder, extra: str = "") -> str:
    return f"""\
datasets:
  d:
    source: {{type: json, path: {server.url("/d.jsonl")}}}
    fields: {{input: q, target: a, files: {{const: {{x.png: img/1.png, y.png: img/2.png}}}}{extra}}}
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory, online: Recorder) -> Path:
    """Check out a catalog whose remote file is cached."""
    folder = tmp_path_factory.mktemp("offline") / "checkout"
    GitRepository.make(folder, {"datasets.yaml": INDEX, "m.yaml": manifest(online)})
    assert run(folder, "sync").code == 0
    assert {one.path for one in online.received} == {"/d.jsonl", "/img/1.png", "/img/2.png"}
    return folder


def run(checkout: Path, *arguments: str, offline: bool = False) -> Audited:
    environment = {"REGISTRY_CACHE_DIR": str(checkout.parent / "cache")}
    environment |= {"REGISTRY_OFFLINE": "1"} if offline else {}
    return run_audited(arguments, folder=checkout, environment=environment)


def change(checkout: Path, server: Recorder) -> None:
    """Change the mapping to a new one, and add a name of a file that was never looked up."""
    text = manifest(server, f", id: {{template: '{{q}} {next(NUMBERS)}'}}")
    new = text.replace("  d:", "  new:").replace("img/1.png", "img/unknown.png")
    (checkout / "m.yaml").write_text(text + new.removeprefix("datasets:\n"))


@pytest.mark.parametrize("command", [*VERBS, *BY_ENVIRONMENT])
def test_neither_the_option_nor_the_variable_opens_a_socket(
    checkout: Path, server: Recorder, command: str
) -> None:
    change(checkout, server)
    arguments = command.replace("URL", server.url("/d.jsonl")).split()
    found = run(checkout, *arguments, offline=command in BY_ENVIRONMENT)
    assert found.connections == []
    assert server.received == []


COLD = """\
version: 1
datasets:
  hub: {source: {type: hf, path: org/name, split: test}}
  commit: {source: {type: hf, path: org/name, split: test, revision: SHA}}
  s3: {source: {type: csv, path: s3://bucket/x.csv}}
  anonymous: {source: {type: csv, path: 's3://bucket/*.csv', fs_options: {anon: true}}}
  https: {source: {type: csv, path: 'https://example.org/x.csv'}}
  archive: {source: {type: csv, path: 'zip://*.csv::https://example.org/x.zip'}}
  repository: {source: {type: csv, path: 'hf://datasets/org/name/x.csv'}}
  builder: {source: {type: hf, path: csv, split: train, data_files: 'https://example.org/x.csv'}}
"""


@pytest.mark.parametrize(
    "command", ["sync", "lock", "verify", "diff --build HEAD", "list", "validate"]
)
def test_an_empty_cache_opens_no_socket_either(tmp_path: Path, command: str) -> None:
    index = COLD.replace("SHA", "c" * 40)
    GitRepository.make(tmp_path / "checkout", {"datasets.yaml": index})
    changed = index.replace("}}\n", "}, limit: 1}\n")
    (tmp_path / "checkout" / "datasets.yaml").write_text(changed)
    found = run(tmp_path / "checkout", *command.split(), offline=True)
    assert found.connections == []


def test_what_was_looked_up_is_known_offline(checkout: Path, server: Recorder) -> None:
    change(checkout, server)
    found = run(checkout, "preview", "d", "--offline", "--json")
    assert found.code == 0, found.text
    files = json.loads(found.out.splitlines()[0])["files"]
    assert files == {"x.png": server.url("/img/1.png"), "y.png": "img/2.png"}


def test_what_was_never_looked_up_is_an_error(checkout: Path, server: Recorder) -> None:
    change(checkout, server)
    found = run(checkout, "preview", "new", "--offline")
    assert found.code == 1
    url = server.url("/img/unknown.png")
    assert f"{url}: not in the cache, and requests are disabled (offline" in found.text
