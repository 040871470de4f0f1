"""Files of the records of tests/parity/records.yaml, for the datasets of the catalog."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from registry.catalog.catalog import Catalog
from registry.manifest.models import DatasetSpec
from tests.evidence.rows import REPOSITORY
from tests.records import csv_bytes, parquet_bytes
from tests.roads.outcome import Case

__all__ = ["FORMS", "RECORDS", "Record", "case_of", "catalog", "written"]

Record = dict[str, Any]

RECORDS: dict[str, list[Record]] = yaml.load(
    (REPOSITORY / "tests" / "parity" / "records.yaml").read_bytes(), yaml.CSafeLoader
)


@cache
def catalog() -> Catalog:
    """Return the built-in catalog."""
    return Catalog.open(REPOSITORY / "datasets.yaml")


FORMS: dict[str, Callable[[list[Record]], bytes]] = {
    "d.jsonl": lambda records: "".join(f"{json.dumps(one)}\n" for one in records).encode(),
    "d.json": lambda records: json.dumps(records, ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    ),
    "d.parquet": partial(parquet_bytes, row_group_size=10),
    "d.csv": csv_bytes,
}
"""Name of a file → function that writes records in its form."""


def written(records: list[Record], file: str) -> bytes | None:
    """Return the bytes of a file, or None if its form can't hold the records."""
    try:
        return FORMS[file](records)
    except (TypeError, ValueError, OverflowError, pa.ArrowException):
        return None


def case_of(name: str, data: bytes, file: str, **overrides: Any) -> Case:
    """Return a case whose blocks are so small that the file has several."""

    def resolve(path: Path) -> DatasetSpec:
        return catalog().resolve(name, source=str(path), overrides=overrides)

    block = max(len(data) // 4, 256)
    return Case(data, file, resolve=resolve, block=block, rows=7)
