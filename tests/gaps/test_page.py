"""What docs/reference/datasets.md says is missing is missing, and what it says is there is there."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from registry.catalog.catalog import Catalog
from registry.lockfile.models import read_lock
from registry.lockfile.pinned import state_of
from tests.evidence.rows import REPOSITORY
from tests.gaps.page import PAGE, Family, datasets_page, read_gaps

GAPS = read_gaps()
CATALOG = Catalog.open(REPOSITORY / "datasets.yaml")
NAMES = [*CATALOG, *CATALOG.groups]


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == datasets_page(GAPS)


def test_each_dataset_is_determined_or_on_the_list_with_a_reason() -> None:
    """`registry lock` verifies what has no commit, so a dataset leaves the list when it is locked."""
    lock = read_lock(REPOSITORY / "datasets.lock")
    assert lock is not None
    floating = [
        name for name, spec in CATALOG.items() if state_of(spec, lock.pins.get(name)) == "floating"
    ]
    assert sorted(floating) == sorted(GAPS.floating)


@pytest.mark.parametrize("family", GAPS.families, ids=lambda family: family.title)
def test_a_family_is_in_the_catalog_or_has_a_reason(family: Family) -> None:
    if family.reason:
        assert family.found(NAMES) == [], "remove the reason: it is there"
    for pattern in () if family.reason else family.names:
        assert replace(family, names=(pattern,)).found(NAMES), f"{pattern} is not there"


def test_left_out_datasets_are_not_in_the_catalog_and_sorted() -> None:
    assert set(GAPS.left_out) & set(NAMES) == set()
    for section in (GAPS.left_out, GAPS.inspect_evals):
        assert list(section) == sorted(section)
    references = {
        reason.split("`")[1] for reason in GAPS.inspect_evals.values() if reason.startswith("see `")
    }
    assert references <= set(GAPS.left_out)
