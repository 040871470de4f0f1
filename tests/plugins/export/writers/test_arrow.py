"""Arrow files: memory-mapped, equal to `to_arrow`, with the provenance."""

from __future__ import annotations

import json

import pyarrow as pa

from registry import get_dataset
from registry.plugins.export.writers.arrow import write
from tests.plugins.export.conftest import Opener


def test_file_is_mapped_without_a_copy(opened: Opener) -> None:
    with open("out.arrow", "wb") as file:
        write(opened("mixed"), file)
    before = pa.total_allocated_bytes()
    with pa.memory_map("out.arrow") as mapped:
        table = pa.ipc.open_file(mapped).read_all()
        assert pa.total_allocated_bytes() == before
        assert table.to_pylist() == get_dataset("mixed").to_arrow().to_pylist()
        assert json.loads(table.schema.metadata[b"registry"])["license"] == "mit"


def test_dataset_without_samples_has_the_columns(opened: Opener) -> None:
    with open("out.arrow", "wb") as file:
        write(opened("mixed", limit=0), file)
    with pa.memory_map("out.arrow") as mapped:
        table = pa.ipc.open_file(mapped).read_all()
        assert table.schema.equals(get_dataset("mixed").to_arrow().schema)
        assert table.num_rows == 0
