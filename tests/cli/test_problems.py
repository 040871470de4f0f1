"""Problems for people, with the lines that they are about, and in the formats of other tools."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from registry.base.cells import cell_len
from registry.cli.problems import FORMATS, end_of, full_lines, lines_of, sarif_log
from registry.errors import Problem
from registry.rules import RULES
from tests.cli.invocation import TerminalStream

TEXT = """\
datasets:
  qa: {tags: [a, 'b c'], 国国: "x\\ty"}
  other:
    extends: &name qa
    again: *name
    text: |
      lines
    ? complex
    : value
    rest: [
"""


def problem(line: int, column: int, rule: str = "wrong-value", message: str = "no") -> Problem:
    return Problem(message=message, file="m.yaml", line=line, column=column, path="$.a", rule=rule)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return tmp_path


def shown(text: str, *problems: Problem, stream: io.StringIO | None = None) -> list[str]:
    Path("m.yaml").write_text(text, encoding="utf-8")
    return list(full_lines(problems, stream or io.StringIO()))


def test_problem_has_its_place_its_line_a_caret_and_advice() -> None:
    found = Problem(
        message="unknown key 'b'",
        file="m.yaml",
        line=2,
        column=3,
        path="$.a.b",
        hint="did you mean 'c'?",
        rule="unknown-key",
    )
    assert shown("a:\n  bb: 1\n", found) == [
        "error[unknown-key]: unknown key 'b'",
        " --> m.yaml:2:3 $.a.b",
        "  |",
        "2 |   bb: 1",
        "  |   ^^",
        "  |",
        "  = help: did you mean 'c'?",
        "",
    ]


def test_value_is_marked_with_its_key() -> None:
    assert shown("a:\n  b: [1, 2]  # no\n", problem(2, 3))[3:5] == [
        "2 |   b: [1, 2]  # no",
        "  |   ^^^^^^^^^",
    ]


def test_problems_of_a_line_share_an_excerpt_and_have_each_their_carets() -> None:
    lines = shown("{a: 1, b: 2}\n", problem(1, 2, message="one"), problem(1, 8, message="two"))
    assert lines == [
        "error[wrong-value]: one",
        "error[wrong-value]: two",
        " --> m.yaml:1",
        "  |",
        "1 | {a: 1, b: 2}",
        "  |  ^^^^ wrong-value",
        "  |        ^^^^ wrong-value",
        "  |",
        "",
    ]


@pytest.mark.parametrize("before", ["{x:\t1, ", "{国国: 都, ", "{e\u0301: 1, ", "{'\u202e': 1, "])
def test_carets_are_below_the_columns_of_tabs_and_wide_characters(before: str) -> None:
    line, carets = shown(f"{before}a: 1}}\n", problem(1, len(before) + 1))[3:5]
    start = cell_len(line[: line.index("a: 1")])
    assert carets == "  |".ljust(start) + "^^^^"


@pytest.mark.parametrize(("after", "end"), [(f", more: {'x' * 99}", "…"), ("", "}")])
def test_long_line_is_cut_around_the_caret(
    monkeypatch: pytest.MonkeyPatch, after: str, end: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = f"{{{', '.join(f'k{number}: {number}' for number in range(100))}, bad: 1{after}}}"
    bad = problem(1, text.index("bad") + 1)
    line, carets = shown(text, bad, bad, stream=TerminalStream())[4:6]
    assert carets.endswith("^" if end == "}" else "^ wrong-value"), "a rule is named where it fits"
    assert line[carets.index("^") : carets.rindex("^") + 1] == "bad: 1"
    assert (line[4], line[-1]) == ("…", end)
    assert 58 <= len(line) <= 60


@pytest.mark.parametrize(
    ("line", "rule", "hidden"),
    [
        ("path: 'https://user:planted@example.com/x.csv'", "wrong-value", True),
        ("path: https://example.com/x?X-Amz-Signature=planted", "wrong-value", True),
        ("fs_options: {secret: planted}", "wrong-value", True),
        ('API_KEY: "planted"', "wrong-value", True),
        ("Authorization: planted", "wrong-value", True),
        ("fs_options: {connection_string: planted}", "wrong-value", True),
        ("sas_url: planted", "wrong-value", True),
        ("primaryKey: planted", "wrong-value", True),
        ("cookie = planted", "wrong-value", True),
        ("x: planted", "literal-secret", True),
        ("join: {key: planted}", "wrong-value", False),
    ],
)
def test_line_with_a_secret_is_not_shown(line: str, rule: str, *, hidden: bool) -> None:
    lines = shown(f"{line}\n", problem(1, 1, rule))
    assert ("planted" in "\n".join(lines)) == (not hidden)
    assert ("may have a secret" in lines[3]) == hidden


def test_linked_file_of_another_folder_is_not_quoted(folder: Path) -> None:
    (folder / "private").mkdir()
    (folder / "private" / "key").write_text("planted", encoding="utf-8")
    (folder / "here").mkdir()
    (folder / "here" / "datasets.yaml").symlink_to(folder / "private" / "key")
    found = Problem(message="no", file="here/datasets.yaml", line=1, column=1)
    assert "planted" not in "\n".join(full_lines([found], io.StringIO()))


@pytest.mark.parametrize("line", [0, 5])
def test_problem_without_a_line_has_no_excerpt(line: int) -> None:
    place = f" --> m.yaml{':5:5' if line else ''} $.a"
    assert shown("a: 1\n", problem(line, line))[1:] == [place, ""]
    gone = Problem(message="can't read the file", file="gone.yaml", line=line, path="")
    place = f" --> gone.yaml{':5:0' if line else ''}"
    assert list(full_lines([gone], io.StringIO())) == ["error: can't read the file", place, ""]


def test_terminal_gets_colors_unless_it_wants_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" in "".join(shown("a: 1\n", problem(1, 1), stream=TerminalStream()))
    monkeypatch.setenv("NO_COLOR", "1")
    plain = shown("a: 1\n", problem(1, 1), stream=TerminalStream())
    assert plain == shown("a: 1\n", problem(1, 1))


@settings(deadline=None)
@given(
    st.text(alphabet="ab:{}[], 国\t\x1b\u202e'\"", max_size=200),
    st.integers(1, 220),
    st.text(alphabet="ab \x1b国", min_size=1, max_size=90),
)
def test_nothing_is_wider_than_the_terminal_or_controls_it(
    text: str, column: int, message: str
) -> None:
    lines = shown(f"{text}\n", problem(1, column, message=message), stream=TerminalStream())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_COLOR", "1")
        plain = shown(f"{text}\n", problem(1, column, message=message), stream=TerminalStream())
    assert max(map(cell_len, plain)) <= 60
    assert "\x1b" not in "".join(plain)
    assert "\u202e" not in "".join(lines)


def marked(line: int, start: int, *, key_only: bool) -> str | None:
    end = end_of(TEXT, line, start, key_only=key_only)
    return None if end is None else lines_of(TEXT)[line - 1][start:end]


@pytest.mark.parametrize(
    ("line", "start", "key", "value"),
    [
        (1, 0, "datasets", "datasets"),  # whose value is on other lines
        (2, 2, "qa", "qa: {tags: [a, 'b c'], 国国: \"x\\ty\"}"),
        (2, 7, "tags", "tags: [a, 'b c']"),
        (2, 13, "[a, 'b c']", "[a, 'b c']"),
        (2, 14, "a", "a"),
        (2, 17, "'b c'", "'b c'"),
        (2, 25, "国国", '国国: "x\\ty"'),
        (4, 4, "extends", "extends: &name qa"),
        (5, 4, "again", "again: *name"),
        (6, 4, "text", "text"),
        (8, 6, "complex", "complex"),
        (10, 4, "rest", "rest"),  # not closed
        (10, 5, None, None),
        (99, 0, None, None),
    ],
)
def test_end_of_a_key_with_and_without_its_value(
    line: int, start: int, key: str | None, value: str | None
) -> None:
    assert marked(line, start, key_only=True) == key
    assert marked(line, start, key_only=False) == value


@settings(deadline=None)
@given(st.text(alphabet="ab:[]{},'\"\n -&*|#\t", max_size=60), st.integers(1, 5), st.integers(0, 9))
def test_any_text_has_ends_within_its_lines(text: str, line: int, start: int) -> None:
    end = end_of(text, line, start, key_only=False)
    assert end is None or start <= end <= len(lines_of(text)[line - 1])


def test_lines_end_as_in_yaml_and_deep_nesting_is_no_problem() -> None:
    assert end_of("[" * 100_000, 1, 0, key_only=False) is None
    assert lines_of("a\r\nb\rc\n\nd") == ["a", "b", "c", "", "d"]


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
