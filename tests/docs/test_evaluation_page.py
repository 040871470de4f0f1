"""The page about evaluation: each built-in dataset has an `eval` block, or a reason there."""

from __future__ import annotations

import re
from pathlib import Path

from registry import list_datasets
from registry.catalog.catalog import Catalog
from registry.manifest.models import DatasetSpec

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "evaluation.md").read_text(encoding="utf-8")


def specs() -> dict[str, DatasetSpec]:
    """Return the built-in datasets, each once: its splits have the same block."""
    catalog = Catalog.open(ROOT)
    return {name: catalog[name] for name in list_datasets(root=ROOT)}


def test_each_built_in_dataset_has_a_block_or_a_reason() -> None:
    catalog = specs()
    rows = PAGE.partition("| reason | datasets |")[2].splitlines()
    listed = [name for row in rows if row.startswith("|") for name in re.findall("`(.+?)`", row)]
    with_block = [name for name, spec in catalog.items() if spec.eval is not None]
    assert sorted([*listed, *with_block]) == sorted(catalog)
    assert PAGE.splitlines()[2].startswith(f"{len(with_block)} of the {len(catalog)} ")
    text = (ROOT / "docs" / "how-to" / "inspect.md").read_text(encoding="utf-8")
    assert f"{len(with_block)} of the {len(catalog)} built-in datasets have an `eval` block" in text


def test_blocks_with_our_own_instructions_are_marked() -> None:
    table = PAGE.partition("| datasets | 1.0 means |")[2].partition("\n\n")[0]
    marked = [name for row in table.splitlines() for name in re.findall("`(.+?)`", row)]
    with_template = [
        name
        for name, spec in specs().items()
        if spec.eval
        and any({"template", "instructions"} & one.args.keys() for one in spec.eval.scorer)
    ]
    assert sorted(marked) == sorted(with_template)
    assert f"These {len(with_template)} are judged" in PAGE


def test_demo_data_needs_no_block() -> None:
    assert "`demo-" not in PAGE
