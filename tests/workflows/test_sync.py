"""Many datasets at once: waits overlap, cores are shared, one failure does not stop the others."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.load.call import OpenCatalog
from registry.lockfile.pin_cache import CatalogPins
from registry.pipeline import builder
from registry.settings import Settings, builtin_root
from registry.workflows.sync import Division, SyncResult, divide, sync
from tests.conftest import CatalogRoot, Https

LINES = b"".join(json.dumps({"q": f"q{n}", "a": "x"}).encode() + b"\n" for n in range(50))


def catalog_of(catalog_root: CatalogRoot, paths: dict[str, str]) -> Catalog:
    source = "source: {{type: json, path: '{}'}}, fields: {{input: q, target: a}}"
    lines = [f"  {name}: {{{source.format(path)}}}" for name, path in paths.items()]
    root = catalog_root({"all": "\n".join(["datasets:", *lines]) + "\n"})
    return Catalog.open(root)


def synced(
    catalog: Catalog, cache_dir: Path, jobs: int = 1, **options: Any
) -> dict[str, SyncResult]:
    report = options.pop("report", lambda name, progress: None)
    opened = OpenCatalog(catalog, Cache(cache_dir), Settings.from_environment(root=catalog.index))
    results = sync(list(catalog), opened, jobs=jobs, report=report, **options)
    return {result.name: result for result in results}


def statuses(*given: Any, **options: Any) -> dict[str, str]:
    return {name: one.status for name, one in synced(*given, **options).items()}


@pytest.mark.parametrize(("jobs", "at_once"), [(1, 1), (3, 3)])
def test_downloads_run_at_the_same_time(
    catalog_root: CatalogRoot, https: Https, cache_dir: Path, jobs: int, at_once: int
) -> None:
    bodies = {f"d{number}": LINES + b"\n" * number for number in range(3)}
    paths = {name: https.put(f"/{name}.jsonl", body, seconds=0.7) for name, body in bodies.items()}
    catalog = catalog_of(catalog_root, paths)
    assert statuses(catalog, cache_dir, jobs) == dict.fromkeys(bodies, "built")
    assert https.at_once == at_once


@pytest.mark.parametrize("processes", [1, 2])
def test_large_builds_are_done_by_processes(
    catalog_root: CatalogRoot,
    cache_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    processes: int,
) -> None:
    monkeypatch.setattr(builder, "_LEAST_BYTES", 100)
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.jsonl").write_bytes(LINES.replace(b': "q', f': "{name} '.encode()))
    (tmp_path / "bad.jsonl").write_bytes(LINES + b"{]\n" * 40)
    names = ("bad", "one", "three", "two")
    catalog = catalog_of(catalog_root, {name: str(tmp_path / f"{name}.jsonl") for name in names})
    seen: list[str] = []

    def report(name: str, progress: object) -> None:
        seen.append(name)

    found = synced(catalog, cache_dir, 3, processes=processes, report=report)
    assert {name: found[name].status for name in names} == {
        "bad": "failed",
        **dict.fromkeys(names[1:], "built"),
    }
    assert {found[name].samples for name in names[1:]} == {50}
    assert "bad.jsonl:51: not JSON" in str(found["bad"].error)
    assert set(seen) >= set(names[1:])


def test_failed_dataset_does_not_stop_the_others(
    catalog_root: CatalogRoot, https: Https, cache_dir: Path
) -> None:
    paths = {"bad": https.fail("/bad.jsonl", 503), "good": https.put("/good.jsonl", LINES)}
    catalog = catalog_of(catalog_root, paths)
    assert statuses(catalog, cache_dir, 2) == {"bad": "failed", "good": "built"}


@pytest.fixture
def catalog(catalog_root: CatalogRoot, tmp_path: Path) -> Catalog:
    """Write a catalog of one dataset, `d`."""
    (tmp_path / "d.jsonl").write_bytes(LINES)
    return catalog_of(catalog_root, {"d": str(tmp_path / "d.jsonl")})


def test_result_has_the_size_and_time_of_a_build(catalog: Catalog, cache_dir: Path) -> None:
    result = synced(catalog, cache_dir)["d"]
    assert (result.status, result.samples, result.error) == ("built", 50, None)
    assert (result.bytes or 0) > 0
    data = result.to_dict()
    assert data["seconds"] == round(result.seconds, 3)
    assert (data["name"], data["error"]) == ("d", None)


def test_refresh_builds_what_is_cached(catalog: Catalog, cache_dir: Path) -> None:
    found = [statuses(catalog, cache_dir, refresh=one)["d"] for one in (False, False, True)]
    assert found == ["built", "cached", "built"]


def test_damaged_samples_are_built_again(catalog: Catalog, cache_dir: Path) -> None:
    synced(catalog, cache_dir)
    (path,) = cache_dir.rglob("samples.arrow")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert statuses(catalog, cache_dir) == {"d": "built"}


def test_error_is_part_of_the_result(catalog: Catalog, cache_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").unlink()
    result = synced(catalog, cache_dir)["d"]
    message = f"{tmp_path / 'd.jsonl'}: no such file"
    assert result.to_dict()["error"] == {"type": "SourceError", "message": message}
    assert (result.status, result.samples) == ("failed", None)


@cache
def built_in() -> tuple[Catalog, CatalogPins]:
    """Return the specs by name in place of the catalog, which resolves them again and again."""
    opened = OpenCatalog.of(Settings.from_environment(root=str(builtin_root())))
    return cast("Catalog", dict(opened.catalog)), opened.pins


def divided(names: list[str], count: int) -> Division:
    catalog, pins = built_in()
    return divide(names, catalog, count, pins=pins)


@pytest.mark.parametrize(
    ("count", "seed", "part"), [(1, 0, 400), (3, 1, 2), (16, 2, 400), (16, 3, 90), (60, 4, 200)]
)
def test_each_dataset_is_in_one_shard_of_a_fair_size(count: int, seed: int, part: int) -> None:
    catalog, _ = built_in()
    names = Random(seed).sample(list(catalog), min(part, len(catalog)))
    found = divided(names, count)
    assert len(found.shards) == count
    assert sorted(name for shard in found.shards for name in shard) == sorted(names)
    # As many shards as datasets have one group each: the largest of them bounds any shard.
    groups = divided(names, len(names)).bytes
    assert sum(found.bytes) == sum(groups)
    assert max(found.bytes) <= sum(groups) / count + max(groups)
    # Another order of the names, as of another machine, is the same division.
    other = divided(sorted(names), count)
    assert [set(one) for one in other.shards] == [set(one) for one in found.shards]


def test_what_reads_the_same_bytes_and_what_is_broken_is_in_one_shard(
    catalog_root: CatalogRoot,
) -> None:
    root = catalog_root(
        {
            "all": """\
datasets:
  a: {source: {type: csv, path: one.csv}, fields: {input: q, target: a}}
  b: {extends: a, limit: 2}
  c: {source: {type: csv, path: one.csv}, fields: {input: a, target: q}}
  d: {source: {type: csv, path: two.csv}, fields: {input: q, target: a}}
""",
            "broken": "datasets:\n  e: {source: {type: csv, path: two.csv}, fields: {inptu: q}}\n",
        }
    )
    opened = OpenCatalog.of(Settings.from_environment(root=root))
    division = divide("abcde", opened.catalog, 4, pins=opened.pins)
    assert sorted(map(tuple, division.shards)) == [(), ("a", "b", "c"), ("d",), ("e",)]
