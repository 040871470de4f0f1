"""Attack 10, unbounded work: thousands of archives within each other, in one short line."""

from __future__ import annotations

import pytest

from tests.security.pull_request import PullRequest

INDEX = "version: 1\ninclude: [m/*.yaml]\n"
QUIZ = "datasets:\n  quiz: {source: {type: csv, path: qa.csv}, fields: {input: q, target: a}}\n"
NESTED = "datasets:\n  nested: {source: {type: csv, path: 'PATH'}}\n"


@pytest.fixture(scope="module")
def request_(tmp_path_factory: pytest.TempPathFactory) -> PullRequest:
    base = {"datasets.yaml": INDEX, "m/quiz.yaml": QUIZ, "qa.csv": "q,a\nOne?,1\n"}
    head: dict[str, str | None] = {
        "m/nested.yaml": NESTED.replace("PATH", "zip://a::" * 20_000 + "x.zip"),
        "m/quiz.yaml": QUIZ.replace("}}", "}, limit: 1}"),
    }
    return PullRequest.make(tmp_path_factory.mktemp("nested"), base, head)


def test_it_is_a_problem_of_its_manifest(request_: PullRequest) -> None:
    result = request_.run("validate")
    assert result.code == 1
    assert "m/nested.yaml:2:" in result.out
    assert "more than 8 archives within each other" in result.out


def test_it_does_not_hide_the_other_changes(request_: PullRequest) -> None:
    result = request_.run("diff", "main")
    assert result.code == 4
    assert "more than 8 archives within each other" in result.out
    assert "limit: (none) → 1" in result.out


@pytest.mark.parametrize("command", [["list"], ["sync", "quiz"], ["show", "quiz"]])
def test_other_datasets_stay_usable(request_: PullRequest, command: list[str]) -> None:
    result = request_.run(*command)
    assert "quiz" in result.out
    assert "unexpected" not in result.err
