"""Everything in the cache is compared with its digests."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from registry.cache.cache import Cache
from registry.cache.contents import Kind
from registry.cache.verify import Checked, paths_of, verify
from tests.cache.entries import blob, export, key, records, samples, view


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def paths(cache: Cache) -> dict[Kind, Path]:
    return {
        "samples": samples(cache, "a"),
        "views": view(cache, "v", of="a"),
        "records": records(cache, "r"),
        "exports": export(cache, "e", of="a"),
        "blobs": blob(cache, b"x" * 1000),
    }


def damaged(cache: Cache) -> list[Checked]:
    return [one for one in verify(cache, paths_of(cache)) if one.damage]


def test_intact_items_are_intact(cache: Cache, paths: dict[Kind, Path]) -> None:
    results = list(verify(cache, paths_of(cache)))
    assert [(one.kind, one.damage) for one in results] == [(kind, "") for kind in paths]
    assert results[-1].bytes == 1000
    assert all(path.exists() for path in paths.values())


@pytest.mark.parametrize("kind", ["samples", "views", "records", "exports", "blobs"])
@pytest.mark.parametrize("at", [0, 500, 999])
def test_a_changed_byte_is_found_and_quarantined(
    cache: Cache, paths: dict[Kind, Path], kind: Kind, at: int
) -> None:
    path = paths[kind]
    file = path if kind == "blobs" else path / "file"
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)
    (one,) = damaged(cache)
    assert (one.kind, one.key, one.quarantined) == (kind, path.name, True)
    assert "digest" in one.damage
    assert not path.exists()
    (moved,) = (cache.versioned / "quarantine").iterdir()
    assert moved.name.startswith(path.name)
    assert damaged(cache) == []


@pytest.mark.parametrize("kind", ["samples", "views", "records", "exports"])
def test_damaged_metadata_is_found(cache: Cache, paths: dict[Kind, Path], kind: Kind) -> None:
    (paths[kind] / "meta.json").write_bytes(b"{}")
    (one,) = damaged(cache)
    assert (one.kind, one.quarantined) == (kind, True)
    assert "metadata" in one.damage


def test_only_items_with_the_keys_and_what_is_made_of_samples_are_chosen(
    cache: Cache, paths: dict[Kind, Path]
) -> None:
    samples(cache, "b")
    (cache.versioned / "blobs" / ".half").write_bytes(b"")
    assert [kind for kind, _ in paths_of(cache)] == [
        "samples",
        "samples",
        "views",
        "records",
        "exports",
        "blobs",
    ]
    chosen = paths_of(cache, {key("a"), paths["blobs"].name})
    assert chosen == [(kind, paths[kind]) for kind in ("samples", "views", "exports", "blobs")]


def test_what_is_removed_meanwhile_is_not_damaged(cache: Cache, paths: dict[Kind, Path]) -> None:
    chosen = paths_of(cache)
    paths["blobs"].unlink()
    os.rename(paths["samples"], cache.root / "elsewhere")
    assert [one.kind for one in verify(cache, chosen)] == ["views", "records", "exports"]


def test_what_is_replaced_meanwhile_is_not_damaged(cache: Cache, paths: dict[Kind, Path]) -> None:
    cache.quarantine("views", paths["views"].name)  # of an earlier damage
    is_done = threading.Event()
    results: list[Checked] = []

    def replace() -> None:
        while not is_done.is_set():
            view(cache, "v", of="a", size=1 << 20)

    with ThreadPoolExecutor(1) as pool:
        replacing = pool.submit(replace)
        while len(results) < 200 and not replacing.done():
            results += verify(cache, [("views", paths["views"])])
        is_done.set()
        replacing.result()
    assert {one.damage for one in results} == {""}


def test_verifying_is_no_use(cache: Cache, paths: dict[Kind, Path]) -> None:
    os.utime(paths["samples"] / "meta.json", (1, 1))
    list(verify(cache, paths_of(cache)))
    assert (paths["samples"] / "meta.json").stat().st_mtime == 1
