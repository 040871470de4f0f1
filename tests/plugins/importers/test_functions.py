"""Filters of `process_docs` as conditions, and everything that is not one."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from registry.manifest.expressions import parse_condition
from registry.mapping.evaluate import compile_condition
from registry.mapping.row import Row
from registry.plugins.importers.field_code import UntranslatableError
from registry.plugins.importers.functions import condition_of_filter, fields_of_function

PROMPT = ast.Constant("Q: {question}\n{{x}}")

DOUBLED = "    a0 = r['q']\n" + "".join(f"    a{n + 1} = [a{n}, a{n}]\n" for n in range(30))


A_IS_B = {"value": "a", "equals": "b"}
C_IS_D = {"value": "c", "equals": "d"}


def condition(folder: Path, text: str, reference: str = "utils.f") -> Any:
    (folder / "utils.py").write_text(text, encoding="utf-8")
    return condition_of_filter(reference, folder)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('x["a"] == "b"', A_IS_B),
        ('len(x["a"]) >= 2', {"value": {"from": "a", "do": ["len"]}, "at_least": 2}),
        ('len(x["a"]) == 1', {"value": {"from": "a", "do": ["len"]}, "equals": 1}),
        ('x["a"] in ["p", "q"]', {"value": "a", "in": ["p", "q"]}),
        ('x["a"] != 1', {"value": "a", "not_in": [1, True]}),
        ('x["a"]["b"] == "c"', {"value": "a.b", "equals": "c"}),
        ('x["a"] == "b" and not x["c"] == "d"', {"all": [A_IS_B, {"not": C_IS_D}]}),
        ('x["a"] == "b" or x["c"] == "d"', {"any": [A_IS_B, C_IS_D]}),
    ],
)
def test_conditions(tmp_path: Path, code: str, expected: Any) -> None:
    text = f"def f(dataset):\n    'Says what.'\n    return dataset.filter(lambda x: {code})\n"
    assert condition(tmp_path, text) == expected


VALUES: tuple[object, ...] = ("b", "B", "", None, 0, 1, 2, True, False, 1.0, ["b"], [], [0], "b c")


@pytest.mark.parametrize(
    "code",
    [
        *('x["a"] == "b"', 'x["a"] != "b"', 'x["a"] == 1', 'x["a"] != 0', 'x["a"] == 1.0'),
        *('x["a"] in ["b", 1]', 'x["a"] not in [0, 2]', 'x["a"] == ["b"]', 'x["a"] != [""]'),
        *('x["a"] == True', 'x["a"] != False', 'x["a"] in [True, 2]', 'x["a"] not in ["b", False]'),
        *('not (x["a"] == "b" or x["a"] == 2)', 'x["a"] == "b" and x["a"] != "c"'),
    ],
)
def test_the_same_records_are_kept_as_python_keeps(tmp_path: Path, code: str) -> None:
    text = f"def f(dataset):\n    return dataset.filter(lambda x: {code})\n"
    holds = compile_condition(parse_condition(condition(tmp_path, text)))
    for value in VALUES:
        record = {"a": value}
        assert holds(Row(record, 1)) == eval(code, {"x": record}), value


@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_lengths_are_compared_as_python_compares_them(
    tmp_path: Path, operator: str, number: int
) -> None:
    code = f'len(x["a"]) {operator} {number}'
    text = f"def f(dataset):\n    return dataset.filter(lambda x: {code})\n"
    holds = compile_condition(parse_condition(condition(tmp_path, text)))
    for value in ("", "b", "Né", [], ["b"], [None, 0], {"k": 1}):
        assert holds(Row({"a": value}, 1)) == eval(code, {"x": {"a": value}}), value


PARTIAL = """
from functools import partial
def g(d, s): return d.filter(lambda x: x["a"] == s)
f = partial(g, s="b")
"""
INNER = """
def f(d):
    def keep(x):
        return x["a"] == "b"
    return d.filter(keep, num_proc=4)
