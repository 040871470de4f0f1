"""Templates give what Jinja renders, or are refused."""

from __future__ import annotations

from typing import Any

import pytest

from registry.errors import MappingError
from registry.manifest.expressions import parse_expression
from registry.mapping.evaluate import compile_expression
from registry.mapping.row import Row
from registry.plugins.importers.field_code import UntranslatableError
from registry.plugins.importers.jinja import parse_jinja, single_expression, translate_jinja

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


def test_single_expressions() -> None:
    assert single_expression("{{a}}") is not None
    assert single_expression(" {{a}}") is None
    assert parse_jinja("x") == ["x"]
