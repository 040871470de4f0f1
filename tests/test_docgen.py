"""The pages of operations, rules and the network match their tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from registry.docgen import network_page, operations_page, rules_page

DOCS = Path(__file__).parents[1] / "docs" / "reference"


@pytest.mark.parametrize(
    ("name", "page"),
    [("operations.md", operations_page), ("rules.md", rules_page), ("network.md", network_page)],
)
def test_generated_page_is_up_to_date_with_make_docs(name: str, page: Callable[[], str]) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == page()
