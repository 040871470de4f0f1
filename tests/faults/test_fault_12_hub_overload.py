"""An overloaded Hub is asked again, a bounded number of times; the error names what was asked."""

from __future__ import annotations

from tests.faults.faulty_hub import PARQUET, FaultyHub
from tests.servers.fault_proxy import Fault


def test_a_few_failures_cost_only_time(faulty: FaultyHub) -> None:
    soon = {"Retry-After": "0"}
    for status in (500, 502, 504):
        faulty.proxy.add(Fault(status=status, headers=soon), path="/api/", times=1)
    faulty.proxy.add(Fault(status=503, headers=soon), path="/tree/", times=1)
    faulty.proxy.add(Fault(status=502, headers=soon), path=PARQUET, times=2)
    ended = faulty.run("sync", REGISTRY_DEADLINE="60")
    assert ended.code == 0, ended.text
    assert faulty.inputs()[199] == "question 199"


def test_a_lasting_failure_ends(faulty: FaultyHub) -> None:
    faulty.proxy.add(Fault(status=503, headers={"Retry-After": "0"}), path=PARQUET)
    ended = faulty.run("sync", REGISTRY_DEADLINE="60")
    assert ended.code == 1
    assert "test.parquet: the Hub answered 503, 6 attempts in " in ended.err
    assert len(faulty.proxy.requests("GET", PARQUET)) == 6
    assert faulty.cached() == []
