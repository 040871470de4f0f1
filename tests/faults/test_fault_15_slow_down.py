"""When S3 asks to slow down, the request is repeated; if it always does, the error names the object.

Measured: if it never ends, 6 requests in 37 s.
"""

from __future__ import annotations

from pathlib import Path

from tests.conftest import S3
from tests.faults.network import ROWS, catalog_of, sync, tried
from tests.servers.fault_proxy import Fault, FaultProxy

BODY = b"<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
SLOW_DOWN = Fault(status=503, body=BODY, headers={"Content-Type": "application/xml"})


def test_for_ever(tmp_path: Path, s3: S3, bucket: FaultProxy) -> None:
    url = s3.put("data", "d.csv", ROWS)
    for method in ("HEAD", "GET"):
        bucket.add(SLOW_DOWN, method=method)
    settings = {"REGISTRY_DEADLINE": "4"}
    ended = sync(catalog_of(tmp_path, [url]), **settings)
    requests = len(bucket.log)
    assert ended.code == 1
    assert f"error: d: {url}: the server answered 503, " in ended.err
    attempts, seconds = tried(ended)["d"]
    # A request for each attempt: neither s3fs nor botocore repeats it.
    assert attempts == requests <= 6
    assert seconds <= 30
