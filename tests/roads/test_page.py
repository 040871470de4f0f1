"""docs/explanation/columns.md is current, and tells apart what is mapped by column and by record."""

from __future__ import annotations

from tests.roads.page import PAGE, columns_page, way_of


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == columns_page(), "run `make docs`"


def test_plain_columns_are_mapped_wholly_by_column() -> None:
    way = way_of("mmlu")
    assert (way.kind, way.reason) == ("wholly", "")
