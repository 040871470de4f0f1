"""Parts that are mapped elsewhere give what one process gives, of a mapper too, or run in one."""

from __future__ import annotations

import codecs
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.base.executor import Workers
from registry.manifest.models import to_spec
from registry.pipeline import map_source
from registry.pipeline import parts as division
from tests.pipeline.conftest import MakeMapped
from tests.pipeline.elsewhere import (
    RECORDS,
    Here,
    Records,
    built,
    columns_of,
    parquet_spec,
    spec_of,
    write,
    write_groups,
)

CASES: dict[str, list[Records]] = {
    "good": [RECORDS, RECORDS[:3], RECORDS],
    "empty files": [[], RECORDS, [], RECORDS, []],
    "nothing": [[], []],
    "other type": [RECORDS, [{"q": "q", "a": "x", "m": "text"}], RECORDS],
    "other type in the middle": [RECORDS, [*RECORDS, {"q": "q", "a": "x", "m": [1]}], RECORDS],
    "missing column in one": [RECORDS, [{"q": "q", "m": 1}], RECORDS],
    "error in the second": [RECORDS, [*RECORDS[:2], {"q": 5, "a": {}, "m": 1}], RECORDS],
    "column that comes late": [[{"q": "q", "a": None, "m": 1}], RECORDS],
    "unread column": [RECORDS, [{**RECORDS[0], "choices": "abc", "id": 7}]],
    "blank": [RECORDS, [{"q": "", "a": "", "m": 1}], [{"q": " ", "a": "", "m": 1}]],
}


@pytest.mark.parametrize("parts", CASES.values(), ids=CASES)
@pytest.mark.parametrize("most", [1, 3])
def test_result_is_that_of_one_process(tmp_path: Path, parts: list[Records], most: int) -> None:
    write(tmp_path / "data", parts)
    spec = spec_of(tmp_path / "data")
    here = Here(most)
    assert built(spec, tmp_path, here) == built(spec, tmp_path, None)
    assert here.answers


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.lists(
            st.fixed_dictionaries(
                {"q": st.text(max_size=3), "a": st.sampled_from(["x", "", "y"])},
                optional={"m": st.one_of(st.integers(0, 3), st.text(max_size=2), st.none())},
            ),
            max_size=4,
        ),
        min_size=2,
        max_size=4,
    )
)
def test_any_records_give_what_one_process_gives(
    tmp_path_factory: pytest.TempPathFactory, parts: list[Records]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    write(folder / "data", parts)
    spec = spec_of(folder / "data")
    assert built(spec, folder, Here()) == built(spec, folder, None)


def test_records_that_explode_and_are_filtered(tmp_path: Path) -> None:
    parts = [[{"qs": [{"t": f"{k}-{n}"} for n in range(k)], "a": "x"}] * 3 for k in range(4)]
    write(tmp_path / "data", parts)
    fields = {"input": "item.t", "target": "a"}
    explode = {"column": "qs", "item": "item"}
    where = {"value": "item.t", "not": {"equals": "2-1"}}
    spec = spec_of(tmp_path / "data", fields=fields, explode=explode, where=where)
    here = Here()
    assert built(spec, tmp_path, here) == built(spec, tmp_path, None)
    assert all(here.answers)


def test_lost_workers_leave_the_files_to_the_build(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "data", CASES["good"])
    spec = spec_of(tmp_path / "data")
    assert built(spec, tmp_path, Here(lost=True)) == built(spec, tmp_path, None)
    assert "killed by signal 9; this process maps its part" in caplog.text


def test_file_with_more_rows_than_memory_is_left_to_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "data", CASES["good"])
    spec, here = spec_of(tmp_path / "data"), Here()
    monkeypatch.setattr(map_source, "_MOST_BYTES", 1)
    assert built(spec, tmp_path, here) == built(spec, tmp_path, None)
    assert here.answers == [None] * 3


