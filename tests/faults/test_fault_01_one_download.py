"""Processes that open the same dataset at the same time download it once and get equal samples.

REGISTRY_FAULTS=all starts 16 at a time.
"""

from __future__ import annotations

import json
import shutil
from itertools import permutations
from pathlib import Path

import pytest

from tests.conftest import S3, CatalogRoot, Https, OneDataset, permit
from tests.faults.background import finish, load, registry, start
from tests.faults.network import Served
from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.hub import HubEmulator, parquet_repo

RECORDS = [{"q": f"question {n}", "a": f"answer {n}"} for n in range(500)]
LINES = b"".join(json.dumps(one).encode() + b"\n" for one in RECORDS)
SAMPLES = [[one["q"], None, one["a"]] for one in RECORDS]


@pytest.fixture
def processes(*, thorough: bool) -> int:
    """Return how many processes open the dataset."""
    return 16 if thorough else 3


def load_at_once(root: Path, processes: int) -> None:
    running = [load("data", root) for _ in range(processes)]
    results = [finish(one, timeout=120) for one in running]
    assert [code for code, _, _ in results] == [0] * processes
    messages = {line for _, _, err in results for line in err.splitlines()}
    assert all(one.startswith("data: waiting for ") for one in messages)
    assert [json.loads(out) == SAMPLES for _, out, _ in results] == [True] * processes


def test_https(https: Https, one_dataset: OneDataset, processes: int) -> None:
    # So slow that the first download lasts until the last process has started.
    https.put("/data.jsonl", LINES, etag="1", seconds=0.6)
    load_at_once(one_dataset({"type": "json", "path": f"{https.url}/data.jsonl"}), processes)
    assert https.requests.count(("GET", "/data.jsonl")) == 1


def test_s3(s3: S3, bucket: FaultProxy, one_dataset: OneDataset, processes: int) -> None:
    root = one_dataset({"type": "json", "path": s3.put("data", "data.jsonl", LINES)})
    load_at_once(root, processes)
    assert len(bucket.requests("GET", "^/data/data.jsonl$")) == 1


def test_hub(hub: HubEmulator, one_dataset: OneDataset, processes: int) -> None:
    hub.commit("org/name", parquet_repo({"default": {"test": RECORDS}}))
    load_at_once(one_dataset({"type": "hf", "path": "org/name", "split": "test"}), processes)
    read = [one.path for one in hub.requests if one.method == "GET" and "/resolve/" in one.path]
    assert [path.endswith(".parquet") for path in read].count(True) == 1


def test_two_syncs_with_jobs(catalog_root: CatalogRoot, served: Served) -> None:
    """Datasets that share files in different orders, built by two processes, block nobody."""
    pages = {f"/{name}.jsonl": LINES + b"\n" * ord(name) for name in "abc"}
    proxy = served(pages)
    for path in pages:  # so slow that each of the two waits for the other
        proxy.add(Fault(silence=0.5), path=path, method="GET", times=1)
    orders = list(permutations(f"{proxy.url}{path}" for path in pages))
    sources = [{"type": "json", "path": list(order)} for order in orders]
    datasets = {
        f"d{number}": {"source": source, "fields": {"input": "q", "target": "a"}}
        for number, source in enumerate(sources)
    }
    root = permit(catalog_root({"all": json.dumps({"datasets": datasets})}), hosts=["127.0.0.1"])
    running = [registry("sync", "--jobs", "4", "--json", root=root) for _ in range(2)]
    results = [finish(one) for one in running]
    assert [code for code, _, _ in results] == [0, 0], results
    assert sorted(one.path for one in proxy.log if one.method == "GET") == sorted(pages)
    for _, out, _ in results:
        assert {one["samples"] for one in json.loads(out)} == {3 * len(RECORDS)}


# Its threads give way after a microsecond, so that they meet as on a machine that is busy.
_RESTLESS = """
import sys
from registry.cli import main

sys.setswitchinterval(1e-6)
sys.exit(main())
"""


def test_many_datasets_of_the_hub(
    hub: HubEmulator, catalog_root: CatalogRoot, tmp_path: Path, *, thorough: bool
) -> None:
    """Cold runs of `sync` never fail, however their threads meet; thoroughly, beside others."""
    datasets = {}
    for number in range(16):
        path = f"many/d{number}"
        hub.commit(path, parquet_repo({"default": {"test": RECORDS[number : number + 5]}}))
        source = {"type": "hf", "path": path, "split": "test"}
        datasets[f"d{number}"] = {"source": source, "fields": {"input": "q", "target": "a"}}
    root = catalog_root({"all": json.dumps({"datasets": datasets})})
    busy = [start(["-c", "while True: pass"], root) for _ in range(4 if thorough else 0)]
    try:
        for number in range(200 if thorough else 1):
            folders = {
                "REGISTRY_CACHE_DIR": tmp_path / f"c{number}",
                "HF_HOME": tmp_path / f"h{number}",
            }
            environment = {name: str(folder) for name, folder in folders.items()}
            sync = start(["-c", _RESTLESS, "sync", "--jobs", "16"], root, **environment)
            code, _, err = finish(sync)
            assert (code, "16 built" in err) == (0, True), err
            for folder in folders.values():
                shutil.rmtree(folder)
    finally:
        for one in busy:
            one.kill()
            finish(one)
