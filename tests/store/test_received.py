"""Files that someone else wrote: consistent in themselves, and still no samples of ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from registry.cache.folders import checksum
from registry.errors import CacheError
from registry.store.checked_file import pack_numbers, unpack_numbers
from registry.store.columns import batch_of
from registry.store.quality import KINDS
from registry.store.received import check_received
from registry.store.writer import SampleWriter

FIELDS: dict[str, list[Any]] = {
    "input": ["q"] * 5,
    "target": ["a"] * 5,
    "choices": [["a", "b"], ["a"], None, [], ["a", "b"]],
    "metadata": [{"level": n, "topic": "x"} for n in range(5)],
}
RECORDS = range(1, 6)


def written(path: Path) -> dict[str, Any]:
    """Write samples as a build does; return what describes them."""
    batch = batch_of(FIELDS, RECORDS, {"level": "int", "topic": "str"})
    with SampleWriter(path, batch.schema, lambda _: None) as writer:
        writer.write(batch)
    return {
        "samples": 5,
        "columns": sorted(writer.columns),
        "batches": writer.batches,
        "quality": {},
    }


def forged(path: Path, table: pa.RecordBatch, **options: Any) -> dict[str, Any]:
    """Write any batch, with the metadata that a build would give it."""
    with pa.ipc.new_file(str(path), table.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
        out.write_batch(table)
    return described(path, table)


def described(path: Path, table: pa.RecordBatch) -> dict[str, Any]:
    data = path.read_bytes()
    numbers = [(0, 0, 0, checksum(b"")), (table.num_rows, 0, len(data), checksum(data))]
    batches = pack_numbers(np.array(numbers, np.uint64))
    columns = sorted(table.schema.names)
    return {"samples": table.num_rows, "columns": columns, "batches": batches, "quality": {}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "samples.arrow"


def refuse(path: Path, meta: dict[str, Any], message: str = "its samples are not") -> None:
    with pytest.raises(CacheError, match=message):
        check_received(path, meta)


def test_what_a_build_writes_is_accepted(path: Path) -> None:
    check_received(path, written(path))
    check_received(path, forged(path, pa.record_batch({"input": TEXT})))


EXAMPLE = {"record": 1, "file": "a.csv", "id": None, "value": ["x"]}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_counts_of_questionable_samples_are_accepted(path: Path, kind: str) -> None:
    quality = {
        kind: {"count": 5, "first": [EXAMPLE, {**EXAMPLE, "id": "x", "value": None}]},
        "unused_columns": {"count": 2, "first": [{"value": "a"}, {"value": "b"}]},
    }
    check_received(path, {**written(path), "quality": quality})


QUALITY = [
    {"other": {"count": 1, "first": []}},
    {"blank_inputs": {"count": 6, "first": []}},
    {"blank_inputs": {"count": -1, "first": []}},
    {"blank_inputs": {"count": 1, "first": [{}]}},
    {"blank_inputs": {"count": 1, "first": [EXAMPLE] * 2}},
    {"blank_inputs": {"count": 1, "first": [{**EXAMPLE, "value": {"a": 1}}]}},
    {"unused_columns": {"count": 1, "first": [{"value": None}]}},
    {"unused_columns": {"count": 7, "first": [{"value": "a"}]}},
]
"""Counts that no message can show."""


@pytest.mark.parametrize(
    "change",
    [
        *({"quality": quality} for quality in QUALITY),
        {"samples": 4},
        {"columns": ["input", "target"]},
        {"columns": []},
        {"batches": ""},
        {"batches": "AAAA"},
        {"batches": "no base64"},
        {"batches": pack_numbers(np.zeros((2, 4), np.uint64))},
        {"batches": pack_numbers(np.array([(0, 0, 0, 0), (5, 5, 2**63, 0)], np.uint64))},
    ],
)
def test_metadata_that_does_not_fit_is_refused(path: Path, change: dict[str, Any]) -> None:
    not_valid = "its samples are not a valid file" if "quality" in change else "its samples are not"
    refuse(path, {**written(path), **change}, not_valid)


@pytest.mark.parametrize("place", range(8))
def test_a_wrong_number_in_the_table_of_batches_is_refused(path: Path, place: int) -> None:
    meta = written(path)
    table = np.array(unpack_numbers(meta["batches"]), np.uint64)
    table[place] ^= np.uint64(1)
    refuse(path, {**meta, "batches": pack_numbers(table)})


@pytest.mark.parametrize("size", [0, 1, 7, 100, 500])
def test_a_cut_file_is_refused(path: Path, size: int) -> None:
    meta = written(path)
    path.write_bytes(path.read_bytes()[:size])
    refuse(path, meta)


TEXT = pa.array(["q"] * 3, pa.large_string())
# Arrow reads one key of these two, our reader both.
TWICE = pa.field("a", pa.large_string(), metadata=pa.KeyValueMetadata([("form", "json")] * 2))
BATCHES: dict[str, Callable[[], pa.RecordBatch]] = {
    "an unknown column": lambda: pa.record_batch({"other": TEXT}),
    "short offsets": lambda: pa.record_batch({"input": pa.array(["q"])}),
    "a dictionary": lambda: pa.record_batch({"input": TEXT.dictionary_encode()}),
    "small integers": lambda: pa.record_batch({"id_number": pa.array([1], pa.int32())}),
    "a column twice": lambda: pa.RecordBatch.from_arrays([TEXT, TEXT], ["input", "input"]),
    "metadata of two meanings": lambda: pa.record_batch(
        {"metadata_values": pa.StructArray.from_arrays([TEXT], fields=[TWICE])}
    ),
    "metadata as text": lambda: pa.record_batch({"metadata_values": TEXT}),
    "small floats in metadata": lambda: pa.record_batch(
        {"metadata_values": pa.array([{"a": 1.0}], pa.struct({"a": pa.float32()}))}
    ),
    "a key twice": lambda: pa.record_batch(
        {
            "metadata_values": pa.StructArray.from_arrays(
                [TEXT, TEXT], fields=[pa.field("a", pa.large_string())] * 2
            )
        }
    ),
}


@pytest.mark.parametrize("make", BATCHES.values(), ids=BATCHES)
def test_columns_that_samples_never_have_are_refused(
    path: Path, make: Callable[[], pa.RecordBatch]
) -> None:
    refuse(path, forged(path, make()), "its samples are not a valid file")


def test_compressed_batches_are_refused(path: Path) -> None:
    huge = pa.record_batch({"input": pa.array(["q" * 1_000_000] * 3, pa.large_string())})
    refuse(path, forged(path, huge, compression="zstd"), "a batch is compressed")


@pytest.mark.parametrize("offset", [1 << 40, -5])
def test_offsets_out_of_their_buffer_are_refused(path: Path, offset: int) -> None:
    table = pa.record_batch({"input": pa.array(["one", "two", "three"], pa.large_string())})
    forged(path, table)
    data = path.read_bytes()
    offsets = np.array([0, 3, 6, 11], "<i8").tobytes()
    assert data.count(offsets) == 1
    path.write_bytes(data.replace(offsets, np.array([0, offset, 6, 11], "<i8").tobytes()))
    refuse(path, described(path, table), "its samples are not a valid file")


def test_text_that_is_not_utf8_is_refused(path: Path) -> None:
    table = pa.record_batch({"input": pa.array(["onetwothree"], pa.large_string())})
    forged(path, table)
    path.write_bytes(path.read_bytes().replace(b"onetwothree", b"\xff\xfetwothree"))
    refuse(path, described(path, table), "UTF-?8")
