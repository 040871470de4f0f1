"""Retry-After of a 429 or 503, also of the Hub, is honoured, as seconds or as a date; an absurd one ends with the deadline."""

from __future__ import annotations

import re
import time
from email.utils import formatdate
from pathlib import Path

from tests.faults.faulty_hub import PARQUET, FaultyHub
from tests.faults.network import ROWS, Served, blobs, catalog_of, sync
from tests.servers.fault_proxy import Fault


def test_a_request_is_made_again_when_the_server_says(tmp_path: Path, served: Served) -> None:
    proxy = served({"/seconds.csv": ROWS, "/date.csv": ROWS})
    soon = int(time.time()) + 8
    proxy.add(Fault(status=429, headers={"Retry-After": "2"}), path="/seconds", times=1)
    proxy.add(
        Fault(status=503, headers={"Retry-After": formatdate(soon, usegmt=True)}),
        path="/date",
        times=1,
    )
    urls = [f"{proxy.url}/seconds.csv", f"{proxy.url}/date.csv"]
    ended = sync(catalog_of(tmp_path, urls))
    assert ended.code == 0, ended.text
    first, second = [one.at for one in proxy.requests("GET", "/seconds")]
    assert second - first >= 2
    # The clock of the log is another one; a date has whole seconds.
    asked = proxy.requests("GET", "/date")[1].at - time.monotonic() + time.time()
    assert asked >= soon
    assert blobs(tmp_path) == [ROWS]
    assert "waiting for attempt 2 of 6, a pause of 2 s: " in ended.err


def test_an_absurd_pause_ends_with_the_deadline(tmp_path: Path, served: Served) -> None:
    proxy = served({"/d.csv": ROWS})
    proxy.add(Fault(status=429, headers={"Retry-After": "86400"}))
    url = f"{proxy.url}/d.csv"
    ended = sync(catalog_of(tmp_path, [url]), REGISTRY_DEADLINE="3")
    assert ended.code == 1
    # One, if the first took longer than the deadline.
    assert re.search(rf"error: d: {url}: the server answered 429, [12] attempts? in ", ended.err)
    assert "; the server asks to wait 86,400 s (try again later)" in ended.err


def test_seconds_and_dates_of_the_hub_are_waited_for(faulty: FaultyHub) -> None:
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


def test_a_day_of_the_hub_is_not_waited_for(faulty: FaultyHub) -> None:
    faulty.proxy.add(Fault(status=429, headers={"Retry-After": "86400"}), path=PARQUET)
    ended = faulty.run("sync")
    assert ended.code == 1
    assert re.search(r"test\.parquet: the Hub answered 429, \d attempts? in \d s;", ended.err)
    assert "the server asks to wait 86,400 s" in ended.err
