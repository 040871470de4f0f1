"""The cache under damage, races and changed sources; tests/faults has kills, disks, users and all damage."""

from __future__ import annotations

import os
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import registry.base.folders
import registry.cache.cache
from registry import Dataset, RegistryError, get_dataset
from registry.progress import silent
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


def test_concurrent_builds_without_a_lock_do_not_interfere(
    root: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two concurrent builds: the second discards the first's entry right after it was published."""
    published, discarded, both = threading.Event(), threading.Event(), threading.Barrier(2)
    publish, discard = registry.base.folders.publish_folder, registry.cache.cache.Cache.discard
    results: list[object] = []

    def first_publishes(folder: Path, target: Path) -> None:
        publish(folder, target)
        if threading.current_thread().name == "first":
            published.set()
            discarded.wait(1)

    def second_discards(cache: registry.cache.cache.Cache, *entry: Any) -> None:
        both.wait(5)
        if threading.current_thread().name == "first":
            return discard(cache, *entry)
        published.wait(5)
        discard(cache, *entry)
        discarded.set()
        return None

    monkeypatch.setattr(registry.cache.cache, "lock", lambda path, **_: nullcontext(silent))
    monkeypatch.setattr(registry.cache.cache, "publish_folder", first_publishes)
    monkeypatch.setattr(registry.cache.cache.Cache, "discard", second_discards)

    def work() -> None:
        try:
            results.append(questions(get_dataset("data", root=root)))
        except (RegistryError, OSError, threading.BrokenBarrierError) as error:
            results.append(error)

    threads = [threading.Thread(target=work, name=name) for name in ("first", "second")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [QUESTIONS, QUESTIONS]
    assert len(entries(cache_dir)) == 1
