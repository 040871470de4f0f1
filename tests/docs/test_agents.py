"""What AGENTS.md tells assistants to write: each expression of its table gives the value it says."""

from __future__ import annotations

import re
from typing import Any

import pytest

from registry.yamldoc.reader import parse_yaml
from tests.conftest import REPOSITORY
from tests.mapping.one_record import sample_of

TABLE = re.findall(r"^\| (?!the data|---)(.*?) \| (.*) \|$", (REPOSITORY / "AGENTS.md").read_text("utf-8"), re.MULTILINE)  # fmt: skip
EXPRESSIONS = [code for _, cell in TABLE for code in re.findall(r"`(\{.*?\})`", cell)]
CHOICES = {"choices": ["red", "blue"], "option_a": "red", "option_b": "blue"}
# Expression → field, record, value.
SHOWN: dict[str, tuple[str, dict[str, Any], Any]] = {  # `...`: any value
    "{from: answer, do: [letter]}": ("target", {"answer": 1}, "B"),
    "{from: answer, do: [{letter: {base: 1}}]}": ("target", {"answer": 1}, "A"),
    "{from: answer, do: [strip, upper]}": ("target", {"answer": " b"}, "B"),
    "{from: answer, do: [{letter_in: choices}]}": ("target", {"answer": "blue", **CHOICES}, "B"),
    '{from: answer, do: [{map: {yes: "A", no: "B"}}]}': ("target", {"answer": "no"}, "B"),
    '{from: options, do: [{each: [{regex: "(?s)^[A-E][)] *(.*)$"}]}]}': ("choices", {"options": ["A) red", "B)x\ny"]}, ["red", "x\ny"]),
    "{from: tags, do: [parse]}": ("choices", {"tags": '["a", "b"]'}, ["a", "b"]),
    '{from: tags, do: [{split: ";"}]}': ("choices", {"tags": "a;b"}, ["a", "b"]),
    "{from: choices, do: [items]}": ("choices", {"choices": {"A": "red", "B": "blue"}}, ["red", "blue"]),
    "{from: turns, do: [{pluck: content}, {index: 0}]}": ("target", {"turns": [{"content": "x"}]}, "x"),
    "{from: a, do: [{coalesce: [b]}]}": ("target", {"a": None, "b": "x"}, "x"),
    "{from: messages, do: [messages]}": ("input", {"messages": [{"role": "user", "content": "x"}]}, ...),
    "{from: hint, do: [{default: null}]}": ("setup", {}, None),
    '{const: "Yes"}': ("target", {}, "Yes"),
    '{from: answer, do: [{split: "####"}, {index: -1}, strip]}': ("target", {"answer": "x #### 42"}, "42"),
    "{from: answer, do: [{letter_in: [option_a, option_b]}]}": ("target", {"answer": "blue", **CHOICES}, "B"),
    '{template: "{question}{?hint}\\n\\nHint: {hint}{/}"}': ("input", {"question": "q", "hint": None}, "q"),
    "{row_number: 1}": ("id", {}, 17),
    "{hash: [question, answer]}": ("id", {"question": "q", "answer": "a"}, ...),
}  # fmt: skip


def test_the_table_has_these_expressions() -> None:
    assert [*SHOWN] == EXPRESSIONS


@pytest.mark.parametrize("expression", SHOWN)
def test_an_expression_gives_what_the_table_says(expression: str) -> None:
    field, record, value = SHOWN[expression]
    found = getattr(
        sample_of(parse_yaml(f"{field}: {expression}", file="AGENTS.md").value, record), field
    )
    assert found == value or (value is ... and found)