UNDECODABLE = pa.array([b"fine"] * 33 + [b"\xff"] + [b"fine"] * 6).view(pa.binary())
COLUMNS: dict[str, dict[str, Any]] = {
    "good": columns_of(40),
    "blank": columns_of(40, q=["q"] * 15 + [""] * 25),
    "missing values": columns_of(40, m=[None] * 12 + [3] * 28),
    "error in the third group": columns_of(
        40, a=["x"] * 25 + [""] * 15, q=["q"] * 25 + [None] * 15
    ),
    "not UTF-8 in the fourth group": columns_of(
        40, q=pa.Array.from_buffers(pa.string(), 40, UNDECODABLE.buffers())
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("rows", [7, 10])
def test_row_groups_give_what_one_process_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, rows: int
) -> None:
    monkeypatch.setattr(division, "_LEAST_BYTES", 1)
    write_groups(tmp_path / "data" / "a.parquet", COLUMNS[name], rows)
    write_groups(tmp_path / "data" / "b.parquet", columns_of(6), rows)
    spec = parquet_spec(tmp_path / "data")
    here = Here()
    assert built(spec, tmp_path, here) == built(spec, tmp_path, None)
    assert len(here.answers) >= 3


LINES: dict[str, bytes] = {
    "good": b"".join(b'{"q": "q%d", "a": "x", "m": %d}\n' % (n, n) for n in range(40)),
    "no end": b'{"q": "q", "a": "x", "m": 1}\n' * 9 + b'{"q": "q", "a": "x", "m": 2}',
    "CRLF": b'{"q": "q", "a": "x", "m": 1}\r\n' * 30,
    "CR": b'{"q": "q", "a": "x", "m": 1}\r' * 30,
    "blank lines": b'\n{"q": "q", "a": "x", "m": 1}\n\n\n   \n' * 20,
    "mark": codecs.BOM_UTF8 + b'{"q": "q", "a": "x", "m": 1}\n' * 20,
    # Where a part of 64 bytes would start.
    "mark in the middle": b'{"q": "q", "a": "x", "m": 1}\n' * 9
    + codecs.BOM_UTF8
    + b'{"q": "q", "a": "x", "m": 1}\n' * 20,
    "other type": b'{"q": "q", "a": "x", "m": 1}\n' * 12 + b'{"q": "q", "a": "x", "m": [1]}\n' * 9,
    "not JSON": b'{"q": "q", "a": "x", "m": 1}\n' * 12 + b"<html>\n" * 9,
    "two lines": b'{"q": "q", "a": "x",\n "m": 1}\n' * 9,
    "not UTF-8": b'{"q": "q", "a": "x", "m": 1}\n' * 12 + b'{"q": "\xff", "a": "x", "m": 1}\n',
    "repeated key": b'{"q": "q", "a": "x", "m": 1}\n' * 12 + b'{"q": "q", "a": "x", "a": "y"}\n',
    "an error": b'{"q": "q", "a": "x", "m": 1}\n' * 12 + b'{"q": 5, "a": {}, "m": 1}\n' * 2,
    "column that comes late": b'{"q": "q", "m": 1}\n' * 12 + b'{"q": "q", "a": "x", "m": 1}\n' * 9,
    "long line": b'{"q": "q", "a": "x", "m": 1}\n' * 12
    + b'{"q": "%s", "a": "x", "m": 1}\n' % (b"q" * 5_000)
    + b'{"q": "q", "a": "x", "m": 1}\n' * 9,
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("size", [64, 200])
@pytest.mark.parametrize("lost", [False, True])
def test_lines_give_what_one_process_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, size: int, *, lost: bool
) -> None:
    (tmp_path / "p.jsonl").write_bytes(LINES[name])
    spec, here = spec_of(tmp_path), Here(lost=lost)
    alone = built(spec, tmp_path, None)
    monkeypatch.setattr(division, "_LEAST_BYTES", size)
    assert built(spec, tmp_path, here) == alone
    assert lost or len(here.answers) >= {"CR": 0, "two lines": 1}.get(name, 2)


def test_error_of_a_part_names_the_line_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(division, "_LEAST_BYTES", 100)
    (tmp_path / "p.jsonl").write_bytes(LINES["good"] + b"\n\n{]\n")
    assert "p.jsonl:43: not JSON" in built(spec_of(tmp_path), tmp_path, Here())


PART_BYTES = 5_000

CODE = """
from registry import Sample

def f(record):
    number = record["n"]
    if record.get("fail"):
        raise ValueError(f"not {number}")
    samples = [
        Sample(input=record["q"], id=f"{number}-{part}", metadata=record["more"])
        for part in range(number % 3)
    ]
    return samples[0] if len(samples) == 1 else samples
"""


def lines(count: int = 400, **changes: dict[str, Any]) -> bytes:
    """Return records; keywords such as `n7` change single ones."""
    records = [
        {"n": n, "q": f"what — {n}?", "more": {"a": n, "b": [str(n)]}, **changes.get(f"n{n}", {})}
        for n in range(count)
    ]
    return b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in records)


