"""The checks of a resolved dataset's expressions."""

from __future__ import annotations

from pathlib import Path

from registry.lint.data_checks import compilable, uncompilable_expression
from registry.manifest.merge import Entry, Layer
from registry.manifest.models import DatasetSpec
from registry.manifest.resolve import resolve
from registry.yamldoc.reader import parse_yaml

CSV = "source: {type: csv, path: x.csv}"


def spec_of(keys: str) -> DatasetSpec:
    document = parse_yaml(f"datasets:\n  d: {{{keys}}}\n", file="m.yaml")
    entry = Entry("d", document, Path("/catalog"), Layer("default", {}))
    return resolve("d", {"d": entry})


def found(keys: str) -> list[str]:
    findings = uncompilable_expression(spec_of(keys))
    return [f"{'.'.join(map(str, one.path))}: {one.message} ({one.hint})" for one in findings]


def test_valid_expressions_have_no_problems() -> None:
    keys = f"{CSV}, fields: {{input: {{from: q, do: [strip]}}}}, where: {{value: q, regex: a}}"
    assert found(keys) == []


def test_all_fields_that_do_not_compile_are_reported() -> None:
    invalid = "input: {from: q, do: [{regex: '('}]}, target: a, id: {from: q, do: [stripp]}"
    keys = f"{CSV}, fields: {{{invalid}}}"
    problems = found(keys)
    assert [problem.partition(":")[0] for problem in problems] == ["fields.input", "fields.id"]
    assert "not a regular expression" in problems[0]
    assert "stripp" in problems[1]


def test_condition_that_does_not_compile_is_reported() -> None:
    (problem,) = found(f"{CSV}, where: {{value: q, regex: '('}}")
    assert problem.startswith("where: ")


def test_only_what_compiles_is_left_to_other_checks() -> None:
    fields = "fields: {input: q, id: {from: q, do: [stripp]}}"
    spec = compilable(spec_of(f"{CSV}, {fields}, where: {{value: q, less: []}}"))
    assert (spec.fields.input, spec.fields.id, spec.where) == ("q", None, None)
    valid = spec_of(f"{CSV}, fields: {{input: q}}, where: {{value: q, less: 1}}")
    assert compilable(valid) == valid
