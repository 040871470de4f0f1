"""`sync` and `sync --refresh` repair samples and views; offline, damage that can't be repaired is an error."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import Https
from tests.faults.background import finish
from tests.faults.background import registry as background
from tests.faults.process import registry, registry_each, write_catalog

ROWS = [{"q": f"question {n}", "a": "ABC"[n % 3], "c": ["x", "y", f"{n}"]} for n in range(300)]
DATASET = """
  data:
    source: {{type: json, path: '{url}'}}
    fields: {{input: q, target: a, choices: c}}
    shuffle: true
    seed: 1
    shuffle_choices: 2
"""
FILES = ["samples/*/samples.arrow", "samples/*/meta.json", "views/*/rows.npy"]
FILES += ["views/*/choices.npy", "views/*/meta.json"]


@pytest.fixture
def catalog(tmp_path: Path, https: Https) -> Path:
    """Write a catalog of one shuffled dataset, and fill the cache."""
    body = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    url = https.put("/data.jsonl", body, etag="1")
    catalog = write_catalog(tmp_path / "catalog", DATASET.format(url=url))
    assert registry(catalog, "sync").code == 0
    return catalog


def flip(path: Path) -> bytes:
    """Change a byte in the last third of a file; return what the file was."""
    content = path.read_bytes()
    position = 2 * len(content) // 3
    path.write_bytes(content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
    return content


@pytest.mark.parametrize("arguments", ["sync", "sync --refresh"])
def test_sync_repairs_every_file(catalog: Path, cache_dir: Path, arguments: str) -> None:
    found = {path: flip(path) for name in FILES for path in cache_dir.glob(f"v*/{name}")}
    assert len(found) == len(FILES)
    repaired = registry(catalog, *arguments.split())
    assert repaired.code == 0
    for path, content in found.items():
        if path.name != "meta.json":  # its indentation is no promise
            assert path.read_bytes() == content, path
    set_aside = list(cache_dir.glob("v*/quarantine/*"))
    assert len(set_aside) == (2 if arguments == "sync" else 1)  # a refresh replaces the samples
    assert repaired.err.count(": damaged, and moved to the quarantine (") == len(set_aside)
    again = registry(catalog, "sync")
    assert (again.code, "damaged" in again.err) == (0, False)
    assert list(cache_dir.glob("v*/quarantine/*")) == set_aside


def test_sync_repairs_what_it_can_not_quarantine(catalog: Path, cache_dir: Path) -> None:
    (path,) = cache_dir.glob("v*/samples/*/samples.arrow")
    (versioned,) = cache_dir.glob("v*")
    (versioned / "quarantine").write_bytes(b"")
    content = flip(path)
    assert registry(catalog, "sync").code == 0
    assert path.read_bytes() == content
    assert registry_each(catalog, "cache prune", "cache verify").code == 0
    assert not list((versioned / "tmp").iterdir())


def test_sync_repairs_a_file_that_can_not_be_read(
    catalog: Path, cache_dir: Path, strace: str
) -> None:
    (path,) = cache_dir.glob("v*/samples/*/samples.arrow")
    inode = path.stat().st_ino
    broken = [strace, "-f", "-q", "-o", "/dev/null", "-P", str(path), "-e", "inject=read:error=EIO"]
    code, out, err = finish(background("sync", root=catalog, before=broken))
    assert (code, out.split()[5:7]) == (0, ["data", "built"]), err
    assert path.stat().st_ino != inode


@pytest.mark.parametrize("name", ["rows.npy", "choices.npy"])
def test_sync_repairs_a_view_alone(catalog: Path, cache_dir: Path, name: str) -> None:
    (path,) = cache_dir.glob(f"v*/views/*/{name}")
    content = flip(path)
    assert registry(catalog, "sync").code == 0
    assert path.read_bytes() == content


def test_samples_are_rebuilt_from_intact_bytes_offline(
    catalog: Path, cache_dir: Path, https: Https
) -> None:
    before = registry(catalog, "preview", "data").out
    https.requests.clear()
    (samples,) = cache_dir.glob("v*/samples/*/samples.arrow")
    flip(samples)
    done = registry(catalog, "preview", "data", REGISTRY_OFFLINE="1")
    assert (done.code, done.out, https.requests) == (0, before, [])


def test_damaged_bytes_offline_are_an_error_that_says_so(catalog: Path, cache_dir: Path) -> None:
    before = registry(catalog, "preview", "data").out
    (samples,) = cache_dir.glob("v*/samples/*/samples.arrow")
    (blob,) = cache_dir.glob("v*/blobs/*")
    flip(samples)
    flip(blob)
    done = registry(catalog, "preview", "data", REGISTRY_OFFLINE="1")
    assert done.code == 1
    assert "data.jsonl: damaged in the cache, and requests are disabled (offline" in done.err
    done = registry(catalog, "preview", "data")
    assert (done.code, done.out) == (0, before)


@pytest.mark.parametrize("name", ["", "samples", "views", "tmp"])
def test_file_in_place_of_a_folder_of_the_cache(catalog: Path, cache_dir: Path, name: str) -> None:
    (versioned,) = cache_dir.glob("v*")
    before = registry(catalog, "preview", "data").out
    folder = versioned / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.write_bytes(b"")
    done = registry_each(catalog, "preview data", "sync")
    if done.code == 1:  # what to do, rather than samples
        assert "cache" in done.err
        assert str(cache_dir) in done.err
    else:
        assert (done.code, before in done.out) == (0, True)
