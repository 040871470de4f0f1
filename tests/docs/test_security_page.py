"""SECURITY.md and `tests/security` have the same promises."""

from __future__ import annotations

import re
from fnmatch import filter as fnmatch_filter
from fnmatch import fnmatch

import pytest

from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| ?\d* \| .*`test_", line)]
TESTS = sorted(
    path.name
    for path in (REPOSITORY / "tests" / "security").glob("test_*.py")
    if re.match("test_(attack|review)_", path.name)
)


PATTERNS = [name for row in ROWS for name in re.findall(r"`(test_[\w*]+\.py)`", row)]


@pytest.mark.parametrize("name", TESTS)
def test_each_file_of_tests_has_one_row(name: str) -> None:
    assert [fnmatch(name, pattern) for pattern in PATTERNS].count(True) == 1


@pytest.mark.parametrize("pattern", PATTERNS)
def test_each_row_has_tests(pattern: str) -> None:
    assert fnmatch_filter(TESTS, pattern)


@pytest.mark.parametrize("kind", ["attack", "review"])
def test_each_number_has_a_row(kind: str) -> None:
    numbers = re.findall(rf"^\| (\d+) \| .*`test_{kind}_(\d+)_\*\.py`", PAGE, re.MULTILINE)
    assert len(numbers) >= 14
    assert [(int(number), int(test)) for number, test in numbers] == [
        (number, number) for number in range(1, len(numbers) + 1)
    ]


@pytest.mark.parametrize("name", TESTS)
def test_a_file_of_tests_has_tests(name: str) -> None:
    text = (REPOSITORY / "tests" / "security" / name).read_text(encoding="utf-8")
    assert "\ndef test_" in text
