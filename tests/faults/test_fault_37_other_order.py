"""With a lock, a library that shuffles differently is a LockError, and nothing of it is cached. The order of samples and choices, and ids, never change: constants hold each feature that determines them."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import inspect_ai.dataset
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from registry.cli import main
from tests.conftest import OneDataset
from tests.faults.background import finish, load, loaded, start
from tests.faults.process import write_catalog

RECORDS = [
    {
        "q": f"question {n}",
        "c": [f"{n} {word}" for word in ("one", "two", "three", "four")],
        "a": "ABCD"[n * 7 % 4],
        "topic": f"t{n * n % 11 % 4}",
        "parts": [f"part {n}.{part}" for part in range(n % 4)],
    }
    for n in range(200)
]
AGAIN = RECORDS[150:40:-2]
"""Records that are in a second file, too."""
ROWS = "source: {type: json, path: d.jsonl}"
HUB = "source: {type: parquet, path: d.parquet}"  # shuffled as `hf` is
BOTH = "concat: [{path: d.jsonl}, {path: e.jsonl}]"
FIELDS = "fields: {input: q, choices: c, target: a, metadata: [topic]}"
HASH = "fields: {input: q, id: {hash: [q, c]}}"
LONG_HASH = "fields: {input: q, id: {hash: q, prefix: p, length: 32, algorithm: sha256}}"
SHUFFLED_LIST = "fields: {input: q, choices: {from: c, do: [{shuffle: q}]}}"
SHUFFLE, CHOICES = "shuffle: true, seed", "shuffle_choices: 7"
STRATIFIED = "sample: {n: 51, seed: 3, stratify_by: topic}"
PARTS = "fields: {input: {template: '{q} {index} {item}'}}"

# The digests of the samples on 2026-11-22, as `digest` computes them. Those of shuffles were then,
# and are below, the samples of Inspect's loaders or the rows of `datasets`. A value must not be
# changed with the code: locked datasets would have other samples, and evaluations other results.
GOLDEN = {
    "plain": (f"{ROWS}, {FIELDS}", "20be77e7fb1d4eed"),
    "limit": (f"{ROWS}, {FIELDS}, limit: 7", "b28088df501bc793"),
    "shuffle": (f"{ROWS}, {FIELDS}, {SHUFFLE}: 42", "936060f20f6cc994"),
    "shuffle-limit": (f"{ROWS}, {FIELDS}, {SHUFFLE}: 1, limit: 20", "dcbd243bbfe37acc"),
    "choices": (f"{ROWS}, {FIELDS}, {CHOICES}", "111d36c7e0873b84"),
    "shuffle-choices": (f"{ROWS}, {FIELDS}, {SHUFFLE}: 42, {CHOICES}", "7c8f9f2890d1bff3"),
    "shuffle-auto-id": (f"{ROWS}, {FIELDS}, auto_id: true, {SHUFFLE}: 42", "a2370a52e5cab5fb"),
    "hub-shuffle": (f"{HUB}, {FIELDS}, {SHUFFLE}: 42", "9243751201203038"),
    "hub-shuffle-limit": (f"{HUB}, {FIELDS}, {SHUFFLE}: 1, limit: 20", "9500c214687b546e"),
    "hub-choices": (f"{HUB}, {FIELDS}, {SHUFFLE}: 42, {CHOICES}", "ffc308540c446436"),
    "sample": (f"{ROWS}, {FIELDS}, sample: {{n: 50, seed: 3}}", "d73914d91cdb5b2d"),
    "stratified": (f"{ROWS}, {FIELDS}, {STRATIFIED}", "67bca20c1ad09094"),
    "hub-stratified": (f"{HUB}, {FIELDS}, {STRATIFIED}", "67bca20c1ad09094"),
    "sample-shuffle": (
        f"{ROWS}, {FIELDS}, sample: {{n: 50, seed: 3}}, {SHUFFLE}: 3",
        "e0e4ae86facb2ff9",
    ),
    "hash": (f"{ROWS}, {HASH}", "a20a844b7d52c2f2"),
    "hash-sha256": (f"{ROWS}, {LONG_HASH}", "58314360cde2587d"),
    "list-shuffle": (f"{ROWS}, {SHUFFLED_LIST}", "576b31680e73532e"),
    "explode": (f"{ROWS}, explode: parts, {PARTS}", "20ce20708aae090b"),
    "explode-shuffle": (f"{ROWS}, explode: parts, {PARTS}, {SHUFFLE}: 5", "eb5e40121ca8d473"),
    "concat": (f"{ROWS}, {BOTH}, {FIELDS}", "c5d5d89ed3235dd2"),
    "concat-shuffle": (f"{ROWS}, {BOTH}, {FIELDS}, {SHUFFLE}: 5", "73fa5fe95f7937e8"),
    "suffix": (f"{ROWS}, {BOTH}, {HASH}, on_duplicate: suffix", "91071062c17767a2"),
    "drop": (f"{ROWS}, {BOTH}, {HASH}, on_duplicate: drop", "a20a844b7d52c2f2"),
    "suffix-sample": (
        f"{ROWS}, {BOTH}, {HASH}, on_duplicate: suffix, sample: {{n: 40, seed: 9}}",
        "d8d76d7a943a8dd9",
    ),
}


def digest(samples: list[list[Any]]) -> str:
    return hashlib.sha256(json.dumps(samples).encode()).hexdigest()[:16]


SCRIPT = """
import json, sys
from registry import get_dataset

