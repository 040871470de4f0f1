"""What is measured of Inspect AI: equal loads of the same files, each in a child process."""

from __future__ import annotations

from collections.abc import Callable

from inspect_ai.dataset import Dataset, FieldSpec, hf_dataset, json_dataset

from benchmarks.catalogs import SEED
from benchmarks.clock import seconds

__all__ = ["iterate", "load", "read"]

_FIELDS = FieldSpec(
    input="question", choices="choices", target="answer", id="id", metadata=["subject"]
)


def _from_parquet(file: str) -> Dataset:
    return hf_dataset("parquet", split="train", data_files=file, sample_fields=_FIELDS)


_LOADERS: dict[str, Callable[[str], Dataset]] = {
    "jsonl": lambda file: json_dataset(file, _FIELDS),
    "parquet": _from_parquet,
}


def read(file: str) -> Dataset:
    """Load a file, by its suffix."""
    return _LOADERS[file.rpartition(".")[2]](file)


def load(*, file: str, tiny: str, rows: int) -> float:
    """Return the seconds of a load, to the first sample."""
    read(tiny)
    loaded: list[Dataset] = []
    taken = seconds(lambda: loaded.append(read(file)))
    if len(loaded[0]) != rows:
        raise ValueError(f"{file}: {len(loaded[0])} samples, expected {rows}")
    return taken


def iterate(*, file: str, tiny: str, rows: int) -> float:
    """Return the seconds a sample of loading shuffled, and going through all."""
    read(tiny)

    def whole() -> int:
        return sum(1 for _ in json_dataset(file, _FIELDS, shuffle=True, seed=SEED))

    return seconds(whole) / rows
