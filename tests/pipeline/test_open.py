"""Cached samples are opened with the view of a dataset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.load.load import load
from registry.manifest.models import DatasetSpec, to_spec
from registry.pipeline.open import Opening, finisher
from registry.samples.sample import Sample
from registry.store import views


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
