"""YAML in which everything is visible, and which parses to the same data."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from registry.base.escape import escape_lines
from registry.cli.formats.yaml_text import yaml_text

PARTS = ["::", "error", "##[x]", "##vso[", "\n", " ", "\x1b", "\u2028", "\u202e", "'", '"', "\\"]
HOSTILE = st.lists(st.sampled_from([*PARTS, "word " * 30])).map("".join)


def test_plain_text_is_written_as_usual() -> None:
    data = {"b": ["x", "é 日本"], "a": {"long": "word " * 30}}
    usual = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)
    assert yaml_text(data) == usual


@pytest.mark.parametrize("value", ["\x1b[2J", "\u202e", "##[error]x", f"{'x' * 99} ::error::x"])
def test_other_text_is_in_double_quotes_with_escapes(value: str) -> None:
    text = yaml_text({"a": value})
    assert '"' in text
    assert escape_lines(text) == text
    assert yaml.safe_load(text) == {"a": value}


@given(st.dictionaries(HOSTILE, HOSTILE | st.lists(HOSTILE)))
def test_any_text_is_the_same_data(data: object) -> None:
    text = yaml_text(data)
    assert yaml.safe_load(text) == data
    assert escape_lines(text) == text
