"""docs/columns.md is current, and tells apart what is mapped by column and by record."""

from __future__ import annotations

from tests.roads.page import PAGE, columns_page, way_of


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == columns_page(), "run `make docs`"


def test_plain_columns_are_mapped_wholly_by_column() -> None:
    way = way_of("mmlu")
    assert (way.kind, way.rows, way.reason) == ("wholly", set(), "")


def test_records_of_one_json_document_are_mapped_one_by_one() -> None:
    assert "\n| cybermetric-80 | one JSON document |\n" in PAGE.read_text(encoding="utf-8")
