"""A body that ends early, with or without a length, is continued; if it always does, that is an error of this package, and nothing is cached.

Measured: if it never ends, 6 attempts in 15 s over HTTP and 22 s from S3.
"""

from __future__ import annotations

from pathlib import Path

from tests.conftest import S3
from tests.faults.network import ROWS, blobs, catalog_of, ranges, sync, tried
from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.static import StaticFiles

CUT = Fault(cut_after=200_000)
CUT_WITHOUT_LENGTH = Fault(cut_after=200_000, without=("Content-Length",))


def test_the_rest_is_requested(tmp_path: Path, s3: S3) -> None:
    s3.bucket("data")
    s3_url = s3.put("data", "bucket.csv", ROWS)
    with (
        StaticFiles({"/cut.csv": ROWS, "/open.csv": ROWS}) as site,
        FaultProxy(site.url) as http,
        FaultProxy(s3.url) as bucket,
    ):
        http.add(CUT, path="/cut", times=2)
        http.add(CUT_WITHOUT_LENGTH, path="/open", times=1)
        bucket.add(CUT, path="csv", times=2)
        urls = [f"{http.url}/cut.csv", f"{http.url}/open.csv", s3_url]
        ended = sync(catalog_of(tmp_path, urls), AWS_ENDPOINT_URL=bucket.url)
        assert ended.code == 0, ended.text
        for asked in (ranges(http, "/cut"), ranges(bucket, "csv")):
            assert len(asked) == 3
            assert asked[0] == 0 < asked[1] <= asked[2]
        assert ranges(http, "/open") == [0, 200_000]
    assert blobs(tmp_path) == [ROWS]


def test_a_body_that_is_always_cut_is_an_error(tmp_path: Path, s3: S3) -> None:
    s3.bucket("data")
    s3_url = s3.put("data", "bucket.csv", ROWS)
    with (
        StaticFiles({"/cut.csv": ROWS, "/open.csv": ROWS}) as site,
        FaultProxy(site.url) as http,
        FaultProxy(s3.url) as bucket,
    ):
        http.add(Fault(cut_after=1000), path="/cut")
        # Without an ETag each attempt begins again, and sends less than HEAD has said.
        http.add(Fault(cut_after=1000, without=("Content-Length", "ETag")), path="/open")
        bucket.add(Fault(cut_after=1000), path="csv")
        urls = [f"{http.url}/cut.csv", f"{http.url}/open.csv", s3_url]
        settings = {"REGISTRY_DEADLINE": "2", "AWS_ENDPOINT_URL": bucket.url}
        ended = sync(catalog_of(tmp_path, urls), **settings)
    assert ended.code == 1
    for name in ("cut: http", "bucket: s3"):
        assert f"error: {name}" in ended.err
    assert ended.err.count("the connection was lost") >= 2
    assert f"open.csv: the transfer gave 1,000 of {len(ROWS):,} bytes, " in ended.err
    assert max(seconds for _, seconds in tried(ended).values()) <= 30
    assert blobs(tmp_path) == []
