"""A file that changes while it is read is read again as it is now, or is an error; two versions are never joined."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import S3
from tests.faults.network import LARGE, ROWS, Served, blobs, catalog_of, sync
from tests.faults.process import registry
from tests.servers.fault_proxy import Fault, FaultProxy

OTHER = ROWS.replace(b"answer", b"ANSWER")
one_stream_or_parts = pytest.mark.parametrize("body", [ROWS, LARGE], ids=["stream", "parts"])


def test_another_etag_on_get_than_on_head(tmp_path: Path, served: Served) -> None:
    proxy = served({"/once.csv": ROWS, "/ever.csv": OTHER})
    changed = Fault(headers={"ETag": '"other"'})
    proxy.add(changed, path="/once", times=1)
    proxy.add(changed, path="/ever")
    urls = [f"{proxy.url}/once.csv", f"{proxy.url}/ever.csv"]
    ended = sync(catalog_of(tmp_path, urls))
    assert ended.code == 1
    assert f"error: ever: {urls[1]}: changed while it was read (try again)" in ended.err
    assert "error: once" not in ended.err
    assert len(proxy.requests("GET", "/ever")) == 2
    assert blobs(tmp_path) == [ROWS]


@one_stream_or_parts
def test_a_file_that_is_replaced_when_half_of_it_has_come(
    tmp_path: Path, body: bytes, served: Served
) -> None:
    """The first half is of one version, and the server has only the other when it is resumed."""
    other = body.replace(b"answer", b"ANSWER")
    files = {"/d.csv": body}
    proxy = served(files)
    proxy.add(Fault(reset_after=200_000), times=1)
    # Asked for the rest, the server has only the other version, of the same size.
    proxy.add(Fault(before=lambda: files.update({"/d.csv": other})), times=1)
    ended = registry(catalog_of(tmp_path, [f"{proxy.url}/d.csv"]), "sync")
    assert ended.code == 0, ended.text
    assert [one.headers.get("range") for one in proxy.requests("GET")][1] is not None
    assert blobs(tmp_path) == [other]


@one_stream_or_parts
def test_the_version_that_is_locked_is_read_though_it_was_overwritten(
    tmp_path: Path, s3: S3, body: bytes, bucket: FaultProxy
) -> None:
    s3.keep_versions("data")
    url = s3.put("data", "d.csv", body)
    catalog = catalog_of(tmp_path, [url])
    assert registry(catalog, "lock", REGISTRY_CACHE_DIR=str(tmp_path / "other")).code == 0
    assert "version_id" in (catalog / "datasets.lock").read_text()
    s3.put("data", "d.csv", OTHER)
    bucket.clear()
    ended = registry(catalog, "sync")
    assert ended.code == 0, ended.text
    asked = bucket.requests("GET", "csv")
    assert (len(asked) > 1) == (body is LARGE)
    assert all("versionId=" in one.path for one in asked)
    assert all("if-match" in one.headers for one in asked if "range" in one.headers)
    assert blobs(catalog) == [body]
