"""The page of the operations is that of the table."""

from __future__ import annotations

from pathlib import Path

from registry.reference import operations_page

PAGE = Path(__file__).parents[1] / "docs" / "operations.md"


def test_the_page_is_the_one_that_make_docs_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == operations_page()
