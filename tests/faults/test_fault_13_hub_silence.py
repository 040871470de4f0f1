"""A Hub that is silent, or sends a byte now and then, leads to an error in time."""

from __future__ import annotations

import re

import pytest

from tests.faults.faulty_hub import PARQUET, FaultyHub
from tests.servers.fault_proxy import Fault


@pytest.mark.parametrize(
    ("fault", "path"),
    [
        (Fault(silence=30), "/api/datasets/org/data$"),
        (Fault(drip=1.0), "/api/datasets/org/data$"),
        (Fault(silence=30), PARQUET),
        (Fault(drip=1.0), PARQUET),
    ],
    ids=["silent API", "dripping API", "silent file", "dripping file"],
)
def test_it_ends(fault: Fault, path: str, thorough: bool, faulty: FaultyHub) -> None:
    if not thorough and path == PARQUET and fault.silence:
        pytest.skip("three of four, with `make faults`")
    faulty.proxy.add(fault, path=path)
    ended = faulty.run("sync")
    assert ended.code == 1
    assert re.search(r"org/data.* \d attempts? in \d+ s \(try again later\)", ended.err)
    assert faulty.cached() == []
