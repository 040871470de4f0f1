"""The output formats of problems: text, JSON, and GitHub's workflow commands."""

from __future__ import annotations

import json

from registry.cli.formats.problems import FORMATS
from registry.errors import Problem

ERROR = Problem(
    message="unknown key 'x'",
    file="m/a.yaml",
    line=3,
    column=5,
    path="$.datasets.d.x",
    hint="did you mean 'y'?",
    rule="unknown-key",
)
WARNING = Problem(message="no license", rule="missing-license", severity="warning", path="")
NO_FILE = Problem(message="no such file", file="gone.yaml", path="")


def test_concise_is_a_line_per_problem_with_its_place_and_rule() -> None:
    assert list(FORMATS["concise"]([ERROR, WARNING, NO_FILE])) == [
        "m/a.yaml:3:5 $.datasets.d.x: unknown key 'x' (did you mean 'y'?) [unknown-key]",
        ": warning: no license [missing-license]",
        "gone.yaml: no such file",
    ]


def test_json_is_one_list_that_restores_the_problems() -> None:
    (text,) = FORMATS["json"]([ERROR, WARNING])
    assert [Problem(**one) for one in json.loads(text)] == [ERROR, WARNING]
    assert list(FORMATS["json"]([])) == ["[]"]


def test_github_command_has_only_the_properties_that_are_known() -> None:
    assert list(FORMATS["github"]([ERROR, WARNING, NO_FILE])) == [
        (
            "::error file=m/a.yaml,line=3,col=5,title=unknown-key::"
            "$.datasets.d.x: unknown key 'x' (did you mean 'y'?)"
        ),
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


def test_sarif_is_one_json_document() -> None:
    (text,) = FORMATS["sarif"]([ERROR])
    assert json.loads(text)["version"] == "2.1.0"
