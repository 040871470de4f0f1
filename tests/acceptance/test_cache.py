"""The cache under damage and changed sources; tests/faults has kills, disks, users and all damage."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import registry.cache.cache
import registry.cache.folders
from registry import Dataset, get_dataset
from tests.records import jsonl

if TYPE_CHECKING:
    from tests.conftest import Https, OneDataset

ROWS = [{"q": f"What is {number}?", "a": str(number)} for number in range(50)]


def questions(dataset: Dataset) -> list[str]:
    return [str(sample.input) for sample in dataset]


QUESTIONS = [row["q"] for row in ROWS]


@pytest.fixture
def root(one_dataset: OneDataset) -> Path:
    """Write a catalog with the dataset `data` of a local file, last changed some time ago."""
    folder = one_dataset({"type": "json", "path": "data.jsonl"})
    write_aged(folder / "data.jsonl", jsonl(ROWS))
    return folder


def write_aged(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    os.utime(path, (1_700_000_000, 1_700_000_000))


def entries(cache_dir: Path, kind: str = "samples") -> list[Path]:
    folder = cache_dir / "v3" / kind
    return sorted(folder.iterdir()) if folder.is_dir() else []


def the_entry(cache_dir: Path, kind: str = "samples") -> Path:
    (entry,) = entries(cache_dir, kind)
    return entry


@pytest.mark.parametrize("name", ["rows.npy", "choices.npy"])
def test_damaged_view_that_cannot_be_quarantined_is_recomputed_each_time(
    root: Path, cache_dir: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    view: dict[str, Any] = {"shuffle": True, "seed": 1, "shuffle_choices": 2}
    first = questions(get_dataset("data", root=root, **view))
    damaged = the_entry(cache_dir, "views") / name
    damaged.write_bytes(bytes(damaged.stat().st_size))
    monkeypatch.setattr(registry.cache.cache.Cache, "quarantine_file", lambda *_: False)
    for _ in range(2):
        assert questions(get_dataset("data", root=root, **view)) == first
    assert not any(damaged.read_bytes())


def test_refresh_reads_the_source_and_rebuilds(
    https: Https, one_dataset: OneDataset, cache_dir: Path
) -> None:
    root = one_dataset({"type": "json", "path": https.put("/data.jsonl", jsonl(ROWS), etag="1")})
    held = get_dataset("data", root=root)
    before = the_entry(cache_dir).stat().st_ino
    https.put("/data.jsonl", jsonl(ROWS[::-1]), etag="1")
    assert questions(get_dataset("data", root=root)) == QUESTIONS
    assert questions(get_dataset("data", root=root, refresh=True)) == QUESTIONS[::-1]
    assert before in {path.stat().st_ino for path in entries(cache_dir)}
    assert questions(held) == QUESTIONS
    get_dataset("data", root=root, refresh=True)
    assert questions(get_dataset("data", root=root, offline=True)) == QUESTIONS[::-1]
