"""Prompts, choices and answers of lm-evaluation-harness as fields."""

from __future__ import annotations

import re
from typing import Any

import pytest

from registry.manifest.expressions import parse_expression
from registry.mapping.evaluate import compile_expression
from registry.mapping.row import Row
from registry.plugins.importers.field_code import UntranslatableError
from registry.plugins.importers.lm_eval_fields import choices_of, input_of, target_of
from registry.plugins.importers.tolerant_yaml import Tagged


@pytest.mark.parametrize(
    ("config", "expression"),
    [
        ({"doc_to_text": "query"}, "query"),
        ({"doc_to_text": "Answer Key"}, "Answer Key"),
        ({"doc_to_text": "Q: {{q}}"}, {"template": "Q: {q}"}),
        ({"doc_to_text": "{{q}}", "description": "Hi {x}\n"}, {"template": "Hi {{x}}\n{q}"}),
        ({"doc_to_text": "{{q}}", "description": "Be brief"}, {"template": "Be brief{q}"}),
        ({"doc_to_text": "{{q}} A:", "gen_prefix": "So:"}, {"template": "{q} A: So:"}),
        ({"doc_to_text": "{{q}} A:", "gen_prefix": " So:"}, {"template": "{q} A: So:"}),
        ({"doc_to_text": "{{q}}\n", "gen_prefix": "So:"}, {"template": "{q}\nSo:"}),
        (
            {"doc_to_text": "{{q}}?", "gen_prefix": "So:", "target_delimiter": "|"},
            {"template": "{q}?|So:"},
        ),
    ],
)
def test_input(config: dict[str, Any], expression: Any) -> None:
    assert input_of(config) == expression


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"doc_to_text": ""}, "the prompt is empty"),
        ({"doc_to_text": Tagged("!function", "utils.f")}, "`!function utils.f` is Python code"),
        ({}, "missing"),
        ({"doc_to_text": "{{q}}", "gen_prefix": "so"}, "`so` is a column or a text"),
        ({"doc_to_text": "{{q}}", "gen_prefix": "{{a}}"}, "is not known"),
    ],
)
def test_input_that_has_no_equivalent(config: dict[str, Any], message: str) -> None:
    with pytest.raises(UntranslatableError, match=message):
        input_of(config)


@pytest.mark.parametrize(
    ("raw", "expression"),
    [
        (["A", "B"], {"const": ["A", "B"]}),
        ({"x": "A", "y": "B"}, {"const": ["A", "B"]}),
        ("choices", "choices"),
        ("{{choices.text}}", "choices.text"),
        ("{{[a, b]}}", ["a", "b"]),
        ("['yes', 'no']", {"const": ["yes", "no"]}),
    ],
)
def test_choices(raw: Any, expression: Any) -> None:
    assert choices_of({"doc_to_choice": raw}) == expression


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (None, "it is missing"),
        (Tagged("!function", "f"), "`!function f` is Python code, which is not executed"),
        ("{{a}}, {{b}}", "`{{a}}, {{b}}` is not one expression"),
        ([["a"]], "a choice is neither a string nor a number"),
    ],
)
def test_choices_that_have_no_equivalent(raw: Any, reason: str) -> None:
    with pytest.raises(UntranslatableError, match=f"^{re.escape(reason)}$"):
        choices_of({"doc_to_choice": raw})


LETTERS = {"const": ["A", "B"]}


@pytest.mark.parametrize(
    ("raw", "expression"),
    [
        (1, {"const": "B"}),
        (26, {"const": "1"}),
        ("{{label.index(x)}}", {"from": "x", "do": [{"letter_in": "label"}]}),
        (
            "{{['p', 'q'].index(x.strip())}}",
            {"from": "x", "do": ["strip", {"letter_in": {"const": ["p", "q"]}}]},
        ),
        ("{{x-1}}", {"from": "x", "do": [{"letter": {"base": 1}}]}),
        ("{{['A', 'B'][x]}}", {"from": "x", "do": ["letter"]}),
        ("{{['A', 'B'][x-1]}}", {"from": "x", "do": [{"letter": {"base": 1}}]}),
        ("{{'B'}}", {"from": {"const": "B"}, "do": [{"letter_in": LETTERS}]}),
        ("{{1}}", {"const": "B"}),
        ("²", {"from": {"const": "²"}, "do": [{"letter_in": LETTERS}]}),
    ],
)
def test_letters(raw: Any, expression: Any) -> None:
    assert target_of({"doc_to_target": raw}, LETTERS) == expression


def test_items_other_than_the_choices_are_compared_with_them() -> None:
    found = target_of({"doc_to_target": "{{['x', 'y'][x]}}"}, LETTERS)
    assert found["else"]["do"] == [{"letter_in": LETTERS}]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (True, "true or false is not the number of a choice"),
        (-1, "-1 is not the number of a choice"),
        ("1" * 5_000, "111111111… is not the number of a choice"),
        ("{{['A', 'B'][x-2]}}", "the index `x - 2` has no equivalent"),
    ],
)
def test_letters_that_have_no_equivalent(raw: Any, reason: str) -> None:
    with pytest.raises(UntranslatableError, match=f"^{re.escape(reason)}$"):
        target_of({"doc_to_target": raw}, LETTERS)


@pytest.mark.parametrize(
    ("raw", "expression"),
    [
        ("answer", "answer"),
        ("{{answers}}", "answers"),
        (" {{a}}", {"template": " {a}"}),
        (["a", "b"], {"const": ["a", "b"]}),
        ("", {"const": ""}),
        (None, {"const": ""}),
        (5, {"const": "5"}),
    ],
)
def test_texts(raw: Any, expression: Any) -> None:
    assert target_of({"doc_to_target": raw}, None) == expression


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Why?", "Go. Why?|So:"),
        ("Why? ", "Go. Why? So:"),
        ("", "Go. So:"),
        ("a\u3000", "Go. a\u3000So:"),
    ],
)
def test_the_delimiter_before_a_prefix_depends_on_the_question(
    question: str, expected: str
) -> None:
    config = {"doc_to_text": "{{q}}", "gen_prefix": "So:", "target_delimiter": "|"}
    expression = input_of({**config, "description": "Go. "})
    assert compile_expression(parse_expression(expression))(Row({"q": question})) == expected
