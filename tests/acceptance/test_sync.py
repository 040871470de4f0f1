"""Many datasets at once: waits overlap, cores are shared, one failure does not stop the others."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from registry.cache import Cache
from registry.catalog.catalog import Catalog
from registry.decode import chunks as blocks
from registry.decode import json_tables
from registry.workflows.sync import sync
from tests.conftest import CatalogRoot, Https

LINES = b"".join(json.dumps({"q": f"q{n}", "a": "x"}).encode() + b"\n" for n in range(50))


def catalog_of(catalog_root: CatalogRoot, paths: dict[str, str]) -> Catalog:
    source = "source: {{type: json, path: '{}'}}, fields: {{input: q, target: a}}"
    lines = [f"  {name}: {{{source.format(path)}}}" for name, path in paths.items()]
    root = catalog_root({"all": "\n".join(["datasets:", *lines]) + "\n"})
    return Catalog.open(root)


def synced(catalog: Catalog, cache_dir: Path, jobs: int) -> dict[str, str]:
    results = sync(
        list(catalog),
        catalog,
        Cache(cache_dir),
        jobs=jobs,
        pin_sources=lambda spec: None,
        report=lambda name, progress: None,
    )
    return {result.name: result.status for result in results}


@pytest.mark.parametrize(("jobs", "at_once"), [(1, 1), (3, 3)])
def test_downloads_wait_beside_each_other(
    catalog_root: CatalogRoot, https: Https, cache_dir: Path, jobs: int, at_once: int
) -> None:
    bodies = {f"d{number}": LINES + b"\n" * number for number in range(3)}
    paths = {name: https.put(f"/{name}.jsonl", body, seconds=0.7) for name, body in bodies.items()}
    catalog = catalog_of(catalog_root, paths)
    assert synced(catalog, cache_dir, jobs) == dict.fromkeys(bodies, "built")
    assert https.at_once == at_once


def test_one_that_fails_does_not_stop_the_others(
    catalog_root: CatalogRoot, https: Https, cache_dir: Path
) -> None:
    paths = {"bad": https.fail("/bad.jsonl", 503), "good": https.put("/good.jsonl", LINES)}
    catalog = catalog_of(catalog_root, paths)
    assert synced(catalog, cache_dir, 2) == {"bad": "failed", "good": "built"}


def test_the_blocks_of_one_file_are_parsed_by_several_threads(
    catalog_root: CatalogRoot, cache_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "d.jsonl").write_bytes(LINES * 20)
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", len(LINES))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    meeting = threading.Barrier(2)
    parse = json_tables._parse

    def parse_beside_another(block: bytearray, schema: Any) -> object:
        meeting.wait(timeout=30)  # breaks unless another thread parses at the same time
        return parse(block, schema)

    monkeypatch.setattr(json_tables, "_parse", parse_beside_another)
    catalog = catalog_of(catalog_root, {"d": str(tmp_path / "d.jsonl")})
    assert synced(catalog, cache_dir, 1) == {"d": "built"}
