"""Views: the shuffles of Inspect's loaders, stored as arrays."""

from __future__ import annotations

import datetime as dt
import json
import math
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import Sample, get_dataset
from registry.cache.cache import Cache
from registry.errors import ExpectationError
from registry.samples.dataset import shuffle_positions
from registry.samples.letters import index_of
from registry.store import views
from registry.store.arrow_dataset import ArrowDataset
from registry.store.reader import SampleFile
from registry.store.views import (
    ViewArrays,
    choice_orders,
    open_view,
    row_order,
    selected_rows,
    value_rows,
)
from tests.store.samples_file import file_of

targets = st.sampled_from(["A", "b", "C", "Z", "1", "0", "", "é", "ß", "²", "9" * 30, "word"])
some_samples = st.lists(
    st.builds(
        lambda count, target: Sample("q", choices=["x"] * count or None, target=target),
        st.integers(0, 3),
        targets | st.lists(targets, max_size=3),
    ),
    min_size=1,
    max_size=8,
)


def fits(sample: Sample) -> bool:
    letters = [sample.target] if isinstance(sample.target, str) else sample.target
    try:
        return all(index_of(letter) < len(sample.choices or ()) for letter in letters)
    except ValueError:
        return False


@settings(deadline=None)
@given(some_samples, st.randoms(use_true_random=False))
def test_first_sample_with_an_invalid_target_is_found(
    samples: list[Sample], rng: random.Random
) -> None:
    order = rng.sample(range(len(samples)), len(samples))
    bad = [place for place, row in enumerate(order) if samples[row].choices]
    bad = [place for place in bad if not fits(samples[order[place]])]
    found = choice_orders(file_of(samples), np.array(order), 3)[1]
    assert found == (bad[0] if bad else None)


def test_choice_orders_do_not_depend_on_the_chunk_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    samples = [Sample("q", choices=["x"] * (row % 4) or None, target="A") for row in range(50)]
    rows = np.arange(len(samples))[::-1]
    whole = choice_orders(file_of(samples), rows, 3)[0]
    monkeypatch.setattr("registry.store.views._ROWS_AT_ONCE", 7)
    parts = choice_orders(file_of(samples), rows, 3)[0]
    assert whole is not None
    assert parts is not None
    assert whole.tolist() == parts.tolist()


# --- orders ---


@pytest.mark.parametrize("count", [0, 1, 7])
def test_orders_are_those_of_the_loaders(count: int) -> None:
    wanted = list(range(count))
    random.Random(3).shuffle(wanted)
    assert row_order(count, "file", 3).tolist() == wanted
    hub = np.random.default_rng(3).permutation(count)
    assert row_order(count, "hub", 3).tolist() == hub.tolist()


def test_unseeded_hub_order_is_that_of_datasets() -> None:
    import datasets

    rows = datasets.Dataset.from_dict({"n": list(range(50))})
    state = np.random.get_state()  # noqa: NPY002
    theirs = [rows.shuffle()["n"], rows.shuffle()["n"]]
    np.random.set_state(state)  # noqa: NPY002
    ours = [row_order(50, "hub", None).tolist() for _ in range(2)]
    assert ours == [list(order) for order in theirs]
    assert ours[0] != ours[1]


def test_choices_are_shuffled_in_the_order_of_the_view() -> None:
    samples = [Sample(str(row), choices=["a", "b", "c"], target="A") for row in range(4)]
    rng, rows = random.Random(5), np.array([2, 0])
    drawn = {row: shuffle_positions(3, rng) for row in rows.tolist()}
    orders, bad = choice_orders(file_of(samples), rows, 5)
    assert bad is None
    assert orders is not None
    assert [orders[3 * row : 3 * row + 3].tolist() for row in (2, 0)] == [drawn[2], drawn[0]]
    assert orders[3:6].tolist() == [0, 0, 0]
    assert choice_orders(file_of(samples), rows, None) == (None, None)


@pytest.mark.parametrize(
    ("rows", "bad", "limit", "expected"),
    [
        (None, None, 2, ([0, 1], None)),
        ([3, 1, 2], 2, 2, ([3, 1], None)),
        ([3, 1, 2], 1, 2, ([3, 1], 1)),
        ([3, 1, 2], 1, 0, ([], None)),
    ],
)
def test_a_limit_takes_the_first_samples(
    rows: list[int] | None, bad: int | None, limit: int, expected: tuple[list[int], int | None]
) -> None:
    view = ViewArrays(None if rows is None else np.array(rows, np.int64), None, bad)
    limited = view.limited(limit, 4)
    assert limited.rows is not None
    assert (list(limited.rows[:]), limited.first_bad) == expected


@pytest.mark.parametrize("limit", [None, 4, 5])
def test_a_limit_beyond_the_end_changes_nothing(limit: int | None) -> None:
    view = ViewArrays()
    assert view.limited(limit, 4) is view


# --- in the cache ---


