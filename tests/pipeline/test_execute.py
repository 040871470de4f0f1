"""Samples are opened from the cache with their view, and built first if they are not there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.errors import DecodeError, ExpectationError, SourceError
from registry.load.load import load
from registry.manifest.models import DatasetSpec, to_spec
from registry.pipeline import builder
from registry.pipeline.execute import LoadResult, Opening, execute, finisher
from registry.pipeline.plan import plan
from registry.samples.sample import Sample
from registry.sources import files
from registry.store import views
from tests.pipeline.conftest import Prepare, Prepared

RECORDS = [{"input": "a"}, {"input": "b"}]


def run(prepared: Prepared) -> LoadResult:
    return execute(plan(prepared.spec, prepared.context), prepared.spec, prepared.context)


@pytest.mark.parametrize("samples", [1, 3])
def test_unexpected_sample_count_is_an_error_even_if_cached(prepare: Prepare, samples: int) -> None:
    message = rf"d: expect\.samples is {samples}, the source gives 2 \(has the source changed\?"
    for _ in range(2):
        with pytest.raises(ExpectationError, match=message):
            run(prepare(RECORDS, expect={"samples": samples}))
    assert run(prepare(RECORDS, expect={"samples": 2})).cached


def test_values_that_fail_are_an_error_even_if_cached(prepare: Prepare) -> None:
    for _ in range(2):
        with pytest.raises(ExpectationError, match=r"d: expect\.unique_ids fails: no id in all 2"):
            run(prepare(RECORDS, expect={"unique_ids": True}))
    assert run(prepare(RECORDS)).cached


def test_empty_dataset_is_an_error_unless_expected(prepare: Prepare) -> None:
    with pytest.raises(DecodeError, match="no samples come out of the source"):
        run(prepare([]))
    assert len(run(prepare([], expect={"samples": 0})).dataset) == 0


def test_first_samples_of_a_file_that_changes_during_the_build_are_discarded(
    prepare: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_SMALL_LOCAL_BYTES", 1)
    build = builder.build
    prepared = prepare(RECORDS, view={"limit": 1})
    path = prepared.pins.sources[0].files[0].location
    os.utime(path, (1_000_000_000, 1_000_000_000))

    def slow_build(*arguments: Any, **options: Any) -> Any:
        result = build(*arguments, **options)
        os.utime(path, (1_000_000_001, 1_000_000_001))
        return result

    monkeypatch.setattr(builder, "build", slow_build)
    with pytest.raises(SourceError, match=r"0\.jsonl: changed while it was read \(try again\)"):
        run(prepared)
    assert list(prepared.context.cache.entries("samples")) == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = (f'{{"input": "{number}", "files": {{"x": "x.txt"}}}}\n' for number in range(9))
    (tmp_path / "data.jsonl").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "x.txt").write_text("x", encoding="utf-8")
    return tmp_path


def spec(folder: Path, **keys: Any) -> DatasetSpec:
    source = {"type": "json", "path": [str(folder / "data.jsonl")]}
    fields = {"files": "files"}
    return to_spec({"name": "d", "folder": folder, "source": source, "fields": fields, **keys})


def opened(folder: Path, **view: Any) -> Any:
    return load(spec(folder, view=view), Cache(folder / "cache"), boundary=UNBOUNDED).dataset


def test_a_view_orders_limits_and_numbers(folder: Path) -> None:
    shuffled = [sample.input for sample in opened(folder, shuffle=True, seed=1)]
    assert shuffled != sorted(shuffled)
    limited = opened(folder, shuffle=True, seed=1, limit=3, auto_id=True)
    assert [sample.input for sample in limited] == shuffled[:3]
    assert [sample.id for sample in limited] == [int(text) + 1 for text in shuffled[:3]]
    assert limited.shuffled


def test_the_shuffle_matches_the_loader(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    orders: list[str] = []
    order = views.row_order

    def noted(count: int, kind: Any, seed: Any) -> Any:
        orders.append(kind)
        return order(count, kind, seed)

    monkeypatch.setattr(views, "row_order", noted)
    assert [sample.input for sample in opened(folder, shuffle=True, seed=5)]
    assert orders == ["file"]


@pytest.mark.parametrize(
    ("source", "resolved"),
    [
        ({"type": "json", "path": ["data.jsonl"]}, True),
        ({"type": "json", "path": ["https://host/data.jsonl"]}, False),
        ({"type": "hf", "path": "./", "split": "t"}, False),
    ],
)
def test_names_beside_a_local_file_become_paths(
    folder: Path, monkeypatch: pytest.MonkeyPatch, source: dict[str, Any], resolved: bool
) -> None:
    monkeypatch.chdir(folder)
    finish = finisher(
        Opening.of(to_spec({"name": "d", "folder": folder, "source": source}), UNBOUNDED)
    )
    assert (finish is not None) is resolved
    if finish is not None:
        sample = finish(Sample(input="q", files={"x": "x.txt", "y": "inline"}))
        assert sample.files == {"x": str(folder / "x.txt"), "y": "inline"}


def test_the_cache_has_no_path_of_this_machine(folder: Path) -> None:
    dataset = opened(folder)
    assert dataset[0].files == {"x": str(folder / "x.txt")}
    (samples,) = (folder / "cache").rglob("samples.arrow")
    assert str(folder).encode() not in samples.read_bytes()
    meta = json.loads((samples.parent / "meta.json").read_bytes())
    assert str(folder) not in json.dumps(meta["quality"])