def row(sample):
    return [sample.id, sample.input, sample.choices, sample.target]

print(json.dumps({name: list(map(row, get_dataset(name))) for name in sys.argv[1:]}))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("golden")
    for name, records in {"d": RECORDS, "e": AGAIN}.items():
        (made / f"{name}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records))
    pq.write_table(pa.Table.from_pylist(RECORDS), made / "d.parquet")
    return write_catalog(
        made, "".join(f"  {name}: {{{keys}}}\n" for name, (keys, _) in GOLDEN.items())
    )


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, list[list[Any]]]:
    """Return id, input, choices and target of the samples of each dataset."""
    code, out, err = finish(
        start(["-c", SCRIPT, *GOLDEN], folder, REGISTRY_CACHE_DIR=str(folder / "cache"))
    )
    assert code == 0, err
    samples: dict[str, list[list[Any]]] = json.loads(out)
    return samples


def test_samples_are_those_of_the_constants(found: dict[str, list[list[Any]]]) -> None:
    assert {name: digest(samples) for name, samples in found.items()} == {
        name: golden for name, (_, golden) in GOLDEN.items()
    }


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "limit": {"limit": 7},
    "shuffle": {"shuffle": True, "seed": 42},
    "shuffle-limit": {"shuffle": True, "seed": 1, "limit": 20},
    "choices": {"shuffle_choices": 7},
    "shuffle-choices": {"shuffle": True, "seed": 42, "shuffle_choices": 7},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_orders_are_those_of_inspect(
    folder: Path, found: dict[str, list[list[Any]]], name: str
) -> None:
    fields = inspect_ai.dataset.FieldSpec(input="q", choices="c", target="a")
    theirs = inspect_ai.dataset.json_dataset(str(folder / "d.jsonl"), fields, **OPTIONS[name])
    assert found[name] == [[one.id, one.input, one.choices, one.target] for one in theirs]


@pytest.mark.parametrize(("name", "seed"), [("hub-shuffle", 42), ("hub-shuffle-limit", 1)])
def test_orders_are_those_of_datasets(
    found: dict[str, list[list[Any]]], name: str, seed: int
) -> None:
    import datasets  # Takes seconds, in each process that only collects the tests.

    theirs = datasets.Dataset.from_list(RECORDS).shuffle(seed=seed)
    assert [one[1] for one in found[name]] == theirs["q"][: len(found[name])]


def test_a_subsample_is_that_of_the_random_module(found: dict[str, list[list[Any]]]) -> None:
    places = list(range(len(RECORDS)))
    random.Random(3).shuffle(places)
    assert [one[1] for one in found["sample"]] == [RECORDS[n]["q"] for n in sorted(places[:50])]


UPGRADE = """
import random

def shuffle(self, x):
    x.reverse()  # as an upgrade might: another order from the same seed

random.Random.shuffle = shuffle
"""
"""Run by each Python that starts with it on its path, before anything else is imported."""


@pytest.mark.parametrize("view", [{"shuffle": True, "seed": 3}, {"shuffle_choices": 5}], ids=str)
def test_changed_shuffle(
    one_dataset: OneDataset, cache_dir: Path, tmp_path: Path, view: Mapping[str, Any]
) -> None:
    records = [{"q": f"question {n}", "c": ["x", "y", "z"], "a": "A"} for n in range(50)]
    (tmp_path / "d.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records), "utf-8")
    (tmp_path / "upgrade").mkdir()
    (tmp_path / "upgrade" / "sitecustomize.py").write_text(UPGRADE, encoding="utf-8")
    root = one_dataset(
        {"type": "json", "path": str(tmp_path / "d.jsonl")},
        fields={"input": "q", "choices": "c", "target": "a"},
        **view,
    )
    assert main(["lock", "--root", str(root)]) == 0
    code, expected, err = loaded("data", root)
    assert (code, err) == (0, "")
    assert main(["cache", "clear", "--yes"]) == 0
    code, _, err = finish(load("data", root, PYTHONPATH=str(tmp_path / "upgrade")))
    assert code == 1
    assert err.startswith("LockError: data: its sources match datasets.lock, its samples differ: ")
    assert list(cache_dir.glob("v*/samples/*")) == list(cache_dir.glob("v*/views/*")) == []
    assert loaded("data", root) == (0, expected, "")
