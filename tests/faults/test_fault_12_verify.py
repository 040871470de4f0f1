"""`verify` asks a server that fails again; if it always fails it is unreachable, which is no drift."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.faults.faulty_hub import questions
from tests.faults.network import QUICK, Served
from tests.faults.process import registry, write_catalog
from tests.servers.fault_proxy import Fault

BUSY = Fault(status=503)


@pytest.mark.parametrize(
    ("fault", "times", "code"),
    [(BUSY, 1, 0), (BUSY, math.inf, 1), (Fault(drip=20), math.inf, 1)],
    ids=["once", "always", "slow"],
)
def test_it_is_asked_again(
    tmp_path: Path, fault: Fault, times: float, code: int, served: Served
) -> None:
    proxy = served({"/a.parquet": questions(3000)})
    source = f"{{type: parquet, path: '{proxy.url}/a.parquet'}}"
    text = f"  a:\n    source: {source}\n    fields: {{input: q, target: a}}\n"
    catalog = write_catalog(tmp_path, text)
    proxy.add(fault, method="GET", times=times)
    ended = registry(catalog, "verify", **QUICK)
    assert ended.code == code
    assert ("[unreachable]" in ended.text) is bool(code)
    assert "drift" not in ended.text