"""
OUTER = """
def keep(x): return x["a"] == "b"
def f(d): return d.filter(keep)
"""
COMPUTED = """
from functools import partial
NAMES = ["e", "B"]
def g(d, s): return d.filter(lambda x: x["a"] == s)
globals().update({f"{n.replace('B', 'f')}": partial(g, s="b") for n in NAMES})
"""


@pytest.mark.parametrize("text", [PARTIAL, INNER, OUTER, COMPUTED])
def test_ways_to_define_a_function(tmp_path: Path, text: str) -> None:
    assert condition(tmp_path, text) == A_IS_B


def test_an_f_string_of_a_parameter_is_a_text(tmp_path: Path) -> None:
    text = (
        "import functools\ndef g(d, s): return d.filter(lambda x: x['a'] == f'c.{s}')\n"
        "f = functools.partial(g, s='b')\n"
    )
    assert condition(tmp_path, text) == {"value": "a", "equals": "c.b"}
    both = "def f(d): return d.filter(lambda x: x['a'] == 'b').filter(lambda y: y['c'] == 'd')\n"
    assert condition(tmp_path, both) == {"all": [A_IS_B, C_IS_D]}


BOUND = """
from functools import partial
def g(x, s): return x['a'] == s
h = partial(g, s='b')
def f(d): return d.filter(h)
"""
COUNTED = "def f(d): return d.filter(lambda x: len(x['a']) > 2)\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def f(d): return d.map(lambda x: x)", "more than filter"),
        ("def f(d): return d", "more than filter"),
        ("def f(d):\n    'Says what.'", "more than filter"),
        ("def f(d): return d.filter(lambda x, y: x['a'] == 'b')", "takes more than a record"),
        (BOUND, "`h` is no function"),
        ("def f(d): return d.filter(lambda x: x['a'] == f'{x}')", "no equivalent"),
        ("def f(d):\n    print('ran')\n    return d.filter(lambda x: x['a'] == 'b')", "more than"),
        ("def f(d): return d.filter(lambda x: x['a'] == NAME)", "no equivalent"),
        ("def f(d): return d.filter(lambda x: NAME['a'] == 'b')", "not a literal"),
        ("def f(d): return d.filter(lambda x: x['a'] == ('b',))", "no equivalent"),
        ("def f(d): return d.filter(lambda x: x['a'] in [('b',)])", "no equivalent"),
        ("def f(d): return d.filter(lambda x: [x['a']] == ['b'])", "no equivalent"),
        ("def f(d): return d.filter(lambda x: x['a'] > 3)", "no equivalent"),
        ("def f(d): return d.filter(lambda x: x['a'])", "no equivalent"),
        (f"def len(x): return 1\n{COUNTED}", "the module has its own `len`"),
        (f"from m import size as len\n{COUNTED}", "the module has its own `len`"),
        (f"from m import *\n{COUNTED}", "defined twice"),
        ("def f(d): return d.filter(lambda x, y=1: x['a'] == 'b')", "not plain"),
        ("def f(d): return d.filter(lambda x: x['a'] == 'b', with_indices=True)", "more than"),
        ("def f(d, s): return d.filter(lambda x: x['a'] == s)", "has no value"),
        ("def f(): return 1", "takes nothing"),
        ("def f(d): return d.filter(d)", "is no function"),
        ("def f(d): return d.filter(str)", "is not defined"),
        ("def f(d): return d.filter(lambda x: x['a'] == 'b')\nf = print", "defined twice"),
        ("def g(d): return d", "is not defined"),
        ("def f(:", "can't be parsed"),
        ("def f(d): return d.filter(lambda x: " + "(" * 300 + "x['a']", "can't be parsed"),
    ],
)
def test_what_is_no_filter_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UntranslatableError, match=why):
        condition(tmp_path, text)


@pytest.mark.parametrize("reference", ["../utils.f", "f", "", "no.f", "utils.f.", "/etc/passwd.f"])
def test_only_modules_beside_the_file_are_read(tmp_path: Path, reference: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "utils.py").write_text("def f(d): return d", encoding="utf-8")
    with pytest.raises(UntranslatableError, match="not beside the file"):
        condition(inner, "def f(d): return d", reference)


def test_nothing_of_the_module_runs(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    text = f"open({str(mark)!r}, 'w')\ndef f(d): return d.filter(lambda x: x['a'] == 'b')\n"
    assert condition(tmp_path, text) == A_IS_B
    assert not mark.exists()


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
        ("stable_id(r['q'], r['c'])", {"hash": ["q", "c"], "length": 8}),
        ("stable_id(r['q'], prefix='x', length=4)", {"hash": ["q"], "prefix": "x", "length": 4}),
    ],
)
def test_a_stable_id_is_a_hash(call: str, expression: dict[str, Any]) -> None:
    found, refused = fields(f"def f(r):\n    return Sample(input=r['q'], id={call})")
    assert refused == {}
    assert found["id"] == expression


@pytest.mark.parametrize(
    "call",
    [
        *("stable_id(r['q'], length=0)", "stable_id(r['q'], length='8')", "stable_id(*r)"),
        *("stable_id(r['q'], salt='x')", "stable_id()", "other_id(r['q'])"),
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
    _, unwritten = fields("lambda r: Sample(input=r['q'], metadata={r['k']: 1})")
    assert unwritten == {"metadata": "the keys of the metadata are not written out"}
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
