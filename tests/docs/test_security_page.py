"""SECURITY.md and `tests/security` have the same promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| ?\d* \| .*`test_", line)]
TESTS = sorted(
    path.name
    for path in (REPOSITORY / "tests" / "security").glob("test_*.py")
    if re.match("test_(attack|review)_", path.name)
)


def test_each_test_has_a_row_and_each_row_a_test() -> None:
    assert len(TESTS) > 30
    assert sorted(name for row in ROWS for name in re.findall(r"`(test_\w+\.py)`", row)) == TESTS


@pytest.mark.parametrize(("kind", "count"), [("attack", 14), ("review", 14)])
def test_each_number_has_a_row_with_its_tests(kind: str, count: int) -> None:
    numbers = []
    for row in ROWS:
        _, number, _, tests, _ = row.split("|")
        if number.strip() and f"test_{kind}_" in tests.split(",")[0]:
            numbers.append(int(number))
            assert f"test_{kind}_{int(number):02}_" in tests
    assert numbers == list(range(1, count + 1))


@pytest.mark.parametrize("name", TESTS)
def test_a_file_of_tests_has_tests(name: str) -> None:
    text = (REPOSITORY / "tests" / "security" / name).read_text(encoding="utf-8")
    assert "\ndef test_" in text


def test_linked_pages_exist() -> None:
    links = re.findall(r"\]\(([\w./-]+)(?:#[\w-]+)?\)", PAGE)
    assert links
    assert [link for link in links if not (Path(REPOSITORY) / link).exists()] == []
