"""Which datasets use what of the cache: samples, parts, records, blobs; without a request."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry import get_dataset
from registry.cache.cache import Cache
from registry.cache.contents import Item, Kind, contents
from registry.catalog.catalog import Catalog
from registry.errors import ManifestError, OfflineError
from registry.workflows.cache_usage import CacheUsage, cache_usage
from tests.conftest import CatalogRoot, Https
from tests.servers.hub import HubEmulator, parquet_repo

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
