"""A file of the Hub that breaks off is resumed at that place, even if its length is unknown."""

from __future__ import annotations

import pytest

from tests.faults.faulty_hub import PARQUET, FaultyHub
from tests.servers.fault_proxy import Fault

FAULTS = {
    "reset": Fault(reset_after=4000),
    "reset before the headers": Fault(reset_after=-1),
    "cut": Fault(cut_after=4000),
    "cut without a length": Fault(cut_after=4000, without=("Content-Length",)),
    "slow": Fault(drip=1.0),
    "stalled": Fault(stall_after=4000),
}
RESUMED = "bytes=4000-"


@pytest.mark.parametrize("name", FAULTS)
def test_an_interrupted_file_is_resumed(name: str, thorough: bool, faulty: FaultyHub) -> None:
    if not thorough and name not in ("reset", "cut without a length", "slow"):
        pytest.skip("one of six, with `make faults`")
    faulty.proxy.add(FAULTS[name], path=PARQUET, times=1)
    ended = faulty.run("sync", REGISTRY_DEADLINE="60")
    assert ended.code == 0, ended.text
    assert faulty.inputs() == [f"question {row}" for row in range(200)]
    first, second = faulty.proxy.requests("GET", PARQUET)
    assert "range" not in first.headers
    if name in ("cut", "cut without a length", "stalled"):
        assert second.headers["range"] == RESUMED


def test_a_range_that_is_ignored_starts_the_file_again(faulty: FaultyHub) -> None:
    faulty.proxy.add(Fault(cut_after=4000), path=PARQUET, times=1)
    faulty.proxy.add(Fault(ignore_range=True), path=PARQUET, times=1)
    assert faulty.run("sync", REGISTRY_DEADLINE="60").code == 0
    assert faulty.inputs() == [f"question {row}" for row in range(200)]
    assert len(faulty.proxy.requests("GET", PARQUET)) == 2
