"""docs/explanation/reliability.md and `tests/faults` have the same promises."""

from __future__ import annotations

import re
from itertools import chain

import pytest

from tests.conftest import REPOSITORY
from tests.faults.page import FAULTS, PAGE, FaultTests, files_by_fault, with_table


def test_the_table_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_table(page), "run `make docs`"


def test_each_fault_has_tests() -> None:
    assert sorted(files_by_fault()) == sorted(FAULTS) == list(range(1, 39))


@pytest.mark.parametrize(
    "tests", list(chain.from_iterable(files_by_fault().values())), ids=lambda one: one.name
)
def test_each_file_has_tests_and_one_promise(tests: FaultTests) -> None:
    text = (REPOSITORY / "tests" / "faults" / tests.name).read_text(encoding="utf-8")
    assert re.search(r"^def test_", text, re.MULTILINE)
    assert re.fullmatch(r"[A-Z`][^|]*\.", tests.promise)
