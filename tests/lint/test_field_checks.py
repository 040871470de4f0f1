"""The checks of a resolved dataset's expressions and columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.lint.field_checks import uncompilable_expression, unknown_column
from registry.manifest.merge import Entry, Layer
from registry.manifest.models import DatasetSpec
from registry.manifest.resolve import resolve
from registry.rules import Finding
from registry.yamldoc.reader import parse_yaml

CSV = "source: {type: csv, path: x.csv}"
KNOWN = "source: {type: csv, path: x.csv, fieldnames: [question, hint, A, B]}"


def spec_of(keys: str) -> DatasetSpec:
    document = parse_yaml(f"datasets:\n  d: {{{keys}}}\n", file="m.yaml")
    entry = Entry("d", document, Path("/catalog"), Layer("default", {}))
    return resolve("d", {"d": entry})


def found(check: object, keys: str) -> list[str]:
    assert callable(check)
    findings: list[Finding] = list(check(spec_of(keys)))
    return [f"{'.'.join(map(str, one.path))}: {one.message} ({one.hint})" for one in findings]


# --- expressions ---


def test_valid_expressions_have_no_problems() -> None:
    keys = f"{CSV}, fields: {{input: {{from: q, do: [strip]}}}}, where: {{value: q, regex: a}}"
    assert found(uncompilable_expression, keys) == []


def test_all_fields_that_do_not_compile_are_reported() -> None:
    keys = (
        f"{CSV}, fields: {{input: {{from: q, do: [{{regex: '('}}]}}, target: a,"
        " id: {from: q, do: [stripp]}}"
    )
    problems = found(uncompilable_expression, keys)
    assert [problem.partition(":")[0] for problem in problems] == ["fields.input", "fields.id"]
    assert "not a regular expression" in problems[0]
    assert "stripp" in problems[1]


def test_condition_that_does_not_compile_is_reported() -> None:
    (problem,) = found(uncompilable_expression, f"{CSV}, where: {{value: q, regex: '('}}")
    assert problem.startswith("where: ")


# --- columns ---


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            "{input: {template: '{questoin}'}}",
            ["fields.input: no column 'questoin' (did you mean 'question'?)"],
        ),
        (
            "{input: question, choices: [A, B, C]}",
            ["fields.choices: no column 'C' (columns: A, B, hint, question)"],
        ),
        (
            "{input: question, metadata: {h: {from: hnt, do: [strip]}}}",
            ["fields.metadata: no column 'hnt' (did you mean 'hint'?)"],
        ),
        ("{input: question, choices: [A, B], metadata: {h: hint}, id: {hash: [question]}}", []),
        ("{input: {template: '{question.text}'}}", []),
        ("{input: question, target: nowhere}", []),
        ("{input: {from: nowhere, do: [stripp]}}", []),
    ],
)
def test_column_missing_from_the_manifest_is_reported(fields: str, expected: list[str]) -> None:
    assert found(unknown_column, f"{KNOWN}, fields: {fields}") == expected


@pytest.mark.parametrize(
    "keys",
    [
        f"{CSV}, fields: {{input: [gone]}}",
        "source: {type: json, path: x.json}, fields: {input: [gone]}",
        f"{KNOWN}, explode: {{column: A, item: gone}}, fields: {{input: [gone]}}",
        (
            f"{KNOWN}, join: {{on: A, source: {{type: csv, path: y}}, into: gone}},"
            " fields: {input: [gone]}"
        ),
        (
            "source: {type: csv, path: x, fieldnames: [A], columns: {gone: str}},"
            " fields: {input: [gone]}"
        ),
    ],
)
def test_column_that_may_exist_is_accepted(keys: str) -> None:
    assert found(unknown_column, keys) == []
