"""The rows of each value of a metadata key: found once, stored, and found again."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from registry import get_dataset
from registry.cache.cache import Cache
from registry.errors import ExpectationError
from registry.store.arrow_dataset import ArrowDataset
from registry.store.reader import SampleFile
from registry.store.selections import selected_rows, value_rows

LEVELS: list[Any] = [1, 2.5, "a", None, True, "a", 1, ["x"], "true"]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[ArrowDataset, Cache]:
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "cache"))
    records = [{"q": f"{n}?", "a": "1", "level": one} for n, one in enumerate(LEVELS)]
    text = "".join(json.dumps(one) + "\n" for one in records)
    (tmp_path / "qa.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "datasets.yaml").write_text(
        "version: 1\ndatasets:\n  qa:\n    source: {type: json, path: qa.jsonl}\n"
        "    fields: {input: q, target: a, metadata: [level]}\n"
    )
    dataset = get_dataset("qa", root=tmp_path)
    assert isinstance(dataset, ArrowDataset)
    return dataset, Cache(tmp_path / "cache")


def test_each_value_has_its_rows_and_equal_ones_of_other_types_differ(
    opened: tuple[ArrowDataset, Cache],
) -> None:
    dataset, cache = opened
    file, _ = dataset.as_opened()
    for _ in range(2):  # computed, then read from the cache
        found = value_rows(file, cache, samples="sha256:" + "0" * 64, key="level")
        assert list(found.values) == [1, 2.5, "a", None, True, ["x"], "true"]
        assert [found.of(one).tolist() for one in found.values] == [
            [0, 6],
            [1],
            [2, 5],
            [3],
            [4],
            [7],
            [8],
        ]
        assert [found.count(number) for number in range(7)] == [2, 1, 2, 1, 1, 1, 1]


def test_values_that_json_lacks_are_found_again(
    opened: tuple[ArrowDataset, Cache], monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, cache = opened
    file, _ = dataset.as_opened()
    values = [dt.date(2020, 1, 2), math.nan, (1, 2), b"x", Decimal("1.10"), 2**70, [1, 2], {"a": 1}]
    found = [{"level": one} for one in [*values, values[0]]]
    monkeypatch.setattr(SampleFile, "metadata", lambda _: iter(found))
    for _ in range(2):  # computed, then read from the cache
        rows = value_rows(file, cache, samples="sha256:" + "2" * 64, key="level")
        assert repr(rows.values) == repr(values)
        with pytest.raises(ExpectationError, match=r"\(values: datetime\.date\(2020, 1, 2\), nan"):
            rows.of("2020-01-02")
        assert [rows.of(one).tolist() for one in values] == [[0, 8], *([n] for n in range(1, 8))]
    assert len(list(cache.versioned.glob("views/*"))) == 1


@pytest.mark.parametrize(
    ("only", "inputs"),
    [
        ({"level": "a"}, ["2?", "5?"]),
        ({"level": ["a", 1]}, ["0?", "2?", "5?", "6?"]),
        ({"level": True}, ["4?"]),
        ({"level": "true"}, ["8?"]),
    ],
)
def test_a_view_has_only_the_samples_with_a_value(
    opened: tuple[ArrowDataset, Cache], tmp_path: Path, only: dict[str, Any], inputs: list[str]
) -> None:
    for _ in range(2):
        found = get_dataset("qa", root=tmp_path, only=only)
        assert [sample.input for sample in found] == inputs
    shuffled = get_dataset("qa", root=tmp_path, only=only, shuffle=True, seed=3)
    assert sorted(str(one.input) for one in shuffled) == inputs
    again = get_dataset("qa", root=tmp_path, only=only, shuffle=True, seed=3)
    assert [one.input for one in again] == [one.input for one in shuffled]
    assert len(get_dataset("qa", root=tmp_path, only=only, limit=1)) == 1


def test_datasets_that_differ_in_it_share_their_samples(
    opened: tuple[ArrowDataset, Cache], tmp_path: Path
) -> None:
    text = (tmp_path / "datasets.yaml").read_text()
    (tmp_path / "datasets.yaml").write_text(text + "  a: {extends: qa, only: {level: a}}\n")
    first, whole = get_dataset("a", root=tmp_path), opened[0]
    assert len(first) == 2
    assert first.provenance.fingerprint == whole.provenance.fingerprint
    assert first.provenance.view == {"only": {"level": "a"}}
    assert len(list((tmp_path / "cache").glob("*/samples/*"))) == 1


def test_a_value_that_no_sample_has_is_an_error_with_the_nearest(
    opened: tuple[ArrowDataset, Cache],
) -> None:
    dataset, cache = opened
    file, _ = dataset.as_opened()
    with pytest.raises(ExpectationError, match=r"no sample has 'ture' as `level`.*mean 'True'"):
        selected_rows(file, cache, samples="sha256:" + "1" * 64, only={"level": "ture"})
    with pytest.raises(ExpectationError, match=r"values: None\)"):
        selected_rows(file, cache, samples="sha256:" + "1" * 64, only={"levle": 7})