@pytest.fixture
def file() -> SampleFile:
    return file_of([Sample(str(row), choices=["a", "b"], target="A") for row in range(9)])


def opened(file: SampleFile, cache: Cache, **options: Any) -> ViewArrays:
    keys: dict[str, Any] = {"samples": "sha256:0", "order": "file", "seed": 1, "choice_seed": 2}
    return open_view(file, cache, **{**keys, **options})


def as_lists(view: ViewArrays) -> Any:
    arrays = (view.rows, view.choices)
    return [None if one is None else list(one[:]) for one in arrays], view.first_bad


def test_a_view_without_seeds_is_the_file(file: SampleFile, cache_dir: Path) -> None:
    assert opened(file, Cache(cache_dir), seed=None, choice_seed=None) == ViewArrays()
    assert not cache_dir.exists()


@pytest.mark.parametrize("seeds", [(1, 2), (1, None), (None, 2)])
def test_a_stored_view_is_the_computed_one(
    file: SampleFile, cache_dir: Path, seeds: tuple[int | None, int | None]
) -> None:
    options = dict(zip(("seed", "choice_seed"), seeds, strict=True))
    first = opened(file, Cache(cache_dir), **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(views, "choice_orders", lambda *_: pytest.fail("was computed again"))
        assert as_lists(opened(file, Cache(cache_dir), **options)) == as_lists(first)
    assert [first.rows is None, first.choices is None] == [seed is None for seed in seeds]


def test_every_argument_changes_the_view(file: SampleFile, cache_dir: Path) -> None:
    cache = Cache(cache_dir)
    others: list[dict[str, Any]] = [
        {},
        {"seed": 3},
        {"choice_seed": 3},
        {"order": "hub"},
        {"samples": "sha256:1"},
    ]
    for options in others:
        opened(file, cache, **options)
    assert len(list(cache.entries("views"))) == len(others)


def test_a_damaged_view_is_quarantined_and_computed_again(
    file: SampleFile, cache_dir: Path
) -> None:
    cache = Cache(cache_dir)
    first = opened(file, cache)
    (entry,) = cache.entries("views")
    path = entry.folder / "rows.npy"
    path.write_bytes(bytes(path.stat().st_size))
    assert as_lists(opened(file, cache)) == as_lists(first)
    assert len(list((cache_dir / "v3" / "quarantine").iterdir())) == 1


def test_view_does_not_need_a_writable_cache(file: SampleFile, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    (blocked / "v3").mkdir(parents=True)
    (blocked / "v3" / "tmp").write_bytes(b"")
    view = opened(file, Cache(blocked))
    assert as_lists(view) == as_lists(opened(file, Cache(tmp_path / "cache")))


# --- the rows of a value of the metadata ---


LEVELS: list[Any] = [1, 2.5, "a", None, True, "a", 1, ["x"], "true"]


@pytest.fixture
def qa(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[ArrowDataset, Cache]:
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
    qa: tuple[ArrowDataset, Cache],
) -> None:
    dataset, cache = qa
    file, _ = dataset.as_opened()
    for _ in range(2):  # computed, then read from the cache
        found = value_rows(file, cache, samples="sha256:" + "0" * 64, key="level")
        assert list(found.values) == [1, 2.5, "a", None, True, ["x"], "true"]
        assert [found.of(one).tolist() for one in found.values] == [
            *([0, 6], [1], [2, 5], [3], [4], [7], [8]),
        ]
        assert [found.count(number) for number in range(7)] == [2, 1, 2, 1, 1, 1, 1]


def test_values_that_json_lacks_are_found_again(
    qa: tuple[ArrowDataset, Cache], monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, cache = qa
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
    qa: tuple[ArrowDataset, Cache], tmp_path: Path, only: dict[str, Any], inputs: list[str]
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
    qa: tuple[ArrowDataset, Cache], tmp_path: Path
) -> None:
    text = (tmp_path / "datasets.yaml").read_text()
    (tmp_path / "datasets.yaml").write_text(text + "  a: {extends: qa, only: {level: a}}\n")
    first, whole = get_dataset("a", root=tmp_path), qa[0]
    assert len(first) == 2
    assert first.provenance.fingerprint == whole.provenance.fingerprint
    assert first.provenance.view == {"only": {"level": "a"}}
    assert len(list((tmp_path / "cache").glob("*/samples/*"))) == 1


def test_a_value_that_no_sample_has_is_an_error_with_the_nearest(
    qa: tuple[ArrowDataset, Cache],
) -> None:
    dataset, cache = qa
    file, _ = dataset.as_opened()
    with pytest.raises(ExpectationError, match=r"no sample has 'ture' as `level`.*mean 'True'"):
        selected_rows(file, cache, samples="sha256:" + "1" * 64, only={"level": "ture"})
    with pytest.raises(ExpectationError, match=r"values: None\)"):
        selected_rows(file, cache, samples="sha256:" + "1" * 64, only={"levle": 7})
