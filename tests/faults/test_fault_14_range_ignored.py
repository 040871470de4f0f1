"""If a server ignores the range of a resumed download, or answers with another version, it begins again; a large file, whose parts it does not send, comes as one stream."""

from __future__ import annotations

from pathlib import Path

from tests.faults.network import LARGE, ROWS, Served, blobs, catalog_of, sync
from tests.servers.fault_proxy import Fault


def test_the_file_is_read_from_the_start(tmp_path: Path, served: Served) -> None:
    files = {"/ignored.csv": ROWS, "/weak.csv": ROWS + b"1,2\n", "/refused.csv": ROWS + b"3,4\n"}
    proxy = served(files)
    broken = {"reset_after": 200_000}
    proxy.add(Fault(**broken), path="/(ignored|refused)", times=2)  # type: ignore[arg-type]
    proxy.add(Fault(ignore_range=True), path="/ignored")
    proxy.add(Fault(status=416), path="/refused", times=1)
    proxy.add(Fault(reset_after=200_000, headers={"ETag": 'W/"1"'}), path="/weak", times=1)
    proxy.add(Fault(headers={"ETag": 'W/"1"'}), path="/weak")
    proxy.add(Fault(headers={"ETag": 'W/"1"'}), path="/weak", method="HEAD")
    ended = sync(catalog_of(tmp_path, [f"{proxy.url}{path}" for path in files]))
    assert ended.code == 0, ended.text
    assert "range" not in proxy.requests("GET", "/weak")[1].headers
    assert sorted(blobs(tmp_path)) == sorted(files.values())


def test_a_large_file_comes_as_one_stream(tmp_path: Path, served: Served) -> None:
    names = ("ignored", "other", "busy", "weak", "unsaid")
    files = {f"/{name}.csv": LARGE + f"{name},1\n".encode() for name in names}
    proxy = served(files)
    proxy.add(Fault(), path="/ignored", times=1)
    proxy.add(Fault(ignore_range=True), path="/ignored")
    # As of two machines behind one name.
    proxy.add(Fault(), path="/other", times=1)
    proxy.add(Fault(headers={"ETag": '"other"'}), path="/other")
    # One connection is allowed.
    proxy.add(Fault(), path="/busy", times=1)
    proxy.add(Fault(status=503), path="/busy")
    for method in ("GET", "HEAD"):
        proxy.add(Fault(headers={"ETag": 'W/"1"'}), path="/weak", method=method)
    proxy.add(Fault(without=("Accept-Ranges",)), path="/unsaid")
    ended = sync(catalog_of(tmp_path, [f"{proxy.url}{path}" for path in files]))
    assert ended.code == 0, ended.text
    asked = [proxy.requests("GET", path) for path in files]
    assert [sum("range" not in one.headers for one in each) for each in asked] == [1] * 5
    assert [len(each) > 1 for each in asked] == [True, True, True, False, False]
    assert sorted(blobs(tmp_path)) == sorted(files.values())
