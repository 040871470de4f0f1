"""The cookbook's records produce its samples, and its mappings match the shipped ones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from registry import get_dataset
from registry.catalog.catalog import Catalog
from registry.manifest.models import DatasetSpec
from registry.manifest.validation import validate
from registry.yamldoc.reader import parse_yaml
from tests.conftest import REPOSITORY
from tests.docs.pages import DOCS, Block, sections
from tests.git_repository import write_files

PAGE = (DOCS / "reference" / "cookbook.md").read_text(encoding="utf-8")
NOT_SHIPPED = {"charts", "essays", "reviews", "traits"}
SOURCE_AND_WORDS = {"name", "description", "homepage", "license", "tags", "source", "concat"}
NOT_COMPARED = SOURCE_AND_WORDS | {"accept", "eval", "expect", "fewshot", "folder", "split"}


@dataclass(frozen=True)
class Recipe:
    title: str
    records: list[Any]
    manifest: str
    sample: dict[str, Any]
    side: str | None

    @property
    def name(self) -> str:
        (name,) = parse_yaml(self.manifest, file="cookbook.md").value["datasets"]
        return str(name)

    def write(self, folder: Path) -> Path:
        lines = "".join(f"{json.dumps(record)}\n" for record in self.records)
        index = "version: 1\ninclude: [manifest.yaml]\n"
        files = {"data.jsonl": lines, "manifest.yaml": self.manifest, "datasets.yaml": index}
        return write_files(folder, files | ({"side.csv": self.side} if self.side else {}))


def read(title: str, blocks: list[Block]) -> Recipe:
    records, sample = (json.loads(one.text) for one in blocks if one.language == "json")
    (manifest,) = (one.text for one in blocks if one.language == "yaml")
    side = next((one.text for one in blocks if one.language == "csv"), None)
    listed = records if isinstance(records, list) else [records]
    return Recipe(title, listed, manifest, sample, side)


RECIPES = [read(*section) for section in sections(PAGE).items()]
SHIPPED = [recipe for recipe in RECIPES if recipe.name not in NOT_SHIPPED]


def without_message_ids(sample: dict[str, Any]) -> dict[str, Any]:
    if isinstance(sample["input"], str):
        return sample
    messages = [
        {key: value for key, value in message.items() if key != "id"} for message in sample["input"]
    ]
    return {**sample, "input": messages}


def mapping(spec: DatasetSpec) -> dict[str, Any]:
    return {key: getattr(spec, key) for key in spec.__struct_fields__ if key not in NOT_COMPARED}


def test_cookbook_has_at_least_ten_recipes_of_distinct_datasets() -> None:
    assert len(RECIPES) >= 10
    assert len({recipe.name for recipe in RECIPES}) == len(RECIPES)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_recipe_produces_the_sample_on_the_page(recipe: Recipe, tmp_path: Path) -> None:
    assert validate(parse_yaml(recipe.manifest, file=recipe.title), "manifest") == []
    dataset = get_dataset(recipe.name, root=recipe.write(tmp_path))
    sample = dataset[0].model_dump(mode="json", exclude_none=True)
    assert without_message_ids(sample) == recipe.sample


@pytest.mark.parametrize("recipe", SHIPPED, ids=lambda recipe: recipe.name)
def test_recipe_maps_like_the_built_in_dataset(recipe: Recipe, tmp_path: Path) -> None:
    here = Catalog.open(recipe.write(tmp_path)).resolve(recipe.name)
    shipped = Catalog.open(REPOSITORY).resolve(recipe.name)
    assert mapping(here) == mapping(shipped)
