"""Several processes give what one gives: rows, numbers of records, and the first error."""

from __future__ import annotations

import codecs
import dataclasses
import gzip
import io
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.decode.stream import SourceBytes, line_blocks
from registry.errors import DecodeError
from registry.manifest.models import to_spec
from registry.pipeline.parallel.shards import Shards
from registry.pipeline.pipeline import PipelineState, compile_pipeline
from registry.sources.pins import Pins, SourceContext
from tests.pipeline.parallel.conftest import BLOCK_BYTES, MakeBuilds

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


def twice(data: bytes, number: int, line: bytes) -> bytes:
    """Insert a line."""
    found = data.splitlines(keepends=True)
    return b"".join([*found[:number], line, *found[number:]])


def marked(data: bytes) -> bytes:
    """Insert a byte-order mark where a block starts."""
    first, second, *rest = line_blocks(io.BytesIO(data), size=BLOCK_BYTES, most=len(data))
    return b"".join([first, second, codecs.BOM_UTF8, *rest])


GOOD = lines()
FILES: dict[str, tuple[bytes, ...]] = {
    "plain": (GOOD,),
    "several files": (GOOD, GOOD[:50], b"", lines(200)),
    "no line end": (GOOD[:-1],),
    "CRLF": (GOOD.replace(b"\n", b"\r\n"),),
    "CR alone": (GOOD.replace(b"\n", b"\r"),),
    "byte-order mark": (b"\xef\xbb\xbf" + GOOD,),
    "mark in the middle": (twice(GOOD, 300, b"\xef\xbb\xbf"),),
    "mark where a block starts": (marked(GOOD),),
    "empty line": (twice(GOOD, 300, b"\n"), GOOD),
    "empty lines at the end": (GOOD + b"\n\n  \n",),
    "no-break space alone": (twice(GOOD, 350, "\u00a0\n".encode()),),
    "first error of two": (lines(n350={"fail": 1}, n120={"fail": 1}),),
    "error after invalid JSON": (twice(lines(n350={"fail": 1}), 340, b"{]\n"),),
    "invalid JSON after an error": (twice(lines(n330={"fail": 1}), 340, b"{]\n"),),
    "not UTF-8": (twice(GOOD, 300, b'{"n": 1, "q": "\xff"}\n'),),
    "repeated key": (twice(GOOD, 300, b'{"n": 1, "n": 2}\n'),),
    "no sample of it": (lines(n200={"q": 3}),),
    "other metadata": (lines(n200={"more": {"a": "text", "b": None}}),),
    "other keys": (lines(n200={"more": {"c": 1}}),),
    "half a surrogate pair": (lines(n200={"q": "x"}).replace(b'"x"', b'"\\ud800"'),),
    "a page": (twice(GOOD, 300, b"<html>\n"),),
    "a long line": (lines(n200={"q": "x" * 3 * BLOCK_BYTES}),),
    "nothing": (b"",),
}


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
@pytest.mark.usefixtures("workers_here")
def test_workers_give_what_one_process_gives(
    builds: MakeBuilds, caplog: pytest.LogCaptureFixture, files: tuple[bytes, ...]
) -> None:
    built = builds(*files, code=CODE)
    alone = built.result(1)
    assert built.result(2, left_to_workers=True) == alone
    assert caplog.text == ""  # no worker was lost, or found to give something else


