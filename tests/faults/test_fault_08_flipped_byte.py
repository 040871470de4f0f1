"""A byte that changes on the way over HTTP or S3 is noticed by the lock or by the digest that the server names, and the file is fetched once more; so is one of the Hub. Nothing wrong is cached."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest

from tests.conftest import S3
from tests.faults.faulty_hub import PARQUET, FaultyHub, questions
from tests.faults.network import LARGE, ROWS, Served, blobs, catalog_of, quarantined, sync
from tests.faults.process import registry, write_catalog
from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.hub import HubEmulator

FLIPPED = Fault(flip=100_000)
MD5 = base64.b64encode(hashlib.md5(ROWS, usedforsecurity=False).digest()).decode()
SHA256 = base64.b64encode(hashlib.sha256(ROWS).digest()).decode()
LARGE_SHA256 = base64.b64encode(hashlib.sha256(LARGE).digest()).decode()


def test_the_lock_rejects_it(tmp_path: Path, served: Served) -> None:
    other = str(tmp_path / "other")
    proxy = served({"/d.csv": ROWS})
    catalog = catalog_of(tmp_path, [f"{proxy.url}/d.csv"])
    assert registry(catalog, "lock", REGISTRY_CACHE_DIR=other).code == 0
    proxy.add(FLIPPED, times=2)
    ended = registry(catalog, "sync")
    assert ended.code == 1
    assert f"d.csv: datasets.lock pins sha256:{hashlib.sha256(ROWS).hexdigest()}" in ended.err
    assert "for d, the source, fetched twice, has sha256:" in ended.err
    assert not blobs(catalog)
    assert not list(catalog.glob("cache/v*/samples/*"))
    assert [len(one) for one in quarantined(catalog)] == [len(ROWS)] * 2
    proxy.add(FLIPPED, times=1)
    assert registry(catalog, "sync").code == 0
    assert blobs(catalog) == [ROWS]


def test_without_a_lock_the_digest_of_the_server_has_it_sent_again(
    tmp_path: Path, s3: S3, served: Served, bucket: FaultProxy
) -> None:
    """On S3 that is the ETag, over HTTP `Content-MD5` or `Repr-Digest`."""
    s3_url = s3.put("data", "bucket.csv", ROWS)
    http = served({"/md5.csv": ROWS, "/repr.csv": ROWS, "/large.csv": LARGE})
    named = {"/md5": {"Content-MD5": MD5}, "/repr": {"Repr-Digest": f"sha-256=:{SHA256}:"}}
    for path, headers in named.items():
        http.add(Fault(flip=7, headers=headers), path=path, times=1)
    # In the last of the four parts that are requested at first.
    large = Fault(flip=len(LARGE) - 7, headers={"Repr-Digest": f"sha-256=:{LARGE_SHA256}:"})
    http.add(large, path="/large", times=4)
    bucket.add(FLIPPED, path="csv", times=1)
    urls = [*(f"{http.url}/{name}.csv" for name in ("md5", "repr", "large")), s3_url]
    ended = sync(catalog_of(tmp_path, urls))
    assert ended.code == 0, ended.text
    assert [len(http.requests("GET", path)) for path in ("/md5", "/repr")] == [2, 2]
    assert len(http.requests("GET", "/large")) > 2
    assert len(bucket.requests("GET", "csv")) == 2
    assert sorted(blobs(tmp_path)) == sorted([ROWS, LARGE])


def test_each_time_it_is_an_error(tmp_path: Path, s3: S3, bucket: FaultProxy) -> None:
    url = s3.put("data", "d.csv", ROWS)
    bucket.add(FLIPPED, path="csv")
    settings = {"REGISTRY_DEADLINE": "2"}
    ended = sync(catalog_of(tmp_path, [url]), **settings)
    assert ended.code == 1
    assert f"error: d: {url}: the bytes differ from the md5 that the server names, " in ended.err
    assert blobs(tmp_path) == []
    assert [len(one) for one in quarantined(tmp_path)] == [len(ROWS)]


JSONL = b"".join(b'{"q": "question %d", "a": "b"}\n' % row for row in range(200))


def test_a_file_that_is_damaged_once_is_fetched_once_more(faulty: FaultyHub) -> None:
    faulty.proxy.add(Fault(flip=200), path=PARQUET, times=1)
    assert faulty.run("sync").code == 0
    assert faulty.inputs() == [f"question {row}" for row in range(200)]
    assert len(faulty.proxy.requests("GET", PARQUET)) == 2
    # What is there already is checked, not downloaded.
    assert faulty.run("sync", "--refresh").code == 0
    assert len(faulty.proxy.requests("GET", PARQUET)) == 2
    assert not list(faulty.client_folder.rglob("*.parquet"))


@pytest.mark.parametrize("name", ["test.parquet", "README.md"])  # one of LFS, one of git
def test_a_file_that_is_always_damaged_is_an_error_and_leaves_nothing(
    tmp_path: Path, name: str, faulty: FaultyHub
) -> None:
    faulty.proxy.add(Fault(flip=3), path=name.replace(".", r"\."))
    ended = faulty.run("lock")
    kind = "sha256" if name == "test.parquet" else "git"
    assert ended.code == 1
    assert f"{name}: the Hub names {kind}:" in ended.err
    assert f"the bytes it sends have {kind}:" in ended.err
    assert faulty.cached() == []
    assert faulty.quarantined()
    assert "datasets: {}" in (tmp_path / "catalog" / "datasets.lock").read_text("utf-8")
    faulty.proxy.clear()
    assert faulty.run("lock").code == 0
    assert faulty.inputs() == [f"question {row}" for row in range(200)]


@pytest.mark.parametrize("name", ["test.parquet", "test.jsonl"])
def test_a_path_on_the_hub_is_checked_too(
    hub: HubEmulator, tmp_path: Path, name: str, faulty: FaultyHub
) -> None:
    commit = hub.commit("org/data", {"test.parquet": questions(9), "test.jsonl": JSONL})
    path = f"hf://datasets/org/data@{commit}/{name}"
    fields = "{input: q, target: a}"
    kind = "parquet" if name == "test.parquet" else "json"
    source = f"{{type: {kind}, path: '{path}'}}"
    write_catalog(tmp_path / "catalog", f"  data: {{source: {source}, fields: {fields}}}\n")
    faulty.proxy.add(Fault(flip=30), path="/resolve/")
    ended = faulty.run("sync")
    assert ended.code == 1
    digest = "sha256" if name == "test.parquet" else "git"
    assert f"{name}: the bytes differ from the {digest} that the server names" in ended.err
    assert faulty.cached() == []
    faulty.proxy.clear()
    assert faulty.run("sync").code == 0


def test_a_damaged_file_that_the_client_of_the_hub_has_is_not_used(faulty: FaultyHub) -> None:
    assert faulty.run("sync").code == 0
    (card,) = faulty.client_folder.rglob("snapshots/*/README.md")
    card.resolve().write_bytes(b"# Dat\xff\n")
    assert faulty.run("sync", "--refresh").code == 0
    (card,) = faulty.client_folder.rglob("snapshots/*/README.md")
    assert card.read_bytes() == b"# Data\n"
