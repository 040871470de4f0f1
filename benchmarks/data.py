"""Make the data: multiple-choice rows of invented text, the same on every machine."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

__all__ = ["AGE", "LETTERS", "made", "make", "rows"]

LETTERS = "ABCD"

_SEED = 20240607
# A file that has just changed is hashed at each load; one of this age is settled.
AGE = 1_700_000_000
_PARQUET_ROWS = 100_000

_PEOPLE = (
    "a harbour pilot", "the night nurse", "a glassblower", "an apprentice baker",
    "the ferry's cook", "a beekeeper", "the map maker's niece", "a retired judge",
    "the café owner", "a tunnel inspector", "an organ tuner", "the lighthouse keeper",
)  # fmt: skip
_ACTS = (
    "replaces the worn bearing", "counts the empty crates", "waters the seedlings",
    "reads the tide table aloud", "weighs the copper twice", "repaints the north wall",
    "signs the “provisional” ledger", "sorts the letters by weight", "drains the upper basin",
    "calibrates the old barometer", "folds the sails, then the nets", "tests the spare pump",
)  # fmt: skip
_TIMES = (
    "before the first frost", "after a dry summer", "while the bridge is closed",
    "on the shortest day", "during a power cut", "when the river is high",
    "an hour past noon", "between two storms", "once the kiln has cooled",
)  # fmt: skip
_ASKED = (
    "what comes next",
    "what is likeliest",
    "which step is missing",
    "what barely changes",
    "why so late",
)  # fmt: skip
_QUALITIES = (
    "slower", "heavier", "brittle", "warm", "hollow", "uneven", "salty", "quiet", "opaque",
    "tilted", "damp", "magnetic", "pale", "frayed", "dense", "sweet",
)  # fmt: skip
_THINGS = (
    "rope", "gauge", "dough", "valve", "lens", "ledger", "soil", "bell", "hull", "filter",
    "spring", "wick", "canvas", "mortar", "piston", "yeast", "crate", "signal", "résumé",
)  # fmt: skip
_SUBJECTS = (
    "coastal engineering", "household chemistry", "medieval trade", "plant physiology",
    "applied statistics", "instrument making", "labour law", "food safety", "naval history",
)  # fmt: skip


def rows(count: int) -> Iterator[dict[str, Any]]:
    """Yield rows: question, four choices, the letter of the answer, id and subject."""
    # One generator for a file: its first rows are those of every shorter file.
    draw = random.Random(_SEED).random
    for number in range(count):
        yield {
            "question": _question(draw, number),
            "choices": _choices(draw),
            "answer": LETTERS[int(draw() * 4)],
            "id": f"q{number:07d}",
            "subject": _one(_SUBJECTS, draw),
        }


def _question(draw: Callable[[], float], number: int) -> str:
    subject = f"{_one(_PEOPLE, draw)} {_one(_ACTS, draw)} {_one(_TIMES, draw)}"
    return f"Case {number}: {subject}; {_one(_ASKED, draw)}?"


def _choices(draw: Callable[[], float]) -> list[str]:
    # Four neighbours of a random place differ from each other, as real choices do.
    place = int(draw() * len(_THINGS))
    return [
        f"{_one(_QUALITIES, draw)} {_THINGS[(place + step) % len(_THINGS)]}" for step in range(4)
    ]


def _one(words: Sequence[str], draw: Callable[[], float]) -> str:
    return words[int(draw() * len(words))]


def make(path: Path, count: int) -> Path:
    """Write `count` rows to a file, by its suffixes; one that is there already stays."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}")
        _WRITERS[path.name.partition(".")[2]](beside, rows(count))
        os.utime(beside, (AGE, AGE))
        beside.replace(path)
    return path


def made(*, path: str, count: int) -> int:
    """Do what `make` does, in a child process; return the bytes of the file."""
    return make(Path(path), count).stat().st_size


def _write_jsonl(path: Path, drawn: Iterator[dict[str, Any]]) -> None:
    encode = json.JSONEncoder(ensure_ascii=False).encode
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{encode(row)}\n" for row in drawn)


def _write_parquet(path: Path, drawn: Iterator[dict[str, Any]]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    first = pa.Table.from_pylist(list(islice(drawn, _PARQUET_ROWS)))
    with parquet.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        while batch := list(islice(drawn, _PARQUET_ROWS)):
            writer.write_table(pa.Table.from_pylist(batch, schema=first.schema))


_WRITERS: dict[str, Callable[[Path, Iterator[dict[str, Any]]], None]] = {
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
}
