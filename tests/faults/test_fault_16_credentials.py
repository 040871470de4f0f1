"""Refused credentials of S3 end at once, with the reason and what to do."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import S3
from tests.faults.network import ROWS, blobs, catalog_of, sync
from tests.servers.fault_proxy import Fault, FaultProxy

CODES = {
    "ExpiredToken": (400, "access refused: the token has expired (get new credentials)"),
    "InvalidAccessKeyId": (403, "access refused: no such access key (check the credentials)"),
    "AccessDenied": (403, "access refused: the server answered 403 (check the credentials)"),
}


def test_the_reason_is_known_although_head_has_no_body(
    tmp_path: Path, s3: S3, bucket: FaultProxy
) -> None:
    urls = {code: s3.put("data", f"{code.lower()}.csv", ROWS) for code in CODES}
    for code, (status, _) in CODES.items():
        bucket.add(Fault(status=status), method="HEAD", path=code.lower())
        body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>No.</Message></Error>"
        bucket.add(Fault(status=status, body=body.encode()), path=code.lower())
    ended = sync(catalog_of(tmp_path, urls.values()))
    assert ended.code == 1
    for code, (_, message) in CODES.items():
        assert f"error: {code.lower()}: {urls[code]}: {message}" in ended.err
        # botocore asks twice, as a bucket in another region answers HEAD with 400 too.
        requests = [one.method for one in bucket.requests(path=code.lower())]
        assert requests.count("GET") == 1
        assert len(requests) <= 3
    assert blobs(tmp_path) == []
