"""What is measured of Inspect AI: equal loads of the same files, each in a child process."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

from inspect_ai.dataset import (
    Dataset,
    FieldSpec,
    RecordToSample,
    Sample,
    csv_dataset,
    hf_dataset,
    json_dataset,
)

from benchmarks.catalogs import SEED
from benchmarks.clock import seconds
from benchmarks.data import LETTERS

__all__ = ["MAPPINGS", "iterate", "load", "mapped", "read"]

_AREA = re.compile(r"^(\w+)")
_ASKED = re.compile(r"; (.*)\?$")


def from_columns(record: dict[str, Any]) -> Sample:
    """Return the sample of a CSV record, whose choices are columns."""
    return Sample(
        input=record["question"],
        choices=[record[letter] for letter in LETTERS],
        target=record["answer"],
        id=record["id"],
        metadata={"subject": record["subject"]},
    )


def from_commas(record: dict[str, Any]) -> Sample:
    """Return the sample of a CSV record, whose choices are one column."""
    return Sample(
        input=record["question"],
        choices=record["choices"].split(","),
        target=record["answer"],
        id=record["id"],
        metadata={"subject": record["subject"]},
    )


def by_record(record: dict[str, Any]) -> Sample:
    """Return the sample of the mapping with a digest and patterns."""
    area, asked = _AREA.search(record["subject"]), _ASKED.search(record["question"])
    text = f"{record['question']}\0{record['choices']}"
    return Sample(
        input=record["question"],
        choices=record["choices"],
        target=record["answer"],
        id=f"q_{hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:12]}",
        metadata={"area": area and area[1], "asked": asked and asked[1]},
    )


def mapped(record: dict[str, Any]) -> Sample:
    """Return the sample that `mappers.to_sample` gives."""
    return Sample(
        input=f"{record['question'].strip()} (about {record['subject']})",
        choices=[choice.capitalize() for choice in record["choices"]],
        target=record["answer"],
        id=record["id"],
        metadata={"subject": record["subject"]},
    )


MAPPINGS: dict[str, FieldSpec | RecordToSample] = {
    "fields": FieldSpec(
        input="question", choices="choices", target="answer", id="id", metadata=["subject"]
    ),
    "columns": from_columns,
    "commas": from_commas,
    "by-record": by_record,
    "mapper": mapped,
}


def _from_parquet(file: str, mapping: FieldSpec | RecordToSample) -> Dataset:
    return hf_dataset("parquet", split="train", data_files=file, sample_fields=mapping)


_LOADERS: dict[str, Callable[[str, FieldSpec | RecordToSample], Dataset]] = {
    "csv": csv_dataset,
    "jsonl": json_dataset,
    "parquet": _from_parquet,
}


def read(file: str, mapping: str) -> Dataset:
    """Load a file, by its suffix."""
    return _LOADERS[file.rpartition(".")[2]](file, MAPPINGS[mapping])


def load(*, file: str, tiny: str, mapping: str, rows: int) -> float:
    """Return the seconds of a load, to the first sample."""
    read(tiny, mapping)
    loaded: list[Dataset] = []
    taken = seconds(lambda: loaded.append(read(file, mapping)))
    if len(loaded[0]) != rows:
        raise ValueError(f"{file}: {len(loaded[0])} samples, expected {rows}")
    return taken


def iterate(*, file: str, tiny: str, rows: int) -> float:
    """Return the seconds a sample of loading shuffled, and going through all."""
    read(tiny, "fields")
    fields = MAPPINGS["fields"]

    def whole() -> int:
        return sum(1 for _ in json_dataset(file, fields, shuffle=True, seed=SEED))

    return seconds(whole) / rows
