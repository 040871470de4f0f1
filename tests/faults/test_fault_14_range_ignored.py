"""If a server ignores the range of a resumed download, or answers with another version, it begins again."""

from __future__ import annotations

from pathlib import Path

from tests.faults.network import ROWS, blobs, catalog_of, sync
from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.static import StaticFiles


def test_the_file_is_read_from_the_start(tmp_path: Path) -> None:
    files = {"/ignored.csv": ROWS, "/weak.csv": ROWS + b"1,2\n", "/refused.csv": ROWS + b"3,4\n"}
    with StaticFiles(files) as site, FaultProxy(site.url) as proxy:
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
