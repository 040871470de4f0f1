"""Functions from a record to a sample, read and never run."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from registry.plugins.importers.code.field_code import UntranslatableError
from registry.plugins.importers.code.record_function import fields_of_function

PROMPT = ast.Constant("Q: {question}\n{{x}}")

DOUBLED = "    a0 = r['q']\n" + "".join(f"    a{n + 1} = [a{n}, a{n}]\n" for n in range(30))


def fields(code: str) -> tuple[dict[str, Any], dict[str, str]]:
    (function,) = ast.parse(code).body
    if isinstance(function, ast.Expr):
        assert isinstance(function.value, ast.Lambda)
        return fields_of_function(function.value, {})
    assert isinstance(function, ast.FunctionDef)
    return fields_of_function(function, {"PROMPT": PROMPT}, {"stable_id"})


def test_a_function() -> None:
    found, refused = fields(
        '''
def record_to_sample(record):
    """Doc."""
    question = record["question"].strip()
    sample = Sample(
        input=PROMPT.format(question=question),
        target=chr(ord("A") + record["answer"]),
        choices=[record["a"], str(record["b"])],
        id=f"x-{record['key']}",
        metadata={"topic": record.get("topic"), "fixed": 1},
    )
    return sample
'''
    )
    assert refused == {}
    assert found == {
        "input": {
            "template": "Q: {part1}\n{{x}}",
            "with": {"part1": {"from": "question", "do": ["strip"]}},
        },
        "target": {"from": "answer", "do": ["letter"]},
        "choices": ["a", {"template": "{b}"}],
        "id": {"template": "x-{key}"},
        "metadata": {"topic": "topic", "fixed": {"const": 1}},
    }


def test_a_lambda_and_columns_as_metadata() -> None:
    found, _ = fields("lambda r: Sample(input=r['q'], metadata={'a': r['a'], 'b': r['b']})")
    assert found["input"] == "q"
    assert found["metadata"] == ["a", "b"]


@pytest.mark.parametrize(
    ("call", "expression"),
    [
        ("stable_id(r['q'])", {"hash": ["q"], "length": 8}),
        (
            "stable_id(r['q'], r['c'], prefix='x', length=4)",
            {"hash": ["q", "c"], "prefix": "x", "length": 4},
        ),
    ],
)
def test_a_stable_id_is_a_hash(call: str, expression: dict[str, Any]) -> None:
    found, refused = fields(f"def f(r):\n    return Sample(input=r['q'], id={call})")
    assert refused == {}
    assert found["id"] == expression


@pytest.mark.parametrize(
    "call",
    [
        "stable_id(r['q'], length=0)",
        "stable_id(r['q'], length='8')",
        "stable_id(r['q'], salt='x')",
        "stable_id(*r)",
        "stable_id()",
        "other_id(r['q'])",
    ],
)
def test_other_ids_are_refused(call: str) -> None:
    _, refused = fields(f"def f(r):\n    return Sample(input=r['q'], id={call})")
    assert refused.keys() == {"id"}


def test_fields_without_an_equivalent_are_named() -> None:
    found, refused = fields(
        "def f(r):\n    return Sample(input=r['q'], target=solve(r), files={'a': 'b'}, metadata=r)"
    )
    assert found["target"] is None
    assert refused == {
        "target": "`solve(r)` has no equivalent",
        "metadata": "the metadata is not a dict that is written out",
        "files": "a field that is not carried over",
    }


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def f(r, x):\n    return Sample(input=r['q'])", "more than a record"),
        ("def f(r):\n    if r: return Sample(input=r['q'])", "more than assignments (`if`)"),
        ("def f(r):\n    r['q'] = 1\n    return Sample(input=r['q'])", "more than assignments"),
        ("def f(r):\n    a = 1\n    a = 2\n    return Sample(input=r['q'])", "assigns `a` twice"),
        ("def f(r):\n    r = 1\n    return Sample(input=r['q'])", "assigns `r` twice"),
        ("def f(r):\n    PROMPT = 1\n    return Sample(input=r['q'])", "assigns `PROMPT` twice"),
        ("def f(r):\n    pass", "more than assignments (`pass`)"),
        ("def f(r):\n    'doc'", "it returns nothing"),
        ("def f(r):\n    return make(r)", "does not return `Sample"),
        ("def f(r):\n    return Sample(**r)", "not written out"),
        ("def f(r):\n    return Sample(input=r.question)", "`r.question` has no equivalent"),
        ("def f(r):\n    return Sample(input=r['q'] | first)", "no equivalent"),
        ("def f(r):\n    return Sample(input=PROMPT.format(x=r['q']))", "the field `question`"),
        ("def f(r):\n    return Sample(input='{a:>3}'.format(a=r['q']))", "the field `a`"),
        ("def f(r):\n    return Sample(input='{'.format(a=r['q']))", "what is not a template"),
        ("def f(r):\n    a = b\n    b = a\n    return Sample(input=a)", "too many other names"),
        (f"def f(r):\n{DOUBLED}    return Sample(input=a30)", "too many other names"),
    ],
)
def test_other_functions_are_refused(code: str, message: str) -> None:
    with pytest.raises(UntranslatableError) as caught:
        fields(code)
    assert message in str(caught.value)
