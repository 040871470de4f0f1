"""Records of public datasets map to the expected samples, field by field."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from registry.catalog.catalog import Catalog
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.row import Row

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("REGISTRY_SHARED", ROOT.parent / "shared"))
FILE = SHARED / "facts" / "mapping-examples.json"
EXAMPLES: dict[str, Any] = (
    json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {"none": None}
)
FIELDS = ("input", "target", "choices", "id", "metadata", "sandbox", "files", "setup")
NOT_SET: dict[str, Any] = {"target": ""}

# What an evaluation puts before the question is its own matter and no part of the dataset; the
# worked record has this text for it.
INSTRUCTIONS = {"bigcodebench-v0-1-2": "INSTR\n"}


def matches(value: Any, expected: Any) -> bool:
    """Compare with a value, or with the digest, length and parts of a text."""
    if isinstance(expected, dict) and "__sha256__" in expected:
        return (
            isinstance(value, str)
            and hashlib.sha256(value.encode()).hexdigest() == expected["__sha256__"]
            and len(value) == expected["__length__"]
            and all(part in value for part in expected["__contains__"])
        )
    if isinstance(expected, dict) and isinstance(value, dict):
        return list(value) == list(expected) and all(
            matches(value[key], expected[key]) for key in expected
        )
    if isinstance(expected, list) and isinstance(value, list):
        return len(value) == len(expected) and all(map(matches, value, expected))
    return bool(value == expected) and type(value) is type(expected)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.open(ROOT / "datasets.yaml")


@pytest.mark.skipif(not FILE.is_file(), reason="the worked records are not on this machine")
@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_example_record_maps_to_the_expected_sample(name: str, catalog: Catalog) -> None:
    example = EXAMPLES[name]
    mapper = FieldMapper(catalog.resolve(example["catalog_name"]).fields)
    sample = mapper.map(Row(example["record"])).model_dump()
    sample["input"] = INSTRUCTIONS.get(name, "") + sample["input"]
    expected = example["expected"]
    wrong = [
        (field, sample[field], expected.get(field, NOT_SET.get(field)))
        for field in FIELDS
        if not matches(sample[field], expected.get(field, NOT_SET.get(field)))
    ]
    assert wrong == []
