"""The fingerprint changes with everything that determines samples, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.manifest.models import to_spec
from registry.pipeline.fingerprint import first_fingerprint, samples_fingerprint
from registry.sources.pins import Pins, SourcePin

SOURCE: dict[str, Any] = {"type": "csv", "path": ["/a/x.csv"]}
JSON: dict[str, Any] = {"type": "json", "path": ["/a/x.json"]}
HUB: dict[str, Any] = {"type": "hf", "path": "a/b", "split": "t"}
PINS = Pins((SourcePin({"files": [["0", ".csv"]]}),))


def fingerprint(pins: Pins = PINS, **keys: Any) -> str:
    spec = {"name": "d", "folder": Path("/c"), "source": SOURCE, **keys}
    return samples_fingerprint(to_spec(spec), pins)


def test_the_value_matches_existing_cache_entries() -> None:
    # A change makes every cached dataset of every user be built again: it needs a new format.
    expected = "sha256:573a86c32752b7b9b38c06ba94da8fea3bbb4d2566078d6bc49455d3a3218bf2"
    assert fingerprint() == expected
    expected = "sha256:4ffa04a26d7e9f9c733d1431021232b3c2f520d835b62cd30c77ed5a21053401"
    assert fingerprint(source=JSON) == expected


@pytest.mark.parametrize(
    "keys",
    [
        {"name": "other"},
        {"folder": Path("/other")},
        {"description": "x", "license": {"spdx": "MIT"}, "tags": ["x"], "homepage": "https://x"},
        {"view": {"limit": 1, "shuffle": True, "seed": 1, "shuffle_choices": 2}},
        {"expect": {"samples": 3, "unique_ids": True}},
        {"accept": ["blank_targets"]},
        {"eval": {"scorer": [{"name": "match"}]}},
        {"source": {**SOURCE, "path": ["/b/y.csv"]}},
        {"source": {**SOURCE, "fs_options": {"anon": True}}},
    ],
    ids=str,
)
def test_the_fingerprint_ignores_what_does_not_determine_samples(keys: dict[str, Any]) -> None:
    assert fingerprint(**keys) == fingerprint()


DIFFERENT: list[dict[str, Any]] = [
    {},
    {"fields": {"input": "q"}},
    {"fields": {"target": "target"}},
    {"fields": {"input": {"from": "q", "do": [{"replace": {"a": "b", "b": "c"}}]}}},
    {"fields": {"input": {"from": "q", "do": [{"replace": {"b": "c", "a": "b"}}]}}},
    {"fields": {"metadata": {"a": "a", "b": "b"}}},
    {"fields": {"metadata": {"b": "b", "a": "a"}}},
    {"where": {"value": "a", "equals": 1}},
    {"explode": {"column": "a"}},
    {"sample": {"n": 1, "seed": 1}},
    {"sample": {"n": 1, "seed": 2}},
    {"on_duplicate": "drop"},
    {"on_duplicate": "suffix"},
    {"view": {"auto_id": True}},
    {"source": {**SOURCE, "encoding": "latin-1"}},
    {"source": {**SOURCE, "columns": {"a": 1}}},
    {"source": {**SOURCE, "columns": {"a": True}}},
    {"source": {**SOURCE, "path": ["https://host/a/x.csv"]}},
    {"source": {**SOURCE, "path": ["https://host/b/x.csv"]}},
    {"source": JSON},
    {"source": {**JSON, "lines": True}},
    {"source": HUB},
    {"source": {**HUB, "split": "u"}},
    {"pins": Pins((SourcePin({"files": [["1", ".csv"]]}),))},
]


def test_the_fingerprint_changes_with_what_determines_samples() -> None:
    assert len({fingerprint(**keys) for keys in DIFFERENT}) == len(DIFFERENT)


@pytest.mark.parametrize("key", ["path", "revision", "trust", "cached"])
def test_a_repository_is_identified_only_by_its_pin(key: str) -> None:
    changed = {**HUB, key: {"path": "c/d", "revision": "main", "trust": True, "cached": False}[key]}
    assert fingerprint(source=changed) == fingerprint(source=HUB)


def test_the_fingerprint_includes_the_pin_and_keys_of_the_lookup_table() -> None:
    join = {"source": SOURCE, "on": "a", "into": "b"}
    first, second = (Pins(PINS.sources, SourcePin({"side": number})) for number in (1, 2))
    found = {
        fingerprint(first, join=join),
        fingerprint(second, join=join),
        fingerprint(first, join={**join, "missing": "null"}),
        fingerprint(first, join={**join, "source": {**SOURCE, "encoding": "latin-1"}}),
    }
    assert len(found) == 4
    assert fingerprint(first, join={**join, "source": {**SOURCE, "path": ["/y"]}}) in found


def test_first_samples_have_a_key_for_each_limit() -> None:
    spec = to_spec({"name": "d", "folder": Path("/c"), "source": SOURCE})
    keys = {samples_fingerprint(spec, PINS), *(first_fingerprint(spec, PINS, n) for n in (1, 2))}
    assert len(keys) == 3


def test_the_pins_of_one_spec_may_change() -> None:
    spec = to_spec({"name": "d", "folder": Path("/c"), "source": SOURCE})
    other = Pins((SourcePin({"files": [["1", ".csv"]]}),))
    found = [samples_fingerprint(spec, pins) for pins in (PINS, other, PINS)]
    assert found == [fingerprint(), fingerprint(other), fingerprint()]
