"""Processes that open the same dataset at the same time download it once and get equal samples.

REGISTRY_FAULTS=all starts 16 at a time.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import S3, Https, OneDataset
from tests.faults.background import finish, load
from tests.servers.fault_proxy import FaultProxy
from tests.servers.hub import HubEmulator, parquet_repo

RECORDS = [{"q": f"question {n}", "a": f"answer {n}"} for n in range(500)]
LINES = b"".join(json.dumps(one).encode() + b"\n" for one in RECORDS)
SAMPLES = [[one["q"], None, one["a"]] for one in RECORDS]


@pytest.fixture
def processes(*, thorough: bool) -> int:
    """Return how many processes open the dataset."""
    return 16 if thorough else 4


def load_at_once(root: Path, processes: int) -> None:
    running = [load("data", root) for _ in range(processes)]
    results = [finish(one, timeout=120) for one in running]
    assert [code for code, _, _ in results] == [0] * processes
    messages = {line for _, _, err in results for line in err.splitlines()}
    assert all(one.startswith("data: waiting for process ") for one in messages)
    assert [json.loads(out) == SAMPLES for _, out, _ in results] == [True] * processes


def test_https(https: Https, one_dataset: OneDataset, processes: int) -> None:
    # So slow that the first download lasts until the last process has started.
    https.put("/data.jsonl", LINES, etag="1", seconds=0.6)
    load_at_once(one_dataset({"type": "json", "path": f"{https.url}/data.jsonl"}), processes)
    assert https.requests.count(("GET", "/data.jsonl")) == 1


def test_s3(
    s3: S3, one_dataset: OneDataset, processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3.bucket("bucket")
    root = one_dataset({"type": "json", "path": s3.put("bucket", "data.jsonl", LINES)})
    with FaultProxy(s3.url) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
        load_at_once(root, processes)
        read = [one for one in proxy.log if (one.method, one.path) == ("GET", "/bucket/data.jsonl")]
    assert len(read) == 1


def test_hub(hub: HubEmulator, one_dataset: OneDataset, processes: int) -> None:
    hub.commit("org/name", parquet_repo({"default": {"test": RECORDS}}))
    load_at_once(one_dataset({"type": "hf", "path": "org/name", "split": "test"}), processes)
    read = [one.path for one in hub.requests if one.method == "GET" and "/resolve/" in one.path]
    assert [path.endswith(".parquet") for path in read].count(True) == 1
