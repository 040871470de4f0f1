"""Parquet files: typed columns, row groups, and the provenance."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from registry import get_dataset
from registry.plugins.export.writers import tables
from registry.plugins.export.writers.parquet import write
from tests.plugins.export.conftest import Opener


def test_table_is_that_of_the_dataset(opened: Opener) -> None:
    for name in ("mixed", "chat", "mcq"):
        with open("out.parquet", "wb") as file:
            write(opened(name), file)
        table = pq.read_table("out.parquet")
        assert table.equals(get_dataset(name).to_arrow())
        assert json.loads(table.schema.metadata[b"registry"])["dataset"] == name


def test_row_groups_are_those_of_the_samples(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_UNIT_ROWS", 1)
    monkeypatch.setattr(tables, "_GROUP_UNITS", 3)
    with open("out.parquet", "wb") as file:
        write(opened("mixed"), file)
    metadata = pq.read_metadata("out.parquet")
    groups = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    assert groups == [3, 1]
