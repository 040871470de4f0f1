"""A Hub that is silent, or sends a byte now and then of a header or a file, leads to an error in time, also for a single file, and if it asks to wait for hours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.faults.faulty_hub import PARQUET, FaultyHub
from tests.faults.network import QUICK, ROWS, catalog_of, sync, tried
from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.hub import HubEmulator

ENDLESS = Fault(begin=b"HTTP/1.1 200 OK\r\nX-Endless: ", repeat=b"x")
INTERIM = Fault(repeat=b"HTTP/1.1 100 Continue\r\n\r\n")


@pytest.mark.parametrize(
    ("fault", "path"),
    [
        (Fault(silence=30), "/api/datasets/org/data$"),
        (Fault(drip=1.0), "/api/datasets/org/data$"),
        (Fault(silence=30), PARQUET),
        (Fault(drip=1.0), PARQUET),
        (ENDLESS, "/api/datasets/org/data$"),
        (ENDLESS, PARQUET),
        (INTERIM, "/api/datasets/org/data$"),
    ],
    ids=[
        "silent API",
        "dripping API",
        "silent file",
        "dripping file",
        "endless header of the API",
        "endless header of a file",
        "interim answers of the API",
    ],
)
def test_it_ends(fault: Fault, path: str, thorough: bool, faulty: FaultyHub) -> None:
    if not thorough and path == PARQUET and fault.silence:
        pytest.skip("three of four, with `make faults`")
    faulty.proxy.add(fault, path=path)
    ended = faulty.run("sync")
    assert ended.code == 1
    assert re.search(r"org/data.* \d attempts? in \d+ s \(try again later\)", ended.err)
    assert faulty.cached() == []


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
def test_a_single_file_ends(
    hub: HubEmulator, tmp_path: Path, fault: Fault, path: str, thorough: bool
) -> None:
    if not thorough and (fault, path) not in ((SILENT, "/api/"), (DRIPPING, "/resolve/")):
        pytest.skip("two of six, with `make faults`")
    commit = hub.commit("org/single", {"rows.csv": ROWS})
    with FaultProxy(hub.url) as proxy:
        proxy.add(fault, path=path)
        catalog = catalog_of(tmp_path, [f"hf://datasets/org/single@{commit}/rows.csv"])
        ended = sync(catalog, HF_ENDPOINT=proxy.url, HF_HOME=str(tmp_path / "hf"), **QUICK)
        assert ended.code == 1
        assert list(tried(ended)) == ["rows"]
