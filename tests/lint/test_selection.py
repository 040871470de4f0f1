"""Rules selected by the index and the command line, and rules that neither can hide."""

from __future__ import annotations

from typing import Any

import pytest

from registry.lint.selection import Selection, configured, invalid_name, selected
from registry.manifest.models import Validation
from registry.manifest.schema import read_schema
from registry.manifest.validation import validate
from registry.rules import RULE_FAMILIES, RULES
from registry.yamldoc.reader import parse_yaml

DEFAULT = {rule.id for rule in RULES.values() if rule.default}
BLOCKING = {rule.id for rule in RULES.values() if rule.blocking}
ALWAYS = {rule.id for name in ("yaml", "schema", "rules") for rule in RULE_FAMILIES[name]}


def of_index(config: str) -> tuple[Selection, list[str]]:
    document = parse_yaml(f"version: 1\nvalidate: {config}\n", file="datasets.yaml")
    assert validate(document, "index") == []
    selection, problems = configured(document)
    return selection, [str(problem) for problem in problems]


def test_index_without_configuration_has_the_default_rules() -> None:
    selection, problems = of_index("{}")
    assert problems == []
    assert set(selection.rules) == DEFAULT
    assert "style" in RULE_FAMILIES
    assert not DEFAULT & {rule.id for rule in RULE_FAMILIES["style"]}


@pytest.mark.parametrize(
    ("config", "rules"),
    [
        ("{select: [all]}", set(RULES)),
        ("{select: [style]}", BLOCKING | {"schema-line", "key-order"}),
        ("{select: [plain-http]}", BLOCKING | {"plain-http"}),
        ("{select: []}", BLOCKING),
        ("{ignore: [missing-license]}", DEFAULT - {"missing-license"}),
        ("{ignore: [fields]}", DEFAULT - {"unknown-column"}),
        ("{select: [all], ignore: [all]}", BLOCKING),
    ],
)
def test_index_cannot_hide_blocking_rules(config: str, rules: set[str]) -> None:
    selection, problems = of_index(config)
    assert problems == []
    assert set(selection.rules) == rules


def test_index_sets_severities() -> None:
    selection, problems = of_index("{severity: {sources: error, unknown-column: warning}}")
    assert problems == []
    document = parse_yaml("a: 1\n", file="m.yaml")
    made = [document.problem((), "x", rule=rule) for rule in ("plain-http", "unknown-column")]
    assert [problem.severity for problem in made] == ["warning", "error"]
    assert [problem.severity for problem in selection.apply(made)] == ["error", "warning"]


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ("{ignore: [plain-http, plain-htp]}", "datasets.yaml:2:33 $.validate.ignore[1]: no rule 'plain-htp' (did you mean 'plain-http'?)"),
        ("{select: [secretts]}", "datasets.yaml:2:21 $.validate.select[0]: no rule 'secretts' (did you mean 'secrets'?)"),
        ("{ignore: [yaml]}", "datasets.yaml:2:21 $.validate.ignore[0]: 'yaml' can't be ignored (fix the problem: it makes the dataset unusable)"),
        ("{severity: {literal-secret: warning}}", "datasets.yaml:2:23 $.validate.severity.literal-secret: 'literal-secret' can't be ignored (fix the problem: it makes the dataset unusable)"),
    ],
)  # fmt: skip
def test_unknown_name_in_the_index_is_reported_at_its_place(config: str, problem: str) -> None:
    selection, problems = of_index(config)
    assert problems == [problem]
    assert selection == Selection()


@pytest.mark.parametrize(
    ("select", "ignore", "rules"),
    [
        ([], [], DEFAULT - {"plain-http"}),
        ([], ["missing-license"], DEFAULT - {"plain-http", "missing-license"}),
        (["plain-http"], [], ALWAYS | {"plain-http"}),
        (
            ["sources"],
            ["plain-http"],
            ALWAYS | {"missing-data", "bad-location", "unpinned-revision"},
        ),
        (["secrets"], [], ALWAYS | {"literal-secret", "secret-in-url"}),
        (["all"], [], set(RULES)),
    ],
)
def test_command_line_takes_precedence_over_the_index(
    select: list[str], ignore: list[str], rules: set[str]
) -> None:
    base, _ = of_index("{ignore: [plain-http]}")
    assert selected(base, select=select, ignore=ignore).rules == rules


@pytest.mark.parametrize("name", [*RULES, *RULE_FAMILIES, "all"])
def test_every_rule_and_family_can_be_selected(name: str) -> None:
    assert invalid_name(name, ignoring=False) is None


def test_index_schema_has_the_keys_of_the_model() -> None:
    schema: dict[str, Any] = read_schema("index")["$defs"]["validate"]
    properties = schema["properties"]
    assert list(properties) == list(Validation.__struct_fields__)
    assert schema["additionalProperties"] is False
    assert (properties["ignore"]["default"], Validation().ignore) == ([], ())
    assert properties["severity"]["default"] == Validation().severity == {}
    assert ("default" in properties["select"], Validation().select) == (False, None)


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ("{ignor: []}", "$.validate.ignor"),
        ("{ignore: all}", "$.validate.ignore"),
        ("{severity: {plain-http: fatal}}", "$.validate.severity.plain-http"),
    ],
)
def test_configuration_of_the_wrong_type_is_rejected_by_the_schema(config: str, path: str) -> None:
    document = parse_yaml(f"version: 1\nvalidate: {config}\n", file="datasets.yaml")
    (problem,) = validate(document, "index")
    assert problem.path == path
