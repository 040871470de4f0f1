"""The pages of the operations and the rules are those of their tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from registry.docgen import operations_page, rules_page

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize(
    ("name", "page"), [("operations.md", operations_page), ("rules.md", rules_page)]
)
def test_the_page_is_the_one_that_make_docs_writes(name: str, page: Callable[[], str]) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == page()
