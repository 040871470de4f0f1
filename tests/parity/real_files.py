"""Real files that several comparisons read; they are not in this repository."""

from __future__ import annotations

import csv
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from tests.evidence.conversions import BY_FILE

__all__ = ["REAL_FILES", "Records", "real_mmlu", "sha256_of"]

_SHARED = Path(os.environ.get("REGISTRY_SHARED", Path(__file__).parents[3] / "shared"))
REAL_FILES = Path(os.environ.get("REGISTRY_EVIDENCE_DATA", _SHARED / "data" / "real"))
Records = list[dict[str, Any]]


def sha256_of(files: list[Path]) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


# A copy with the Hub's values; tests/evidence/mmlu.yaml has a row for each file of the test.
MMLU = "github:HaeChan0305/MLILAB-FedLLM@d92730e8bacd7b3a61e551e015e40588e10234b4:data/mmlu/{}/"
# Folder of the files: the split, the digest of all its files in the order of their names, and
# the number of records.
MMLU_FILES = {
    "mmlu": ("test", "beb70992dc542f455829a80d5f9122ef438ce720c64b74ce28fa0714d6229c39", 14_042),
    "mmlu-dev": ("dev", "c42b6f36b1fe4b2f5b6b641dad3319944bffd6940d22392bd76b56923ba2f5cd", 285),
}


def real_mmlu(name: str) -> Records:
    """Return the records of all subjects with the columns of the Hub, in its order."""
    split, sha256, count = MMLU_FILES[name]
    files = sorted((REAL_FILES / name).glob(f"*_{split}.csv"))
    if not files:
        pytest.skip(f"{name}/*_{split}.csv are not on this machine: they are {MMLU.format(split)}")
    assert sha256_of(files) == sha256
    read = {
        file.name: [*csv.DictReader(file.read_text(encoding="utf-8").splitlines(keepends=True))]
        for file in files
    }
    records = [*BY_FILE["mmlu"](read)]
    assert len(records) == count
    return records
