"""A build holds a part of its source in memory, however large that is."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.conftest import OneDataset
from tests.security.measured import run_measured

GROUPS, ROWS = 4, 50_000
MOST = 200 << 20


def write_parquet(path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(120))
    schema = pa.schema({"q": pa.string(), "a": pa.string()})
    options = {"compression": "none", "use_dictionary": False}
    with pq.ParquetWriter(path, schema, **options) as writer:
        for group in range(GROUPS):
            numbers = range(group * ROWS, (group + 1) * ROWS)
            columns = {"q": [f"{n} {text}" for n in numbers], "a": [str(n) for n in numbers]}
            writer.write_table(pa.table(columns, schema=schema), row_group_size=ROWS)


def test_parquet_larger_than_the_bound_is_built_within_it(
    one_dataset: OneDataset, tmp_path: Path
) -> None:
    write_parquet(file := tmp_path / "large.parquet")
    root = one_dataset({"type": "parquet", "path": str(file)})
    assert file.stat().st_size > 160 << 20
    done = run_measured(root, "sync", cache=tmp_path / "cache")
    assert done.code == 0, done.text
    if done.bytes == 0:
        pytest.skip("this system does not say how much memory a process has had")
    assert done.bytes < MOST, done.bytes >> 20
