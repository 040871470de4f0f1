"""The output formats of problems: text, JSON, and GitHub's workflow commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from registry.cli.problems import FORMATS, sarif_log
from registry.errors import Problem
from registry.rules import RULES

ERROR = Problem(
    message="unknown key 'x'",
    file="m/a.yaml",
    line=3,
    column=5,
    path="$.datasets.d",
    hint="did you mean 'y'?",
    rule="unknown-key",
)
WARNING = Problem(message="no license", rule="missing-license", severity="warning", path="")
NO_FILE = Problem(message="no such file", file="gone.yaml", path="")
SCHEMA = Path(__file__).parents[1] / "data" / "sarif-schema-2.1.0.json"
VALIDATOR = Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_concise_is_a_line_per_problem_with_its_place_and_rule() -> None:
    assert list(FORMATS["concise"]([ERROR, WARNING, NO_FILE])) == [
        "m/a.yaml:3:5 $.datasets.d: unknown key 'x' (did you mean 'y'?) [unknown-key]",
        ": warning: no license [missing-license]",
        "gone.yaml: no such file",
    ]


def test_json_is_one_list_that_restores_the_problems() -> None:
    (text,) = FORMATS["json"]([ERROR, WARNING])
    assert [Problem(**one) for one in json.loads(text)] == [ERROR, WARNING]
    assert list(FORMATS["json"]([])) == ["[]"]


def test_github_command_has_only_the_properties_that_are_known() -> None:
    place = "file=m/a.yaml,line=3,col=5,title=unknown-key"
    assert list(FORMATS["github"]([ERROR, WARNING, NO_FILE])) == [
        f"::error {place}::$.datasets.d: unknown key 'x' (did you mean 'y'?)",
        "::warning title=missing-license::no license",
        "::error file=gone.yaml::no such file",
    ]


def test_github_command_escapes_its_separators_and_line_breaks() -> None:
    problem = Problem(
        message="50%\r\nmore: a,b\x1b[2J\n::error::c",
        file="a\nb:c,d%",
        line=1,
        column=2,
        rule="wrong-value",
    )
    place = "file=a%0Ab%3Ac%2Cd%25,line=1,col=2,title=wrong-value"
    text = "$: 50%25\\u{d}%0Amore: a,b\\u{1b}[2J%0A\\u{3a}:error::c"
    assert list(FORMATS["github"]([problem])) == [f"::error {place}::{text}"]


def results(*problems: Problem) -> list[dict[str, Any]]:
    """Return the results of a log that is valid."""
    (text,) = FORMATS["sarif"](problems)
    log = json.loads(text)
    VALIDATOR.validate(log)
    (run,) = log["runs"]
    found: list[dict[str, Any]] = run["results"]
    return found


def test_log_lists_every_rule_with_its_level() -> None:
    log = sarif_log([])
    VALIDATOR.validate(log)
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(RULES)
    for rule in rules:
        assert rule["defaultConfiguration"] == {
            "level": RULES[rule["id"]].severity,
            "enabled": RULES[rule["id"]].default,
        }


def test_result_has_level_message_place_and_index_of_its_rule() -> None:
    place = {
        "physicalLocation": {
            "artifactLocation": {"uri": "m/a.yaml"},
            "region": {"startLine": 3, "startColumn": 5},
        },
        "logicalLocations": [{"fullyQualifiedName": "$.datasets.d"}],
    }
    error, warning = results(ERROR, WARNING)
    assert error == {
        "ruleId": "unknown-key",
        "ruleIndex": list(RULES).index("unknown-key"),
        "level": "error",
        "message": {"text": "unknown key 'x' (did you mean 'y'?)"},
        "locations": [place],
    }
    assert warning["level"] == "warning"


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("m/a b#100% é.yaml", "m/a%20b%23100%25%20%C3%A9.yaml"),
        ("/data/a b.yaml", "file:///data/a%20b.yaml"),
        ("m/\udcff.yaml", "m/%FF.yaml"),
    ],
)
def test_file_name_becomes_a_uri_and_what_is_missing_is_left_out(file: str, uri: str) -> None:
    (result,) = results(Problem(message="x", file=file, path=""))
    assert "ruleId" not in result
    assert result["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": uri}}}]
