"""The Hub's Retry-After, seconds or a date, is honoured up to a bound that no server can move."""

from __future__ import annotations

import re
import time
from email.utils import formatdate

from tests.faults.faulty_hub import PARQUET, FaultyHub
from tests.servers.fault_proxy import Fault


def test_seconds_and_dates_are_waited_for(faulty: FaultyHub) -> None:
    # A pause is announced after a second.
    seconds = Fault(status=429, headers={"Retry-After": "3"})
    date = Fault(status=503, headers={"Retry-After": formatdate(time.time() + 1, usegmt=True)})
    faulty.proxy.add(seconds, path="/revision/|/datasets/org/data$", times=1)
    faulty.proxy.add(seconds, path="/tree/", times=1)
    faulty.proxy.add(date, path=PARQUET, times=1)
    ended = faulty.run("sync", REGISTRY_DEADLINE="60")
    assert ended.code == 0, ended.text
    assert re.search(r"data: waiting for attempt 2 of 6, a pause of 3 s: org/data: ", ended.err)
    first, second, *_ = faulty.proxy.requests("GET", "/api/datasets/org/data")
    assert second.at - first.at >= 3
    assert len(faulty.proxy.requests("GET", PARQUET)) == 2
    assert faulty.inputs()[199] == "question 199"


def test_a_day_is_not_waited_for(faulty: FaultyHub) -> None:
    faulty.proxy.add(Fault(status=429, headers={"Retry-After": "86400"}), path=PARQUET)
    ended = faulty.run("sync")
    assert ended.code == 1
    assert re.search(r"test\.parquet: the Hub answered 429, \d attempts? in \d s;", ended.err)
    assert "the server asks to wait 86,400 s" in ended.err
