"""Shards: every dataset is in exactly one, whatever the machine, and they are about as large."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from registry.catalog.catalog import Catalog
from registry.lockfile.pin_cache import CatalogPins
from registry.settings import Settings, builtin_root
from registry.workflows.shard import Division, divide
from tests.conftest import CatalogRoot


@cache
def built_in() -> tuple[Catalog, CatalogPins]:
    found = Settings.from_environment(root=str(builtin_root()))
    return Catalog.open(found.index), CatalogPins.read(found)


def divided(names: list[str], count: int) -> Division:
    catalog, pins = built_in()
    return divide(names, catalog, count, pin_of=lambda spec: pins.get(spec.name, spec.folder))


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
    largest = max(divided(names, len(names)).bytes)
    assert max(found.bytes) <= sum(found.bytes) / count + largest
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
    division = divide("abcde", Catalog.open(root), 4, pin_of=lambda spec: None)
    assert sorted(map(tuple, division.shards)) == [(), ("a", "b", "c"), ("d",), ("e",)]
