"""A single file on a Hub that is silent, slow, or asks to wait for hours is given up in time, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.network import QUICK, ROWS, catalog_of, sync, tried
from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.hub import HubEmulator

SILENT, DRIPPING = Fault(silence=30), Fault(drip=1.0)
BUSY = Fault(status=503, headers={"Retry-After": "9999"})


@pytest.mark.parametrize(
    ("fault", "path"),
    [
        (SILENT, "/api/"),
        (SILENT, "/resolve/"),
        (DRIPPING, "/api/"),
        (DRIPPING, "/resolve/"),
        (BUSY, "/api/"),
        (BUSY, "/resolve/"),
    ],
    ids=["silent API", "silent file", "dripping API", "dripping file", "busy API", "busy file"],
)
def test_it_ends(hub: HubEmulator, tmp_path: Path, fault: Fault, path: str, thorough: bool) -> None:
    if not thorough and (fault, path) not in ((SILENT, "/api/"), (DRIPPING, "/resolve/")):
        pytest.skip("two of six, with `make faults`")
    commit = hub.commit("org/single", {"rows.csv": ROWS})
    with FaultProxy(hub.url) as proxy:
        proxy.add(fault, path=path)
        catalog = catalog_of(tmp_path, [f"hf://datasets/org/single@{commit}/rows.csv"])
        ended = sync(catalog, HF_ENDPOINT=proxy.url, HF_HOME=str(tmp_path / "hf"), **QUICK)
        assert ended.code == 1
        assert list(tried(ended)) == ["rows"]
