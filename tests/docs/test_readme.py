"""The figures in the README are those of the catalog and of the benchmarks; its blocks run elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

from registry import list_datasets
from registry.catalog.catalog import Catalog
from registry.mapping.operations import OPERATION_FAMILIES

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_states_the_number_of_datasets_and_operations() -> None:
    catalog = Catalog.open(ROOT / "datasets.yaml")
    names = list_datasets(root=ROOT)
    demo = [name for name in names if "demo" in catalog.tags_of(name)]
    assert f"has {len(names) - len(demo)} datasets beside {len(demo)} of demo data" in README
    operations = sum(len(family.OPERATIONS) for family in OPERATION_FAMILIES.values())
    assert f"[{operations} operations]" in README


def test_timings_in_the_readme_match_the_benchmarks() -> None:
    page = (ROOT / "docs" / "explanation" / "performance.md").read_text(encoding="utf-8")
    (cold, _), (warm, theirs) = (
        re.findall(
            rf"^\| real-process-{which} .*?\| ([\d,]+) ms \| inspect_ai ([\d,]+) ms",
            page,
            re.MULTILINE,
        )[0]
        for which in ("cold", "warm")
    )
    assert f"in {warm} ms instead of {theirs} ms, and in {cold} ms if nothing is cached" in README
