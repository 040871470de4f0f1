"""What the cache holds is listed with sizes and times, and looking at it changes no time."""

from __future__ import annotations

import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from registry.cache import contents as module
from registry.cache.cache import Cache
from registry.cache.contents import Checked, contents, newest, paths_of, size_of, verify
from registry.cache.folders import Kind
from tests.cache.entries import HOUR, age, blob, export, key, records, samples, view


def test_views_come_with_their_samples(cache: Cache) -> None:
    for name in ("a", "b"):
        samples(cache, name)
        view(cache, f"1 of {name}", of=name)
    view(cache, "2 of a", of="a")
    view(cache, "of none", of="gone")
    found = {item.key: item for item in contents(cache)}
    assert {view.key for view in found[key("a")].views} == {key("1 of a"), key("2 of a")}
    assert [view.key for view in found[key("b")].views] == [key("1 of b")]
    assert (found[key("of none")].kind, len(found)) == ("views", 3)
    item = found[key("b")]
    assert item.bytes == 1000 + (item.path / "meta.json").stat().st_size
    assert item.total == item.bytes + item.views[0].bytes


def test_records_exports_and_blobs_are_listed(cache: Cache) -> None:
    assert contents(cache) == []
    records(cache, "r")
    export(cache, "e", of="a")
    path = blob(cache, b"bytes")
    (path.parent / f".{path.name}.0123").write_bytes(b"half")
    assert [(item.kind, item.key) for item in contents(cache)] == [
        ("records", key("r")),
        ("exports", key("e")),
        ("blobs", path.name),
    ]


def test_the_last_use_is_that_of_samples_or_a_view(cache: Cache) -> None:
    paths = [samples(cache, "a"), view(cache, "v", of="a"), blob(cache, b"x")]
    for hours, path in zip((50, 30, 20), paths, strict=True):
        age(path / "meta.json" if path.is_dir() else path, hours * HOUR)
    for _ in range(2):
        used = {item.kind: item.last_used for item in contents(cache)}
        assert used["samples"] == (paths[1] / "meta.json").stat().st_mtime
        assert used["blobs"] == paths[2].stat().st_mtime
        assert used["blobs"] - used["samples"] == pytest.approx(10 * HOUR, abs=5)


def test_damaged_entries_are_not_listed(cache: Cache) -> None:
    (samples(cache, "a") / "meta.json").write_bytes(b"{")
    assert contents(cache) == []


def test_the_size_of_a_folder_is_that_of_its_files(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "x").write_bytes(bytes(10))
    (tmp_path / "a" / "y").write_bytes(bytes(5))
    (tmp_path / "a" / "link").symlink_to(tmp_path)  # never followed
    link = (tmp_path / "a" / "link").lstat().st_size
    assert size_of(tmp_path / "a") == 15 + link
    assert size_of(inner / "x") == 10
    shutil.rmtree(tmp_path / "a")
    assert size_of(tmp_path / "a") == 0


def test_the_newest_time_is_of_any_file_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_bytes(b"")
    age(tmp_path / "a" / "x", 5 * HOUR)
    age(tmp_path / "a", 9 * HOUR)
    assert newest(tmp_path / "a") == (tmp_path / "a" / "x").stat().st_mtime
    assert newest(tmp_path / "missing") == 0


def test_folders_of_older_formats_are_found(cache: Cache) -> None:
    assert module.older_formats(cache) == []
    for name in ("v0", "v1", "v99", "vx", "w0", cache.versioned.name):
        (cache.root / name).mkdir(parents=True)
    (cache.root / "v00").write_bytes(b"")
    assert [path.name for path in module.older_formats(cache)] == ["v0", "v1"]


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


def test_damaged_metadata_is_found(cache: Cache, paths: dict[Kind, Path]) -> None:
    kinds = [kind for kind in paths if kind != "blobs"]
    for kind in kinds:
        (paths[kind] / "meta.json").write_bytes(b"{}")
    found = damaged(cache)
    assert [(one.kind, one.quarantined) for one in found] == [(kind, True) for kind in kinds]
    assert all("metadata" in one.damage for one in found)


def test_only_items_with_the_keys_and_what_is_made_of_samples_are_chosen(
    cache: Cache, paths: dict[Kind, Path]
) -> None:
    samples(cache, "b")
    (cache.versioned / "blobs" / ".half").write_bytes(b"")
    assert [kind for kind, _ in paths_of(cache)] == ["samples", *paths]
    chosen = paths_of(cache, {key("a"), paths["blobs"].name})
    assert chosen == [(kind, paths[kind]) for kind in ("samples", "views", "exports", "blobs")]


def test_what_is_removed_meanwhile_is_not_damaged(cache: Cache, paths: dict[Kind, Path]) -> None:
    chosen = paths_of(cache)
    paths["blobs"].unlink()
    os.rename(paths["samples"], cache.root / "elsewhere")
    assert [one.kind for one in verify(cache, chosen)] == ["views", "records", "exports"]


def test_what_is_replaced_meanwhile_is_not_damaged(cache: Cache, paths: dict[Kind, Path]) -> None:
    cache.quarantine_file(paths["views"])  # of an earlier damage
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
