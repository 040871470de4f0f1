"""Where keys and values end."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.cli.formats.spans import end_of, lines_of

TEXT = """\
datasets:
  qa: {tags: [a, 'b c'], 国国: "x\\ty"}
  other:
    extends: &name qa
    again: *name
    text: |
      lines
    ? complex
    : value
    rest: [
"""


def marked(line: int, start: int, *, key_only: bool) -> str | None:
    end = end_of(TEXT, line, start, key_only=key_only)
    return None if end is None else lines_of(TEXT)[line - 1][start:end]


@pytest.mark.parametrize(
    ("line", "start", "key", "value"),
    [
        (1, 0, "datasets", "datasets"),  # whose value is on other lines
        (2, 2, "qa", "qa: {tags: [a, 'b c'], 国国: \"x\\ty\"}"),
        (2, 7, "tags", "tags: [a, 'b c']"),
        (2, 13, "[a, 'b c']", "[a, 'b c']"),
        (2, 14, "a", "a"),
        (2, 17, "'b c'", "'b c'"),
        (2, 25, "国国", '国国: "x\\ty"'),
        (4, 4, "extends", "extends: &name qa"),
        (5, 4, "again", "again: *name"),
        (6, 4, "text", "text"),
        (8, 6, "complex", "complex"),
        (10, 4, "rest", "rest"),  # not closed
        (10, 5, None, None),
        (99, 0, None, None),
    ],
)
def test_end_of_a_key_with_and_without_its_value(
    line: int, start: int, key: str | None, value: str | None
) -> None:
    assert marked(line, start, key_only=True) == key
    assert marked(line, start, key_only=False) == value


@settings(deadline=None)
@given(st.text(alphabet="ab:[]{},'\"\n -&*|#\t", max_size=60), st.integers(1, 5), st.integers(0, 9))
def test_any_text_has_ends_within_its_lines(text: str, line: int, start: int) -> None:
    end = end_of(text, line, start, key_only=False)
    assert end is None or start <= end <= len(lines_of(text)[line - 1])


def test_deep_nesting_is_no_problem() -> None:
    assert end_of("[" * 100_000, 1, 0, key_only=False) is None


def test_lines_end_as_in_yaml() -> None:
    assert lines_of("a\r\nb\rc\n\nd") == ["a", "b", "c", "", "d"]
