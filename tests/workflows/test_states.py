"""What is cached and locked of each dataset, without a request."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from registry import get_dataset
from registry.cache.cache import Cache
from registry.cache.contents import Item, contents
from registry.cache.folders import Kind
from registry.catalog.catalog import Catalog
from registry.cli import main
from registry.errors import ManifestError, OfflineError
from registry.lockfile.models import read_lock
from registry.workflows import states
from registry.workflows.states import CacheUsage, DatasetState, cache_usage, states_of
from tests.conftest import CatalogRoot, Https
from tests.servers.hub import HubEmulator, parquet_repo

MANIFEST = """\
datasets:
  a: {source: {type: csv, path: d.csv}}
  one: {extends: a, limit: 1}
  many: {extends: a, limit: 9}
  hub: {source: {type: hf, path: org/name, split: test}, expect: {samples: 12}}
  few: {extends: hub, limit: 5}
"""


@pytest.fixture
def root(catalog_root: CatalogRoot) -> Path:
    root = catalog_root({"m": MANIFEST})
    (root / "d.csv").write_text("input,target\nOne?,1\nTwo?,2\n", encoding="utf-8")
    return root


def found(root: Path, cache_dir: Path) -> dict[str, DatasetState]:
    catalog = Catalog.open(root)
    specs = [catalog[name] for name in catalog]
    lock = read_lock(root / "datasets.lock")
    return states_of(specs, Cache(cache_dir), lock, boundary=catalog.boundary)


def test_nothing_is_cached_in_an_empty_cache(root: Path, cache_dir: Path) -> None:
    nothing = DatasetState(
        samples=None, bytes=None, cached=False, state="floating", locked=False, stale=False
    )
    made = found(root, cache_dir)
    assert made["a"] == made["one"] == nothing
    assert (made["hub"].samples, made["few"].samples) == (12, 5)


def test_datasets_of_the_same_samples_are_cached_with_the_samples_of_their_views(
    root: Path, cache_dir: Path
) -> None:
    get_dataset("a", root=root)
    made = found(root, cache_dir)
    assert {name: (one.cached, one.samples) for name, one in made.items()} == {
        "a": (True, 2),
        "one": (True, 1),
        "many": (True, 2),
        "hub": (False, 12),
        "few": (False, 5),
    }
    assert (made["a"].bytes or 0) > 100


def test_changed_file_is_not_cached(root: Path, cache_dir: Path) -> None:
    get_dataset("a", root=root)
    (root / "d.csv").write_text("input,target\nThree?,3\n", encoding="utf-8")
    assert found(root, cache_dir)["a"].cached is False


def test_state_is_unknown_if_too_much_would_have_to_be_read(
    root: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    get_dataset("a", root=root)
    monkeypatch.setattr(states, "_MOST_READ", 30)  # one file, not three
    made = found(root, cache_dir)
    assert [made[name].cached for name in ("a", "many", "one")] == [True, None, None]


def test_files_of_a_glob_are_not_read(root: Path, cache_dir: Path) -> None:
    manifest = next(root.rglob("m.yaml"))
    manifest.write_text(MANIFEST.replace("path: d.csv", "path: '*.csv'"), encoding="utf-8")
    get_dataset("a", root=root)
    (root / "d.csv").write_text("input,target\nThree?,3\n", encoding="utf-8")
    assert found(root, cache_dir)["a"].cached is None


def test_missing_file_is_not_cached(root: Path, cache_dir: Path) -> None:
    get_dataset("a", root=root)
    (root / "d.csv").unlink()
    assert found(root, cache_dir)["a"].cached is False


def test_pin_says_how_many_samples_until_the_manifest_changes(root: Path, cache_dir: Path) -> None:
    assert main(["lock", "--root", str(root), "one"]) == 0
    one = found(root, cache_dir)["one"]
    assert (one.samples, one.locked, one.stale) == (1, True, False)
    manifest = next(root.rglob("m.yaml"))
    manifest.write_text(MANIFEST.replace("limit: 1", "limit: 2"), encoding="utf-8")
    one = found(root, cache_dir)["one"]
    assert (one.samples, one.state, one.locked, one.stale) == (2, "floating", True, True)


def test_no_request_is_made(
    catalog_root: CatalogRoot, https: Https, hub: HubEmulator, cache_dir: Path
) -> None:
    url = https.put("/d.csv", b"input,target\nOne?,1\n", etag="1")
    text = f"datasets:\n  a: {{source: {{type: csv, path: '{url}'}}}}\n"
    text += "  new: {source: {type: csv, path: 'https://example.com/new.csv'}}\n"
    root = catalog_root({"m": text + MANIFEST[MANIFEST.index("  hub:") :]})
    get_dataset("a", root=root)
    before = len(https.requests)
    made = found(root, cache_dir)
    assert (made["a"].cached, made["hub"].cached, made["new"].cached) == (True, False, False)
    assert len(https.requests) == before


def test_pin_of_a_newer_release_is_not_stale_to_people(root: Path, cache_dir: Path) -> None:
    assert main(["lock", "a", "--root", str(root)]) == 0
    lock = root / "datasets.lock"
    text = lock.read_text("utf-8")
    lock.write_text(re.sub(r"format: \d+", "format: 99", text), encoding="utf-8")
    made = found(root, cache_dir)
    assert (made["a"].shown, made["a"].newer, made["one"].newer) == ("newer", True, False)


ROWS = [{"input": f"What is {number}?", "target": str(number)} for number in range(9)]


@pytest.fixture
def cache(cache_dir: Path) -> Cache:
    return Cache(cache_dir)


def usage_of(root: Path, cache: Cache) -> CacheUsage:
    catalog = Catalog.open(root)
    return cache_usage(catalog, catalog, cache, lambda _: None)


def users(usage: CacheUsage, cache: Cache) -> dict[str, list[str]]:
    """Return the users of each item, by its kind; of several of a kind, the last."""
    return {item.kind: usage.users(item) for item in contents(cache)}


def test_exports_are_used_by_the_datasets_of_their_samples(
    catalog_root: CatalogRoot, cache: Cache
) -> None:
    root = catalog_root({"m": "datasets: {a: {source: {type: csv, path: d.csv}}}"})
    (root / "d.csv").write_text("input,target\nOne?,1\n", encoding="utf-8")
    get_dataset("a", root=root)
    (samples,) = contents(cache)
    meta = {"name": "other", "samples": f"sha256:{samples.key}"}
    export = Item(kind="exports", key="0", path=root, bytes=1, last_used=0, meta=meta)
    assert usage_of(root, cache).users(export) == ["a"]


def test_datasets_share_samples_and_blobs(
    catalog_root: CatalogRoot, https: Https, cache: Cache
) -> None:
    url = https.put("/d.csv", b"input,target\nOne?,1\nTwo?,2\n", etag="1")
    root = catalog_root(
        {
            "m": "datasets:\n"
            f"  a: {{source: {{type: csv, path: '{url}'}}}}\n"
            "  b: {extends: a, shuffle: true, seed: 1}\n"
            "  c: {extends: a, fields: {input: target, target: input}}\n"
        }
    )
    assert list(usage_of(root, cache).unknown) == ["a", "b", "c"]
    get_dataset("b", root=root)
    https.requests.clear()
    usage = usage_of(root, cache)
    assert users(usage, cache) == {"samples": ["a", "b"], "blobs": ["a", "b", "c"]}
    (view,) = contents(cache)[0].views
    assert usage.users(view) == ["a", "b"]
    assert https.requests == []
    assert usage.unknown == {}


def test_a_repository_is_known_by_its_commit(
    catalog_root: CatalogRoot, hub: HubEmulator, cache: Cache
) -> None:
    sha = hub.commit("org/usage", parquet_repo({"default": {"test": ROWS}}))
    source = f"source: {{type: hf, path: org/usage, split: test, revision: {sha}}}"
    root = catalog_root({"m": f"datasets:\n  all: {{{source}}}\n  few: {{{source}, limit: 2}}\n"})
    get_dataset("few", root=root)
    assert users(usage_of(root, cache), cache)["samples"] == ["few"]
    assert users(usage_of(root, cache), cache)["records"] == ["all", "few"]
    get_dataset("all", root=root)
    usage = usage_of(root, cache)
    kinds = ("samples", "records")  # files of the Hub are replaced by their records
    found = [usage.users(item) for item in contents(cache) if item.kind in kinds]
    assert all(found)
    assert ["all", "few"] in found


def test_what_is_unknown_may_be_used(catalog_root: CatalogRoot, cache: Cache) -> None:
    root = catalog_root(
        {"m": "datasets:\n  a: {source: {type: csv, path: 'https://localhost:1/a.csv'}}\n"}
    )
    usage = usage_of(root, cache)
    assert isinstance(usage.unknown["a"], OfflineError)

    def item(kind: Kind, **meta: str) -> Item:
        path = cache.versioned / kind / "x"
        return Item(kind=kind, key="x", path=path, bytes=0, last_used=0, meta=meta)

    assert usage.may_use(item("samples", name="a", source="elsewhere"))
    assert usage.may_use(item("samples", name="b", source="https://localhost:1/a.csv"))
    assert usage.may_use(item("blobs"))
    assert not usage.may_use(item("samples", name="b", source="elsewhere"))
    assert not usage.may_use(item("views", samples="sha256:x"))


def test_an_invalid_manifest_is_reported(catalog_root: CatalogRoot, cache: Cache) -> None:
    root = catalog_root({"m": "datasets:\n  a: {source: {type: csv, path: a.csv}, shufle: 1}\n"})
    assert isinstance(usage_of(root, cache).unknown["a"], ManifestError)
