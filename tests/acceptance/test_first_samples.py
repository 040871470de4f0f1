"""A dataset that is only the first samples of its source reads little more than those."""

from __future__ import annotations

import gzip
import io
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import s3fs

from registry import get_dataset
from registry.load.call import OpenCatalog
from registry.settings import Settings
from registry.sources import files
from tests.conftest import S3, Https, OneDataset
from tests.servers.hub import HubEmulator
from tests.servers.static import StaticFiles

COMMIT = "3" * 40


def lines(count: int) -> bytes:
    """Return records with a number each; those that no test reads repeat a thousand others."""
    rows = ({"q": f"question {number} {'x' * 200}", "a": str(number)} for number in range(1000))
    written = [json.dumps(row).encode() + b"\n" for row in rows]
    return b"".join(written) * (count // 1000) + b"".join(written[: count % 1000])


def read_only_the_beginning(root: Path, limit: int) -> None:
    first = get_dataset("data", root=root, limit=limit)
    assert [sample.target for sample in first] == [str(number) for number in range(limit)]


@pytest.fixture
def s3_bytes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record how many bytes are requested from S3."""
    requested: list[int] = []
    fetch = s3fs.core.S3File._fetch_range

    def recorded(file: Any, start: int, end: int) -> Any:
        requested.append(end - start)
        return fetch(file, start, end)

    monkeypatch.setattr(s3fs.core.S3File, "_fetch_range", recorded)
    return requested


def test_half_a_megabyte_of_a_file_on_s3_is_read(
    one_dataset: OneDataset, s3: S3, s3_bytes: list[int], cache_dir: Path
) -> None:
    s3.bucket("bucket")
    path = s3.put("bucket", "big.jsonl", lines(40_000))
    root = one_dataset({"type": "json", "path": path})
    read_only_the_beginning(root, 100)
    assert 0 < sum(s3_bytes) <= 1 << 19
    s3_bytes.clear()
    read_only_the_beginning(root, 100)
    assert s3_bytes == []
    assert not list(cache_dir.glob("v3/blobs/*"))


def test_https_response_is_closed_early(one_dataset: OneDataset, https: Https) -> None:
    body = lines(300_000)
    path = https.put("/big.jsonl", body, etag="1")
    root = one_dataset({"type": "json", "path": path}, limit=50)
    opened = OpenCatalog.of(Settings.from_environment(root=root))
    assert opened.call_of("data").find() == ("", None)
    read_only_the_beginning(root, 50)
    _, entry = opened.call_of("data").find()
    assert entry is not None, "what `show` and the pages look for is found, too"
    # The connection buffers more than the reader consumes: 8 MB were seen on a busy machine.
    assert 0 < sum(https.sent) < len(body) / 3


def test_only_the_start_of_a_compressed_file_is_decompressed(
    one_dataset: OneDataset, s3: S3, s3_bytes: list[int]
) -> None:
    body = gzip.compress(os.urandom(1 << 20).hex().encode().join([lines(1000), b"\n"]))
    s3.bucket("bucket")
    path = s3.put("bucket", "big.jsonl.gz", body)
    read_only_the_beginning(one_dataset({"type": "json", "path": path}), 10)
    assert 0 < sum(s3_bytes) < len(body)


def test_only_the_first_row_group_of_a_parquet_repository_is_read(
    one_dataset: OneDataset, hub: HubEmulator
) -> None:
    noise = os.urandom(1 << 22).hex()
    rows = [noise[start : start + 400] for start in range(0, len(noise), 400)]
    table = pa.table({"q": rows, "a": list(range(len(rows)))})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, row_group_size=2_000)
    commit = hub.commit("org/big", {"data/test-00000-of-00001.parquet": buffer.getvalue()})
    hub.sent = 0
    root = one_dataset({"type": "hf", "path": "org/big", "split": "test", "revision": commit})
    read_only_the_beginning(root, 20)
    assert 0 < hub.sent < len(buffer.getvalue()) / 2
    hub.requests.clear()
    read_only_the_beginning(root, 20)
    assert hub.requests == []


@pytest.fixture
def large_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count every local file that is a second old as large."""
    monkeypatch.setattr(files, "_SMALL_LOCAL_BYTES", 1)


def local_lines(root: Path, count: int) -> Path:
    path = root / "big.jsonl"
    path.write_bytes(lines(count))
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


@pytest.mark.usefixtures("large_from")
def test_end_of_a_large_local_file_is_never_read(one_dataset: OneDataset) -> None:
    root = one_dataset({"type": "json", "path": "big.jsonl"})
    path = local_lines(root, 5_000)
    with path.open("ab") as file:
        file.write(b"this is no JSON\n")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    read_only_the_beginning(root, 10)
    with pytest.raises(ValueError, match=r"big\.jsonl:5001: not JSON"):
        get_dataset("data", root=root)


@pytest.mark.usefixtures("large_from")
def test_expected_count_is_not_checked_for_first_samples(one_dataset: OneDataset) -> None:
    root = one_dataset({"type": "json", "path": "big.jsonl"}, expect={"samples": 7})
    local_lines(root, 500)
    read_only_the_beginning(root, 5)
    with pytest.raises(ValueError, match=r"expect.samples is 7, the source gives 500"):
        get_dataset("data", root=root)


@pytest.mark.usefixtures("large_from")
def test_condition_is_counted_in_samples(one_dataset: OneDataset) -> None:
    where = {"value": "a", "regex": "7$"}
    root = one_dataset({"type": "json", "path": "big.jsonl"}, where=where, limit=3)
    local_lines(root, 500)
    assert [sample.target for sample in get_dataset("data", root=root)] == ["7", "17", "27"]


def parquet(groups: int, rows: int) -> bytes:
    """Write a file of three text columns whose values have dictionaries, as real ones have."""
    file = io.BytesIO()
    numbers = range(groups * rows)
    columns = {"q": [f"question {n} {'x' * 300}" for n in numbers], "a": [*map(str, numbers)]}
    table = pa.table({**columns, "other": ["long text " * 40] * len(numbers)})
    pq.write_table(table, file, row_group_size=rows, compression="none")
    return file.getvalue()


@pytest.mark.parametrize("sends_ranges", [True, False])
def test_parquet_of_a_web_server_is_read_in_parts_where_it_sends_them(
    one_dataset: OneDataset, cache_dir: Path, *, sends_ranges: bool
) -> None:
    body = parquet(groups=20, rows=2_000)
    with StaticFiles({"/d.parquet": body}, sends_ranges=sends_ranges) as server:
        root = one_dataset({"type": "parquet", "path": f"{server.url}/d.parquet"})
        read_only_the_beginning(root, 100)
        # The footer, and the starts of two columns of one group.
        assert len(server.requests) <= (4 if sends_ranges else 1)
        assert all(server.requests)


def test_parquet_of_s3_is_not_looked_at_beyond_the_first_group(
    one_dataset: OneDataset, s3: S3, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    call = s3fs.S3FileSystem.call_s3

    def recorded(files: Any, method: str, *arguments: Any, **options: Any) -> Any:
        asked.append(options.get("Range", ""))
        return call(files, method, *arguments, **options)

    monkeypatch.setattr(s3fs.S3FileSystem, "call_s3", recorded)
    s3.bucket("bucket")
    path = s3.put("bucket", "d.parquet", parquet(groups=20, rows=2_000))
    root = one_dataset({"type": "parquet", "path": path})
    asked.clear()
    read_only_the_beginning(root, 100)
    assert 1 <= len(asked) <= 6
    assert all(asked)
