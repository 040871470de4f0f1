"""After a transient status the request is repeated, a bounded number of times; other statuses end at once, and every error names its source. `verify` asks a server that fails again; if it always fails it is unreachable, which is no drift.

Measured: if 502 never ends, 6 attempts in 11 s.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.faults.faulty_hub import PARQUET, FaultyHub, questions
from tests.faults.network import QUICK, ROWS, Served, blobs, catalog_of, sync, tried
from tests.faults.process import registry, write_catalog
from tests.servers.fault_proxy import Fault

PASSING = (408, 425, 429, 500, 502, 504)
FINAL = {
    400: "the server answered 400",
    401: "access refused: the server answered 401 (check the credentials)",
    403: "access refused: the server answered 403 (check the credentials)",
    404: "no such file",
    410: "the server answered 410",
    501: "the server answered 501",
}


def test_statuses_that_pass(tmp_path: Path, served: Served) -> None:
    files = {f"/s{status}.csv": ROWS for status in PASSING}
    proxy = served(files)
    for status in PASSING:
        proxy.add(Fault(status=status), path=f"/s{status}", times=1)
    proxy.add(Fault(status=503), method="HEAD", path="/s500", times=1)
    ended = sync(catalog_of(tmp_path, [f"{proxy.url}{path}" for path in files]))
    assert ended.code == 0, ended.text
    assert {len(proxy.requests("GET", path)) for path in files} == {2}
    assert blobs(tmp_path) == [ROWS]


def test_a_server_that_always_fails(tmp_path: Path, served: Served) -> None:
    proxy = served({"/d.csv": ROWS})
    proxy.add(Fault(status=502), method="HEAD")
    proxy.add(Fault(status=502))
    url = f"{proxy.url}/d.csv"
    ended = sync(catalog_of(tmp_path, [url]), REGISTRY_DEADLINE="2")
    requests = len(proxy.log)
    assert ended.code == 1
    assert f"error: d: {url}: the server answered 502, " in ended.err
    attempts, seconds = tried(ended)["d"]
    assert attempts == requests <= 6
    assert seconds <= 30


def test_statuses_that_last_are_not_requested_again(tmp_path: Path, served: Served) -> None:
    files = {f"/s{status}.csv": ROWS for status in FINAL}
    proxy = served(files)
    for status in FINAL:
        for method in ("HEAD", "GET"):
            proxy.add(Fault(status=status), path=f"/s{status}", method=method)
    ended = sync(catalog_of(tmp_path, [f"{proxy.url}{path}" for path in files]))
    counts = {len(proxy.requests(method, path)) for path in files for method in ("HEAD", "GET")}
    assert counts <= {0, 1}
    for status, message in FINAL.items():
        assert f"error: s{status}: {proxy.url}/s{status}.csv: {message}" in ended.err
    assert ended.code == 1


def test_a_few_failures_of_the_hub_cost_only_time(faulty: FaultyHub) -> None:
    soon = {"Retry-After": "0"}
    for status in (500, 502, 504):
        faulty.proxy.add(Fault(status=status, headers=soon), path="/api/", times=1)
    faulty.proxy.add(Fault(status=503, headers=soon), path="/tree/", times=1)
    faulty.proxy.add(Fault(status=502, headers=soon), path=PARQUET, times=2)
    ended = faulty.run("sync", REGISTRY_DEADLINE="60")
    assert ended.code == 0, ended.text
    assert faulty.inputs()[199] == "question 199"


def test_a_lasting_failure_of_the_hub_ends(faulty: FaultyHub) -> None:
    faulty.proxy.add(Fault(status=503, headers={"Retry-After": "0"}), path=PARQUET)
    ended = faulty.run("sync", REGISTRY_DEADLINE="60")
    assert ended.code == 1
    assert "test.parquet: the Hub answered 503, 6 attempts in " in ended.err
    assert len(faulty.proxy.requests("GET", PARQUET)) == 6
    assert faulty.cached() == []


BUSY = Fault(status=503)


@pytest.mark.parametrize(
    ("fault", "times", "code"),
    [(BUSY, 1, 0), (BUSY, math.inf, 1), (Fault(drip=20), math.inf, 1)],
    ids=["once", "always", "slow"],
)
def test_verify_asks_again(
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
