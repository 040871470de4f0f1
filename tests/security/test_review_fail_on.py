"""A policy on classes of change: `--fail-on` can't be passed by a detour."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.security.pull_request import PullRequest

INDEX = "version: 1\ninclude: [m/*.yaml]\n"
QUIZ = """\
datasets:
  quiz:
    description: Questions.
    source: {type: csv, path: qa.csv}
    fields: {input: q, target: a}
"""
DATA = "q,a,b\nHow many are one and no more?,1,2\nTwo?,2,1\n"
BASE = {"datasets.yaml": INDEX, "m/quiz.yaml": QUIZ, "qa.csv": DATA}

DETOURS: dict[str, dict[str, str | None]] = {
    "another column": {"m/quiz.yaml": QUIZ.replace("target: a", "target: b")},
    "an edited file": {"qa.csv": DATA.replace("more?,1", "more?,2")},
    "another file": {
        "m/quiz.yaml": QUIZ.replace("qa.csv", "b.csv"),
        "b.csv": DATA.replace("Two?,2", "Two?,3"),
    },
    "questions that no longer match": {"qa.csv": "q,a,b\nNothing in common,7,8\nAt all,9,9\n"},
    "a rename": {"m/quiz.yaml": QUIZ.replace("quiz:", "exam:").replace("target: a", "target: b")},
}


@pytest.mark.parametrize("detour", DETOURS)
def test_changed_answers_are_found_whatever_changes_them(tmp_path: Path, detour: str) -> None:
    request = PullRequest.make(tmp_path, BASE, DETOURS[detour])
    for more in ([], ["--build", "--offline"]):
        result = request.run("diff", "main", "--fail-on", "targets", *more)
        assert result.code == 1
        assert "error: --fail-on targets: " in result.err


def test_other_changes_pass_and_are_still_shown(tmp_path: Path) -> None:
    head = QUIZ.replace("Questions.", "Two questions.")
    request = PullRequest.make(tmp_path, BASE, {"m/quiz.yaml": head})
    result = request.run("diff", "main", "--fail-on", "targets,inputs,reach,removed")
    assert (result.code, result.err) == (0, "")
    assert "description: Questions. → Two questions." in result.out


def test_edited_questions_are_no_changed_answers_once_compared(tmp_path: Path) -> None:
    request = PullRequest.make(tmp_path, BASE, {"qa.csv": DATA.replace("How many", "How much")})
    assert request.run("diff", "main", "--fail-on", "targets").code == 1
    built = request.run("diff", "main", "--fail-on", "targets", "--build", "--offline")
    assert built.code == 0
    assert request.run("diff", "main", "--fail-on", "inputs").code == 1


def test_side_that_could_not_be_read_is_4_whatever_the_policy(tmp_path: Path) -> None:
    request = PullRequest.make(tmp_path, BASE, {"m/more.yaml": "datasets: [\n"})
    assert request.run("diff", "main").code == 4
    assert request.run("diff", "main", "--fail-on", "documentation").code == 4


def test_misspelt_class_is_wrong_usage(tmp_path: Path) -> None:
    request = PullRequest.make(tmp_path, BASE, {"m/quiz.yaml": QUIZ + "    limit: 1\n"})
    result = request.run("diff", "main", "--fail-on", "target")
    assert result.code == 2
    assert "no class 'target' (classes: source, code, inputs, targets," in result.err