def with_line(data: bytes, number: int, line: bytes) -> bytes:
    found = data.splitlines(keepends=True)
    return b"".join([*found[:number], line, *found[number:]])


GOOD = lines()
FILES: dict[str, tuple[bytes, ...]] = {
    "one": (GOOD,),
    "several": (GOOD, GOOD[:50], b"", lines(200)),
    "the first has one record": (lines(1), GOOD),
    "no line end": (GOOD[:-1],),
    "CRLF": (GOOD.replace(b"\n", b"\r\n"),),
    "byte-order mark": (b"\xef\xbb\xbf" + GOOD,),
    "mark in the middle": (with_line(GOOD, 300, b"\xef\xbb\xbf"),),
    "empty lines": (with_line(GOOD, 300, b"\n") + b"\n\n  \n", GOOD),
    "first error of two": (lines(n350={"fail": 1}, n120={"fail": 1}),),
    "error in the trial": (lines(n70={"fail": 1}),),
    "invalid JSON after an error": (with_line(lines(n330={"fail": 1}), 340, b"{]\n"),),
    "no sample of it": (lines(n200={"q": 3}),),
    "other metadata": (lines(n200={"more": {"a": "text", "b": None}}),),
    "other keys": (lines(n200={"more": {"c": 1}}),),
    "a long line": (lines(n200={"q": "x" * 3 * PART_BYTES}),),
    "nothing": (b"",),
}


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(division, "_LEAST_MAPPER_BYTES", PART_BYTES)


@pytest.fixture
def workers() -> Iterator[Workers]:
    with Workers(1) as workers:
        yield workers


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_a_mapper_elsewhere_gives_what_it_gives_here(
    mapped: MakeMapped, tmp_path: Path, caplog: pytest.LogCaptureFixture, files: tuple[bytes, ...]
) -> None:
    spec, here = mapped(*files, code=CODE), Here()
    assert built(spec, tmp_path, here) == built(spec, tmp_path, None)
    assert caplog.text == ""  # no process was found to give something else
    assert any(here.answers) or files[0] != GOOD


def test_row_groups_are_mapped_elsewhere(mapped: MakeMapped, tmp_path: Path) -> None:
    records = [json.loads(line) for line in GOOD.splitlines()]
    path = tmp_path / "data" / "a.parquet"
    path.parent.mkdir()
    pq.write_table(pa.Table.from_pylist(records), path, row_group_size=100)
    mapper, source = mapped(b"", code=CODE).mapper, {"type": "parquet", "path": [str(path)]}
    spec = to_spec({"name": "d", "folder": tmp_path, "source": source, "mapper": mapper})
    here = Here()
    assert built(spec, tmp_path, here) == built(spec, tmp_path, None)
    assert [one.records for one in here.answers] == [200]


NAN = CODE.replace('record["more"]', '{"x": float("nan")}')


def test_samples_with_nan_differ_from_none(mapped: MakeMapped, tmp_path: Path) -> None:
    here = Here()
    assert built(mapped(GOOD, code=NAN), tmp_path, here)[1] == 399
    assert all(here.answers)


PLACES = """
import os
from pathlib import Path
from registry import Sample

def f(record):
    Path({folder!r}, str(os.getpid())).touch()
    return Sample(input=record["q"])
"""


def test_other_processes_map_the_parts_after_the_first(
    mapped: MakeMapped, tmp_path: Path, workers: Workers
) -> None:
    places = tmp_path / "places"
    places.mkdir()
    spec = mapped(GOOD, code=PLACES.format(folder=str(places)))
    assert built(spec, tmp_path, workers)[1] == 400
    assert {path.name for path in places.iterdir()} == {
        str(os.getpid()),
        *map(str, workers.process_ids),
    }