@pytest.mark.parametrize("name", ["plain", "other metadata", "first error of two"])
def test_processes_give_what_one_gives(
    builds: MakeBuilds, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    test_workers_give_what_one_process_gives(builds, caplog, FILES[name])


def test_compressed_files_are_mapped_by_processes(builds: MakeBuilds) -> None:
    built = builds(gzip.compress(GOOD), code=CODE, suffix="jsonl.gz")
    assert built.result(2, left_to_workers=True) == built.result(1)
    cut = builds(gzip.compress(lines(4000))[:-2000], code=CODE, suffix="jsonl.gz")
    assert cut.result(2) == cut.result(1)
    assert "damaged or truncated" in cut.result(2)


def test_explode_is_mapped_by_processes(builds: MakeBuilds) -> None:
    records = [{"parts": [f"q{n}", f"r{n}"], "setup": "x" if n == 350 else ""} for n in range(400)]
    data = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    built = builds(data, explode={"column": "parts"}, fields={"input": "item"})
    rows = built.result(1)
    assert len(rows) == 800
    assert built.result(2, left_to_workers=True) == rows


PLACES = """
import os
import time
from pathlib import Path
from registry import Sample

def f(record):
    here = Path({folder!r}, str(os.getpid()))
    if record["n"] >= 1_000 and not here.exists():
        here.touch()
        # However fast one process is, another has to take a block too.
        limit = time.monotonic() + 60
        while len(list(here.parent.iterdir())) < 2 and time.monotonic() < limit:
            time.sleep(0.01)
    return Sample(input=record["q"])
"""


def test_the_work_is_shared(builds: MakeBuilds, tmp_path: Path) -> None:
    places = tmp_path / "places"
    places.mkdir()
    code = PLACES.format(folder=str(places))
    rows = builds(lines(4_000), code=code).result(3, left_to_workers=True)
    assert not isinstance(rows, str)
    assert len(list(places.iterdir())) > 1


COUNTS = """
from registry import Sample
seen = []
def f(record):
    seen.append(record)
    return Sample(input=record["q"], id=len(seen))
"""


def test_a_mapper_that_counts_is_run_by_one_process(
    builds: MakeBuilds, caplog: pytest.LogCaptureFixture
) -> None:
    rows = builds(lines(), code=COUNTS).result(2, left_to_workers=True)
    assert not isinstance(rows, str)
    assert [row["id_number"] for row in rows] == list(range(1, 401))
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "differ in another process" in record.message


DIES = """
import os, signal
from registry import Sample
def f(record):
    if record["n"] == 2000 and os.environ.get("REGISTRY_JOBS") == "1":
        os.kill(os.getpid(), signal.SIGKILL)
    return Sample(input=record["q"])
"""


def test_what_a_killed_worker_had_is_mapped_here(
    builds: MakeBuilds, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REGISTRY_JOBS", raising=False)
    rows = builds(lines(3000), code=DIES).result(2, left_to_workers=True)
    assert not isinstance(rows, str)
    assert [row["record"] for row in rows] == list(range(1, 3001))
    (record,) = caplog.records
    assert "was killed by signal 9; the process of the build maps its records" in record.message


ONE_EACH = """
from registry import Sample

def f(record):
    return Sample(input=record["q"])
"""


def test_a_mapper_that_can_not_be_imported_elsewhere_is_run_here(
    builds: MakeBuilds, caplog: pytest.LogCaptureFixture
) -> None:
    code = f"import os\nassert os.getpid() == {os.getpid()}\n{ONE_EACH}"
    rows = builds(lines(), code=code).result(2, left_to_workers=True)
    assert not isinstance(rows, str)
    assert len(rows) == 400
    assert "can't import the mapper" in caplog.text


def shards_of(path: Path, jobs: int) -> tuple[Shards, SourceBytes, Any]:
    keys = {"name": "d", "source": {"type": "json", "path": [str(path)]}, "folder": path.parent}
    spec = to_spec({**keys, "explode": {"column": "more.b"}, "fields": {"input": "q"}})
    context = SourceContext(boundary=UNBOUNDED, cache=Cache(path.parent))
    pipeline = compile_pipeline(spec, Pins(()), context)
    return (
        Shards(spec, pipeline, jobs=jobs),
        SourceBytes.of_file(str(path), path),
        spec.source,
    )


def test_no_process_is_started_for_little_work(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(GOOD)
    shards, file, source = shards_of(tmp_path / "d.jsonl", 4)
    with shards:
        assert shards.takes(file, source)
        assert sum(len(batch) for batch in shards.map(file, source, PipelineState())) == 400
        assert shards.process_ids == []


def test_one_job_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "d.jsonl").write_bytes(GOOD)
    keywords = {"least_seconds": 1e-9, "block_bytes": BLOCK_BYTES}
    monkeypatch.setattr(Shards.__init__, "__kwdefaults__", keywords)
    shards, file, source = shards_of(tmp_path / "d.jsonl", 1)
    with shards:
        assert sum(len(batch) for batch in shards.map(file, source, PipelineState())) == 400
        assert shards.process_ids == []


def test_limits_hold_across_blocks(builds: MakeBuilds) -> None:
    boundary = replace(UNBOUNDED, limits=replace(UNBOUNDED.limits, records=250))
    built = dataclasses.replace(builds(GOOD, code=CODE), boundary=boundary)
    error = built.result(1)
    assert "more than 250 records" in error
    assert built.result(2, left_to_workers=True) == error


SCRIPT = """
from registry import get_dataset
print("started", flush=True)
get_dataset("d")
"""
SLOW = """
import os, time
from registry import Sample
def f(record):
    if os.environ.get("REGISTRY_JOBS") == "1":
        open(os.path.join(os.environ["SEEN"], str(os.getpid())), "w").close()
    time.sleep(0.001)
    total = sum(range(20_000))
    return Sample(input=record["q"])
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_a_build_that_ends_early(tmp_path: Path, how: signal.Signals) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "rows.jsonl").write_bytes(lines(60_000))
    dataset = "datasets: {d: {source: {type: json, path: rows.jsonl}, mapper: 'slow:f'}}"
    (tmp_path / "d.yaml").write_text(dataset)
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [d.yaml]\ntrust: ['slow:f']\n")
    seen = tmp_path / "seen"
    seen.mkdir()
    environ = {**os.environ, "PYTHONPATH": str(tmp_path), "SEEN": str(seen), "REGISTRY_JOBS": "2"}
    environ |= {"REGISTRY_ROOT": str(tmp_path), "REGISTRY_CACHE_DIR": str(tmp_path / "cache")}
    process = subprocess.Popen(
        [sys.executable, "-"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environ,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(SCRIPT)
    process.stdin.close()
    process.stdin = None
    wait_until(lambda: any(seen.iterdir()))
    process.send_signal(how)
    output, error = process.communicate(timeout=120)
    assert output == "started\n"
    assert process.returncode == -how
    if how == signal.SIGINT:
        assert error.rstrip().endswith("KeyboardInterrupt")
        assert list((tmp_path / "cache").glob("v*/tmp/*")) == []
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


def test_an_interrupted_reader_of_a_truncated_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl.gz").write_bytes(gzip.compress(GOOD)[:-40])
    shards, file, source = shards_of(tmp_path / "d.jsonl.gz", 2)
    with shards, pytest.raises(DecodeError, match="truncated"):
        list(shards.map(file, source, PipelineState()))
