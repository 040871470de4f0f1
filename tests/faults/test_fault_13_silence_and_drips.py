"""A server that sends nothing, or a byte now and then, of a header, of interim answers or of a body, is given up after the time-out and the attempts; no wait is endless.

Measured: with the usual time-outs 6 attempts of a minute, about 380 s in silence and 370 s at a byte per
second.
"""

from __future__ import annotations

import signal
import time
from pathlib import Path

from tests.conftest import S3
from tests.faults.background import finish, registry
from tests.faults.network import QUICK, ROWS, blobs, catalog_of, sync, tried
from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.static import StaticFiles

FAULTS = {
    "head": ("HEAD", Fault(silence=3600)),
    "headers": ("GET", Fault(silence=3600)),
    "stalled": ("GET", Fault(stall_after=1000)),
    "drip": ("GET", Fault(drip=5)),
}


def test_each_way_of_being_silent_ends(tmp_path: Path, s3: S3) -> None:
    s3.bucket("data")
    s3_url = s3.put("data", "bucket.csv", ROWS)
    files = {f"/{name}.csv": ROWS for name in FAULTS}
    with (
        StaticFiles(files) as site,
        FaultProxy(site.url) as http,
        FaultProxy(s3.url) as bucket,
    ):
        for name, (method, fault) in FAULTS.items():
            http.add(fault, method=method, path=f"/{name}")
        bucket.add(Fault(drip=5), path="csv")
        urls = [*(f"{http.url}{path}" for path in files), s3_url]
        settings = {**QUICK, "AWS_ENDPOINT_URL": bucket.url}
        ended = sync(catalog_of(tmp_path, urls), **settings)
        assert ended.code == 1
        for name in ("head", "headers", "stalled"):
            assert (
                f"error: {name}: {http.url}/{name}.csv: the server did not answer in time, "
                in ended.err
            )
        assert f"error: drip: {http.url}/drip.csv: only " in ended.err
        assert f"error: bucket: {s3_url}: only " in ended.err
    assert len(tried(ended)) == 5
    assert max(seconds for _, seconds in tried(ended).values()) <= 30
    assert blobs(tmp_path) == []


HEADER = Fault(begin=b"HTTP/1.1 200 OK\r\nX-Endless: ", repeat=b"x")
INTERIM = Fault(repeat=b"HTTP/1.1 100 Continue\r\n\r\n")
CHUNK = Fault(
    begin=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nq,a\n\r\n9;", repeat=b"x"
)
"""Each byte of them arrives in time, and no answer ever does."""


def test_an_answer_that_never_gets_to_its_content_ends(tmp_path: Path) -> None:
    endless = {
        "head": ("HEAD", HEADER),
        "get": ("GET", HEADER),
        "interim": ("HEAD", INTERIM),
        "chunk": ("GET", CHUNK),
    }
    files = {f"/{name}.csv": ROWS for name in endless}
    with StaticFiles(files) as site, FaultProxy(site.url) as http:
        for name, (method, fault) in endless.items():
            http.add(fault, method=method, path=f"/{name}")
        ended = sync(catalog_of(tmp_path, [f"{http.url}{path}" for path in files]), **QUICK)
        assert ended.code == 1
        for name in endless:
            late = f"error: {name}: {http.url}/{name}.csv: the server did not answer in time, "
            assert late in ended.err
    assert tried(ended).keys() == endless.keys()
    assert max(seconds for _, seconds in tried(ended).values()) <= 30


def test_ctrl_c_does_not_wait_for_a_silent_server(tmp_path: Path) -> None:
    with StaticFiles({"/a.csv": ROWS}) as site, FaultProxy(site.url) as proxy:
        proxy.add(Fault(silence=3600))
        process = registry("sync", root=catalog_of(tmp_path, [f"{proxy.url}/a.csv"]))
        while not proxy.log and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        code, _, err = finish(process)
        assert time.monotonic() - begun < 20  # the time-out is a minute
    assert (code, err) == (130, "\ninterrupted; what was finished before stays\n")
