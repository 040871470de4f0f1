"""Checks that are still possible in a catalog with schema problems."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.catalog.catalog import Catalog
from registry.lint.partial import CheckableEntries, checkable_entries

CSV = "source: {type: csv, path: x}"


def checkable_of(root: Path, datasets: str) -> CheckableEntries:
    (root / "datasets.yaml").write_text("version: 1\ninclude: [m.yaml]\n", encoding="utf-8")
    (root / "m.yaml").write_text(f"datasets: {datasets}\n", encoding="utf-8")
    return checkable_entries(Catalog.open(root))


def test_valid_entries_are_checked_in_full(tmp_path: Path) -> None:
    checkable = checkable_of(tmp_path, f"{{d: {{{CSV}}}}}")
    assert checkable.unchecked == {}
    assert checkable.unchecked_keys("d") is None
    assert checkable.entries["d"].value == {"source": {"type": "csv", "path": "x"}}


@pytest.mark.parametrize(
    ("keys", "left", "unchecked"),
    [
        (f"{CSV}, limit: few", {"source"}, {"limit"}),
        (f"{CSV}, limitt: 1", {"source"}, {"limitt"}),
        (f"{CSV}, seed: few, shuffle: true", {"source", "shuffle"}, {"seed", "shuffle"}),
        (f"{CSV}, shuffle: 3, seed: 1", {"source", "seed"}, {"seed", "shuffle"}),
        ("source: {type: csv, pth: x}, limit: 1", {"limit"}, {"source", "concat"}),
        (f"{CSV}, fields: {{input: q, targt: a}}", {"source"}, {"fields"}),
    ],
)
def test_invalid_keys_and_keys_that_depend_on_them_are_unchecked(
    tmp_path: Path, keys: str, left: set[str], unchecked: set[str]
) -> None:
    checkable = checkable_of(tmp_path, f"{{d: {{{keys}}}}}")
    assert set(checkable.unchecked_keys("d") or ()) == unchecked
    assert checkable.entries["d"].value.keys() == left


def test_invalid_keys_of_an_ancestor_are_unchecked_in_its_dependents(tmp_path: Path) -> None:
    checkable = checkable_of(
        tmp_path,
        f"{{a: {{{CSV}, limit: few}}, b: {{extends: a, seed: x}}, c: {{extends: b}},"
        f" other: {{{CSV}}}}}",
    )
    assert checkable.unchecked_keys("c") == frozenset({"limit", "seed", "shuffle"})
    assert checkable.unchecked_keys("a") == frozenset({"limit"})
    assert checkable.unchecked_keys("other") is None


def test_cycle_of_invalid_datasets_ends(tmp_path: Path) -> None:
    checkable = checkable_of(tmp_path, "{a: {extends: b, limit: few}, b: {extends: a}}")
    assert checkable.unchecked_keys("b") == frozenset({"limit"})


def test_nothing_is_checked_in_a_document_that_is_nested_too_deeply(tmp_path: Path) -> None:
    deep = "[" * 40 + "]" * 40
    checkable = checkable_of(tmp_path, f"{{d: {{{CSV}, where: {deep}}}}}")
    assert checkable.unchecked_keys("d") == frozenset({"extends"})