COUNTS = """
from registry import Sample
seen = []
def f(record):
    seen.append(record)
    return Sample(input=record["q"], id=len(seen))
"""
FAILS = """
from registry import Sample
import os
def f(record):
    if os.environ.get("REGISTRY_JOBS") == "1":
        raise ValueError("not there")
    return Sample(input=record["q"], id=record["n"])
"""
OTHER_TYPE = """
from registry import Sample
import os
def f(record):
    found = os.environ.get("REGISTRY_JOBS") or None
    return Sample(input=record["q"], id=record["n"], metadata={"jobs": found and [found]})
"""
NOT_THERE = """
from registry import Sample
import os
assert os.environ.get("REGISTRY_JOBS") != "1"
def f(record):
    return Sample(input=record["q"], id=record["n"])
"""


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (COUNTS, "samples of records 41 to 80 differ in another process (is the mapper a function"),
        (FAILS, "differ in another process"),
        (OTHER_TYPE, "differ in another process"),
        (NOT_THERE, "can't import the mapper"),
    ],
    ids=["counts", "fails there", "other type there", "can't be imported there"],
)
def test_a_mapper_that_differs_elsewhere_runs_here(
    mapped: MakeMapped,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    workers: Workers,
    monkeypatch: pytest.MonkeyPatch,
    code: str,
    message: str,
) -> None:
    monkeypatch.delenv("REGISTRY_JOBS", raising=False)
    found = built(mapped(GOOD, code=code), tmp_path, workers)
    assert not isinstance(found, str), found
    rows = found[-1]
    numbers = [row["id_number"] for row in rows]
    assert numbers == list(range(numbers[0], numbers[0] + 400))
    (record,) = caplog.records
    assert message in record.message
    assert record.message.endswith("; this process maps all its records")


def test_other_code_elsewhere_is_not_used(
    mapped: MakeMapped,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    digests = iter(f"sha256:{number}" for number in range(100))
    spec, here = mapped(GOOD, code=CODE), Here()
    expected = built(spec, tmp_path, None)
    monkeypatch.setattr(map_source, "mapper_digest", lambda name: next(digests))
    assert built(spec, tmp_path, here) == expected
    assert "differs in another process; this process maps all its records" in caplog.text


DIES = """
import os, signal
from registry import Sample
def f(record):
    if record["n"] == 300 and os.environ.get("REGISTRY_JOBS") == "1":
        os.kill(os.getpid(), signal.SIGKILL)
    return Sample(input=record["q"])
"""


def test_what_a_killed_process_had_is_mapped_here(
    mapped: MakeMapped,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    workers: Workers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("REGISTRY_JOBS", raising=False)
    rows = built(mapped(GOOD, code=DIES), tmp_path, workers)[-1]
    assert [row["record"] for row in rows] == list(range(1, 401))
    (record,) = caplog.records
    assert "was killed by signal 9; this process maps its part" in record.message


SLOW = """
import os, time
from registry import Sample
def f(record):
    if os.environ.get("REGISTRY_JOBS") == "1":
        open(os.path.join(os.environ["SEEN"], str(os.getpid())), "w").close()
    time.sleep(0.001)
    return Sample(input=record["q"])
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_a_sync_that_ends_early(tmp_path: Path, how: signal.Signals) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    # Long records: the first block, which one process maps alone, has few of them.
    (tmp_path / "rows.jsonl").write_bytes(b'{"q": "%s"}\n' % (b"?" * 600) * 20_000)
    dataset = "datasets: {d: {source: {type: json, path: rows.jsonl}, mapper: 'slow:f'}}"
    (tmp_path / "d.yaml").write_text(dataset)
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [d.yaml]\ntrust: ['slow:f']\n")
    seen, cache = tmp_path / "seen", tmp_path / "cache"
    seen.mkdir()
    environ = {**os.environ, "PYTHONPATH": str(tmp_path), "SEEN": str(seen), "REGISTRY_JOBS": "2"}
    environ |= {"REGISTRY_ROOT": str(tmp_path), "REGISTRY_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "registry", "sync", "d", "--engine", "processes"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environ, text=True)
    wait_until(lambda: any(seen.iterdir()))
    process.send_signal(how)
    _, error = process.communicate(timeout=120)
    if how == signal.SIGINT:
        assert (process.returncode, "Traceback" in error) == (130, False), error
        assert list(cache.glob("v*/tmp/*")) == []
    wait_until(lambda: not any(is_running(int(path.name)) for path in seen.iterdir()))


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True
