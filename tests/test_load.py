"""Loading a resolved dataset: builds, cached samples, and comparison with the lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.errors import LockError
from registry.load import (
    find_cached,
    inspect_source,
    load,
    open_cached,
    preview_records,
    remember_pinned,
)
from registry.lockfile.models import PIN_FORMAT, LockedSource, Pin
from registry.lockfile.pinned import PinnedSources
from registry.manifest.models import DatasetSpec, to_spec
from registry.sources.pins import SourceContext

Spec = Callable[..., DatasetSpec]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    """Return the spec of a file of lines; the keywords are keys of the dataset."""

    def make(lines: str = '{"input": "a"}\n{"input": "b"}\n', **keys: Any) -> DatasetSpec:
        path = tmp_path / "data.jsonl"
        if not path.exists() or path.read_text(encoding="utf-8") != lines:
            path.write_text(lines, encoding="utf-8")
            os.utime(path, (1_000_000_000, 1_000_000_000))
        source = {"type": "json", "path": [str(path)]}
        return to_spec({"name": "d", "folder": tmp_path, "source": source, **keys})

    return make


def test_samples_are_built_once(spec: Spec, cache: Cache) -> None:
    built, opened = load(spec(), cache, boundary=UNBOUNDED), load(spec(), cache, boundary=UNBOUNDED)
    assert (built.cached, opened.cached) == (False, True)
    assert built.entry.folder == opened.entry.folder
    assert [sample.input for sample in opened.dataset] == ["a", "b"]
    assert not load(spec(), cache, boundary=UNBOUNDED, refresh=True).cached


def test_views_of_one_dataset_share_their_samples(spec: Spec, cache: Cache) -> None:
    whole = load(spec(), cache, boundary=UNBOUNDED)
    shuffled = load(spec(view={"shuffle": True, "seed": 1, "limit": 1}), cache, boundary=UNBOUNDED)
    assert shuffled.cached
    assert shuffled.entry.folder == whole.entry.folder
    assert len(shuffled.dataset) == 1


def test_samples_that_differ_from_the_lock_are_an_error(spec: Spec, cache: Cache) -> None:
    result = load(spec(), cache, boundary=UNBOUNDED)
    (file,) = result.pins.sources[0].files
    locked = LockedSource(location="data.jsonl", sha256=file.sha256, size=file.size)
    pin = Pin(spec="sha256:" + "0" * 64, sources=(locked,), samples=2, columns=(), ordered="sha256:" + "1" * 64, unordered="sha256:" + "2" * 64, format=PIN_FORMAT)  # fmt: skip
    lock = PinnedSources(dataset="d", folder=spec().folder, sources=(locked,), samples=pin)
    with pytest.raises(LockError, match=r"d: its sources match datasets\.lock, its samples differ"):  # fmt: skip
        load(spec(), cache, boundary=UNBOUNDED, lock=lock)
    remember_pinned(result, pin, cache)
    assert load(spec(), cache, boundary=UNBOUNDED, lock=lock).cached


def test_cached_samples_are_found_without_building(spec: Spec, cache: Cache) -> None:
    assert find_cached(spec(), cache, boundary=UNBOUNDED) is None
    assert open_cached(spec(), cache, boundary=UNBOUNDED) is None
    entry = load(spec(), cache, boundary=UNBOUNDED).entry
    found = find_cached(spec(), cache, boundary=UNBOUNDED)
    assert found is not None
    assert found.folder == entry.folder
    opened = open_cached(spec(view={"limit": 1}), cache, boundary=UNBOUNDED)
    assert opened is not None
    assert [sample.input for sample in opened] == ["a"]
    (spec().folder / "data.jsonl").unlink()
    assert find_cached(spec("x").__class__(name="d", folder=Path(), source=_missing()), cache, boundary=UNBOUNDED) is None  # fmt: skip


def _missing() -> Any:
    from registry.manifest.source_models import JsonSource

    return JsonSource(path=("/nowhere/data.jsonl",))


def test_preview_caches_no_samples(spec: Spec, cache: Cache) -> None:
    view = {"limit": 1, "shuffle": True, "seed": 1}
    previewed, meta = preview_records(spec(view=view), cache, 5, boundary=UNBOUNDED)
    assert [sample.input for sample in previewed] == ["a", "b"]
    assert meta == {"samples": 2, "columns": ["input", "target", "record"], "limit": 5} | {
        "quality": {"blank_targets": meta["quality"]["blank_targets"]}
    }
    assert list(cache.entries("samples")) == []


def test_source_is_inspected_without_a_manifest(spec: Spec, cache: Cache) -> None:
    folder = spec().folder
    context = SourceContext(boundary=UNBOUNDED, cache=cache)
    pinned, records = inspect_source({"type": "json", "path": "data.jsonl"}, folder, context)
    assert records == [{"input": "a"}, {"input": "b"}]
    assert [file.size for file in pinned.files] == [30]
