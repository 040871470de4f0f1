"""Prompts, choices and answers of lm-evaluation-harness as fields, which give what Jinja renders."""

from __future__ import annotations

import re
from typing import Any

import pytest

from registry.errors import MappingError
from registry.manifest.expressions import parse_expression
from registry.mapping.evaluate import compile_expression
from registry.mapping.row import Row
from registry.plugins.importers.field_code import UntranslatableError
from registry.plugins.importers.lm_eval_fields import (
    choices_of,
    input_of,
    target_of,
    translate_jinja,
)
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
        ("{{['A', 'B'][x-2]}}", "`x - 2` has no equivalent"),
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


RECORD: dict[str, Any] = {
    "question": "  What {is} it?\n",
    "choices": ["red", "blue", " green "],
    "answer": 1,
    "label": "B",
    "nested": {"text": ["x", "y"], "a b": "c"},
    "empty": "",
    "number": 2.50,
    "flag": True,
    "steps": "a #### b",
    "nothing": None,
    "nothing_else": "else",
}
TEMPLATES = [
    "",
    "plain {braces} }} % #",
    "Q: {{question}}\nA:",
    "{{ question.strip() }}",
    "{{question|trim}}\r\nx\rz\n",
    "a {{- question -}} \n b",
    "{{choices[0]}} {{choices[-1]}} {{choices[answer]}}",
    "{{nested.text[1]}}{{nested['a b']}}",
    "{{number}} {{flag}} {{answer}} {{empty}}",
    "{{['A', 'B', 'C'][answer]}}",
    "{{['A', 'B', 'C'][answer-1]}}",
    "{{'x' + question + 'y'}}",
    "{{choices|join(', ')}} {{', '.join(choices)}}",
    "{{choices|length}} {{choices|first}} {{choices|last|trim|upper}}",
    "{{steps.split('####')[1].lstrip().rstrip()}}",
    "{{steps[2:]}}{{steps[:-1]}}",
    "{{steps.replace('#', '=')}}{{steps|replace('a', 'b')}}",
    "{{'yes' if label == 'B' else 'no'}}",
    "{{'yes' if label in ['A', 'C'] else 'no'}}",
    "{{answer|string}}{{(answer|string) + '.'}}",
    "{{true}} {{false}} {{1}} {{'\\n\\u00e9'}}",
    "{{question.lower().capitalize()}}",
    "{% if label == 'B' %}{{question}}{% else %}no{% endif %}!",
    "a {%- if label != 'B' -%} b {% elif answer == 1 %} {{answer}} {%- endif %} c",
    "{% if nothing is none %}{{nothing_else}}{% endif %}{% if label is not none %}x{% endif %}",
    "{% if label == 'B' and not answer == 2 %}{% if empty == '' %}in{% endif %}{% endif %}.",
    "{% if flag == 1 %}one{% else %}{{nothing[3:]}}{% endif %}{% if flag in [0, 2] %}y{% endif %}",
]


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_gives_what_jinja_renders(template: str) -> None:
    jinja2 = pytest.importorskip("jinja2", reason="the package whose templates are translated")
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    expected = environment.from_string(template).render(**RECORD)
    compiled = compile_expression(parse_expression(translate_jinja(template)))
    assert compiled(Row(RECORD)) == expected


@pytest.mark.parametrize(
    "template", ["{{missing}}", "{{choices}}", "{{choices[7]}}", "{{nested.z}}"]
)
def test_what_would_be_pythons_notation_is_an_error(template: str) -> None:
    compiled = compile_expression(parse_expression(translate_jinja(template)))
    with pytest.raises(MappingError):
        compiled(Row(RECORD))


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{% if a %}x{% endif %}", "`a` has no equivalent"),
        ("{% if a == 1 %}x", "`{% if %}` is not closed"),
        ("{% if a == 1 %}x{% else %}y{% else %}z{% endif %}", "`else` after `else`"),
        ("{% if a == 1 %}" * 30, "more than 20 `if`"),
        ("x{% endif %}", "statement of Jinja"),
        ("{% if a == 1", "a `{%` is not closed"),
        ("{% for a in b %}x{% endfor %}", "statement of Jinja"),
        ("{% raw %}{{a}}{% endraw %}", "statement of Jinja"),
        ("{# note #}x", "statement of Jinja"),
        ("{{a", "not closed"),
        ("{{loop.first}}", "a name of Jinja"),
        ("{{a is defined}}", "no equivalent"),
        ("{{a.__class__.__mro__}}", "no equivalent"),
        ("{{self.x}}", "a name of Jinja"),
        ("{{self.__init__.__globals__}}", "no equivalent"),
        ("{{'}}'}}", "not a simple expression"),
    ],
)
def test_other_templates_are_refused(template: str, message: str) -> None:
    with pytest.raises(UntranslatableError, match=message):
        translate_jinja(template)
