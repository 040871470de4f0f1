"""The floor of a build: pyarrow alone reads the file and writes an Arrow file."""

from __future__ import annotations

import os

import pyarrow as pa
from pyarrow import csv, json

from benchmarks.clock import seconds

__all__ = ["copy"]


def copy(*, file: str, tiny: str, cache: str) -> float:
    """Return the seconds of reading CSV or JSON Lines and writing them as synced Arrow."""
    os.makedirs(cache, exist_ok=True)
    target = os.path.join(cache, "floor.arrow")
    _copy(tiny, target)
    return seconds(lambda: _copy(file, target))


def _copy(file: str, target: str) -> None:
    table = csv.read_csv(file) if file.endswith(".csv") else json.read_json(file)
    with open(target, "wb") as opened:
        with pa.ipc.new_file(opened, table.schema) as writer:
            writer.write_table(table)
        opened.flush()
        os.fsync(opened.fileno())
