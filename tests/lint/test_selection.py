"""Rules selected by the index and the command line, and rules that neither can hide."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.catalog.catalog import Catalog
from registry.lint.runner import check
from registry.lint.selection import (
    IgnoreComment,
    Selection,
    configured,
    invalid_name,
    parse_ignores,
    selected,
)
from registry.manifest.models import Validation
from registry.manifest.schema import read_schema
from registry.manifest.validation import validate
from registry.rules import RULE_FAMILIES, RULES
from registry.yamldoc.reader import parse_yaml
from tests.git_repository import write_files

DEFAULT = {rule.id for rule in RULES.values() if rule.default}
BLOCKING = {rule.id for rule in RULES.values() if rule.blocking}
ALWAYS = {rule.id for name in ("yaml", "schema", "rules") for rule in RULE_FAMILIES[name]}


def of_index(config: str) -> tuple[Selection, list[str]]:
    document = parse_yaml(f"version: 1\nvalidate: {config}\n", file="datasets.yaml")
    assert validate(document, "index") == []
    selection, problems = configured(document)
    return selection, [str(problem) for problem in problems]


def test_rules_of_style_are_not_checked_by_default() -> None:
    assert RULE_FAMILIES["style"]
    assert not DEFAULT & {rule.id for rule in RULE_FAMILIES["style"]}


@pytest.mark.parametrize(
    ("config", "rules"),
    [
        ("{}", DEFAULT),
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


def test_every_rule_and_family_can_be_selected() -> None:
    names = [*RULES, *RULE_FAMILIES, "all"]
    assert [name for name in names if invalid_name(name, ignoring=False) is not None] == []


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


COMMENT = "# registry: ignore plain-http -- ours"


def seen(text: str) -> list[tuple[int, int, int]]:
    """Return line, column and target of the comments of a text."""
    return [(one.line, one.column, one.target) for one in parse_ignores(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"a: 1  {COMMENT}\n", [(1, 7, 1)]),
        (f"{COMMENT}\na: 1\n", [(1, 1, 2)]),
        (f"a:\n  {COMMENT}\n  b: 1\n", [(2, 3, 3)]),
        (f"{COMMENT}\n# more words\n\n{COMMENT}\na: 1\n", [(1, 1, 5), (4, 1, 5)]),
        (f"a: |  {COMMENT}\n  text\n", [(1, 7, 1)]),
        (f"a: |\n  text\n{COMMENT}\nb: 1\n", [(3, 1, 4)]),
        (f"a: [1,  {COMMENT}\n 2]\n", [(1, 9, 1)]),
        (f"a: é😀  {COMMENT}\n", [(1, 8, 1)]),
        (f"a: 1  {COMMENT}\r\nb: 2\r\n", [(1, 7, 1)]),
        (f"a: 1\n{COMMENT}", [(2, 1, 2)]),
        ("a: 1  #registry:ignore plain-http -- ours\n", [(1, 7, 1)]),
    ],
)
def test_comment_applies_to_its_line_or_the_next_with_keys(
    text: str, expected: list[tuple[int, int, int]]
) -> None:
    assert seen(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        f"a: '{COMMENT}'\n",
        f'a: "x {COMMENT}"\n',
        f"a: 'x\n  {COMMENT}\n  y'\n",
        f"a: |\n  {COMMENT}\n",
        f"a: >-\n  x\n  {COMMENT}\n  y\n",
        "a: x#registry:ignore plain-http -- ours\n",
        "a: 1  # registry: read this\n",
        "a: 1  # registry ignores it\n",
    ],
)
def test_text_that_looks_like_a_comment_is_not_one(text: str) -> None:
    assert seen(text) == []


@pytest.mark.parametrize(
    ("comment", "rules", "reason"),
    [
        ("ignore a -- why", ("a",), "why"),
        ("ignore a, b,c -- it is -- so", ("a", "b", "c"), "it is -- so"),
        ("ignore a b", ("a", "b"), ""),
        ("ignore a --", ("a",), ""),
        ("ignore -- why", (), "why"),
        ("ignore", (), ""),
    ],
)
def test_rules_and_reason_are_parsed(comment: str, rules: tuple[str, ...], reason: str) -> None:
    (found,) = parse_ignores(f"a: 1  # registry: {comment}\n")
    assert (found.rules, found.reason) == (rules, reason)
    assert isinstance(found, IgnoreComment)


# --- effect ---

Reported = Callable[..., list[str]]
HEAD = "datasets:\n  d:\n    description: Questions.\n    license: mit\n    source:\n      type: json\n"


@pytest.fixture
def reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reported:
    """Check a manifest whose source ends in these lines; return line and message per problem."""
    monkeypatch.chdir(tmp_path)

    def problems(
        lines: str, *, select: tuple[str, ...] = (), ignore: tuple[str, ...] = ()
    ) -> list[str]:
        index = "version: 1\ninclude: [m.yaml]\nhosts: [h]\n"
        write_files(tmp_path, {"datasets.yaml": index, "m.yaml": f"{HEAD}{lines}"})
        found = check(Catalog.open(tmp_path), select=select, ignore=ignore)
        return [f"{one.line}: {one.text} [{one.rule}]" for one in found]

    return problems


URL = "      path: http://h/x.json"
PLAIN = "plain HTTP to h (use https://) [plain-http]"
EXAMPLE = "(write `# registry: ignore RULE -- reason`)"


def ignoring(rules: str) -> str:
    return f"{URL}  # registry: ignore {rules}\n"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (f"{URL}\n", [f"7: {PLAIN}"]),
        (f"{URL}  {COMMENT}\n", []),
        (f"      {COMMENT}\n{URL}\n", []),
        (
            ignoring("plain-http"),
            [
                f"7: {PLAIN}",
                f"7: the comment gives no reason, so it ignores nothing {EXAMPLE} [ignore-without-reason]",
            ],
        ),
        (
            f"{URL}\n      {COMMENT}\n      encoding: utf-8\n",
            [
                f"7: {PLAIN}",
                "8: no problem of 'plain-http' on line 9 (remove the comment) [unused-ignore]",
            ],
        ),
        (
            ignoring("plain-http, unpinned-revision -- ours"),
            ["7: no problem of 'unpinned-revision' on line 7 (remove the comment) [unused-ignore]"],
        ),
        (
            ignoring("plain-htp -- ours"),
            [f"7: {PLAIN}", "7: no rule 'plain-htp' (did you mean 'plain-http'?) [unknown-rule]"],
        ),
        (
            ignoring("-- ours"),
            [f"7: {PLAIN}", f"7: the comment names no rule {EXAMPLE} [unknown-rule]"],
        ),
        (
            ignoring("sources -- ours"),
            [f"7: {PLAIN}", "7: no rule 'sources' (`validate --rules` lists them) [unknown-rule]"],
        ),
    ],
    ids=[
        *("no comment", "on its line", "above its line", "without a reason", "on another line"),
        *("one of two without use", "misspelt", "no rule", "a family"),
    ],
)
def test_comment_ignores_a_rule_on_its_line(
    reported: Reported, lines: str, expected: list[str]
) -> None:
    assert reported(lines) == expected


def test_comment_cannot_ignore_a_blocking_rule(reported: Reported) -> None:
    lines = "      path: https://h/x?sig=abc  # registry: ignore secret-in-url -- public\n"
    assert [line.rpartition("[")[2] for line in reported(lines)] == [
        "secret-in-url]",
        "rule-not-ignorable]",
    ]


def test_comment_for_an_unselected_rule_is_not_reported_as_unused(reported: Reported) -> None:
    lines = f"      path: https://h/x.json  {COMMENT}\n"
    assert len(reported(lines)) == 1
    assert reported(lines, ignore=("plain-http",)) == []
    assert reported(lines, select=("description",)) == []
    assert reported(lines, ignore=("unused-ignore",)) == []


@pytest.mark.parametrize("fault", ["      bogus: 1\n", "    seed: 3\n"])
def test_comment_in_an_invalid_file_is_not_reported_as_unused(
    reported: Reported, fault: str
) -> None:
    found = reported(f"      path: https://h/x.json  {COMMENT}\n{fault}")
    assert len(found) == 1
    assert "unused" not in found[0]
