"""The pages that `make docs` generates are those of the tables, schemas and docstrings."""

from __future__ import annotations

import pytest

from registry import docgen
from tests.conftest import REPOSITORY
from tests.docs import reference

PAGES = {**docgen.PAGES, **reference.PAGES}


@pytest.mark.parametrize("name", PAGES)
def test_generated_page_is_up_to_date_with_make_docs(name: str) -> None:
    page = REPOSITORY / "docs" / "reference" / f"{name}.md"
    assert page.read_text(encoding="utf-8") == PAGES[name](), "run `make docs`"
