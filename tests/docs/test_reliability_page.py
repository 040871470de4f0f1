"""docs/reliability.md and `tests/faults` have the same promises."""

from __future__ import annotations

import re

import pytest

from tests.conftest import REPOSITORY
from tests.faults.page import FAULTS, PAGE, promises, with_table

TESTS = sorted((REPOSITORY / "tests" / "faults").glob("test_*.py"))


def test_the_table_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_table(page), "run `make docs`"


@pytest.mark.parametrize("number", range(1, 39))
def test_each_fault_has_tests(number: int) -> None:
    assert FAULTS[number]
    assert promises()[number]


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_each_file_has_a_promise_and_tests(path: object) -> None:
    text = path.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    assert re.search(r"^def test_", text, re.MULTILINE)
    (promise,) = (one[path.name] for one in promises().values() if path.name in one)  # type: ignore[attr-defined]
    assert re.fullmatch(r"[A-Z`].*\.", promise)
    assert "|" not in promise


def test_linked_pages_exist() -> None:
    for link in re.findall(r"\]\(([\w./-]+)(?:#[\w-]+)?\)", PAGE.read_text(encoding="utf-8")):
        assert (PAGE.parent / link).exists()
