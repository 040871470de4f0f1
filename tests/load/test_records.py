"""Records of sources, and samples of the first ones, without a build."""

from __future__ import annotations

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.load.records import inspect_source, preview_records, read_records
from registry.sources.pins import SourceContext
from tests.load.conftest import Spec


def test_preview_caches_no_samples(spec: Spec, cache: Cache) -> None:
    view = {"limit": 1, "shuffle": True, "seed": 1}
    previewed, meta = preview_records(spec(view=view), cache, 5, boundary=UNBOUNDED)
    assert [(number, sample.input) for number, sample in previewed] == [(1, "a"), (2, "b")]
    assert meta == {"samples": 2, "columns": ["input", "target", "record"], "limit": 5} | {
        "quality": {"blank_targets": meta["quality"]["blank_targets"]}
    }
    assert list(cache.entries("samples")) == []


def test_records_are_read_again(spec: Spec, cache: Cache) -> None:
    found = read_records(spec(), cache, [2], boundary=UNBOUNDED)
    assert {number: record["input"] for number, record in found.items()} == {2: "b"}


def test_source_is_inspected_without_a_manifest(spec: Spec, cache: Cache) -> None:
    folder = spec().folder
    context = SourceContext(boundary=UNBOUNDED, cache=cache)
    pinned, records = inspect_source({"type": "json", "path": "data.jsonl"}, folder, context)
    assert records == [{"input": "a"}, {"input": "b"}]
    assert [file.size for file in pinned.files] == [30]
