"""Odd times of files and servers change no pin and no sample, and hide no edit."""

from __future__ import annotations

import os
from pathlib import Path

from tests.conftest import Https
from tests.faults.process import registry, registry_each, write_catalog

ROWS = b"input,target\n1,2\n3,4\n"
TIMES = {"y1901": -(2**31), "y1970": 0, "y2100": 4_102_444_800, "y2446": 15_032_385_535}
PREVIEWS = [f"preview {name}" for name in TIMES]


def test_times_of_files(tmp_path: Path, cache_dir: Path) -> None:
    for name in TIMES:
        (tmp_path / f"{name}.csv").write_bytes(ROWS)
    source = "  {0}: {{source: {{type: csv, path: {0}.csv}}, shuffle: true, seed: 1}}\n"
    catalog = write_catalog(tmp_path, "".join(map(source.format, TIMES)))
    assert registry(catalog, "lock").code == 0
    pins, before = (tmp_path / "datasets.lock").read_bytes(), registry_each(catalog, *PREVIEWS)
    assert before.code == 0
    for name, time in TIMES.items():
        os.utime(tmp_path / f"{name}.csv", (time, time))
    # Those of the cache, too: of other machines, whose clocks are wrong.
    for number, path in enumerate([tmp_path / "datasets.yaml", *cache_dir.rglob("*")]):
        time = list(TIMES.values())[number % len(TIMES)]
        os.utime(path, (time, time))
    after = registry_each(catalog, "sync --locked", "lock --upgrade", "lock --check")
    assert after.code == 0, after.text
    assert (tmp_path / "datasets.lock").read_bytes() == pins
    assert registry_each(catalog, *PREVIEWS).out == before.out
    for name, time in TIMES.items():  # an edit of the same size, with the same time
        (tmp_path / f"{name}.csv").write_bytes(ROWS.replace(b"4", b"5"))
        os.utime(tmp_path / f"{name}.csv", (time, time))
    ended = registry(catalog, "sync", "--locked")
    assert ended.code == 1
    assert ended.err.count("datasets.lock pins") == len(TIMES)


def test_dates_of_servers(tmp_path: Path, https: Https) -> None:
    pins = set()
    for date in ("Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 2100 23:59:59 GMT", "no date"):
        url = https.put("/d.csv", ROWS, headers={"Last-Modified": date, "Date": date})
        catalog = write_catalog(tmp_path, f"  d: {{source: {{type: csv, path: '{url}'}}}}\n")
        assert registry(catalog, "lock", "--upgrade").code == 0
        pins.add((catalog / "datasets.lock").read_bytes())
    assert len(pins) == 1
