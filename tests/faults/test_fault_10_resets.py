"""A download over HTTP or S3 whose connection is reset continues where it stopped. A file of the Hub that breaks off is resumed at that place, even if its length is unknown.

Measured: if it never ends, 6 attempts in 16 s.
"""

from __future__ import annotations

from pathlib import Path

from tests.conftest import S3
from tests.faults.faulty_hub import PARQUET, FaultyHub, questions
from tests.faults.network import ROWS, Served, blobs, catalog_of, ranges, sync, tried
from tests.servers.fault_proxy import Fault, FaultProxy


def test_the_rest_is_requested_under_the_same_etag(
    tmp_path: Path, s3: S3, served: Served, bucket: FaultProxy
) -> None:
    url = s3.put("data", "s3.csv", ROWS)
    http = served({"/http.csv": ROWS + b"1,2\n"})
    for proxy in (http, bucket):
        proxy.add(Fault(reset_after=200_000), path="csv", times=2)
    catalog = catalog_of(tmp_path, [f"{http.url}/http.csv", url])
    ended = sync(catalog)
    assert ended.code == 0, ended.text
    for proxy, condition in ((http, "if-range"), (bucket, "if-match")):
        first, second, third = ranges(proxy, "csv")
        assert first == 0 < second <= third
        assert [condition in one.headers for one in proxy.requests("GET", "csv")][1:] == [True] * 2
    assert sorted(blobs(catalog), key=len) == [ROWS, ROWS + b"1,2\n"]


def test_resets_for_ever_are_an_error_that_says_how_often_it_was_tried(
    tmp_path: Path, served: Served
) -> None:
    proxy = served({"/d.csv": ROWS})
    proxy.add(Fault(reset_after=0))
    url = f"{proxy.url}/d.csv"
    ended = sync(catalog_of(tmp_path, [url]), REGISTRY_DEADLINE="2")
    requests = len(proxy.requests("GET"))
    assert ended.code == 1
    assert f"error: d: {url}: the connection was lost, " in ended.err
    assert "(try again later)" in ended.err
    attempts, seconds = tried(ended)["d"]
    assert attempts == requests <= 6
    assert seconds <= 30
    assert blobs(tmp_path) == []


FAULTS = {
    "reset": Fault(reset_after=4000),
    "reset-before-the-headers": Fault(reset_after=-1),
    "cut": Fault(cut_after=4000),
    "cut-without-a-length": Fault(cut_after=4000, without=("Content-Length",)),
    "slow": Fault(drip=1.0),
    "stalled": Fault(stall_after=4000),
}
RESUMED = "bytes=4000-"


def test_an_interrupted_file_is_resumed(faulty: FaultyHub) -> None:
    for name, fault in FAULTS.items():
        faulty.hub.commit(f"org/{name}", {"test.parquet": questions(200, name)})
        faulty.proxy.add(fault, path=f"/org/{name}{PARQUET}", times=1)
    faulty.write_each({name: {"path": f"org/{name}"} for name in FAULTS})
    ended = faulty.run("sync", REGISTRY_DEADLINE="60")
    assert ended.code == 0, ended.text
    assert sorted(faulty.inputs()) == sorted(
        f"{name} {row}" for name in FAULTS for row in range(200)
    )
    for name in FAULTS:
        first, second = faulty.proxy.requests("GET", f"/org/{name}{PARQUET}")
        assert "range" not in first.headers
        if name in ("cut", "cut-without-a-length", "stalled"):
            assert second.headers["range"] == RESUMED


def test_a_range_that_is_ignored_starts_the_file_again(faulty: FaultyHub) -> None:
    faulty.proxy.add(Fault(cut_after=4000), path=PARQUET, times=1)
    faulty.proxy.add(Fault(ignore_range=True), path=PARQUET, times=1)
    assert faulty.run("sync", REGISTRY_DEADLINE="60").code == 0
    assert faulty.inputs() == [f"question {row}" for row in range(200)]
    assert len(faulty.proxy.requests("GET", PARQUET)) == 2
