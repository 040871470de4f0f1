"""What a reviewer had to guess: which hosts, variables, paths, code and packages a change adds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.security.pull_request import PullRequest

INDEX = """\
version: 1
include: [m/*.yaml]
hosts: [minio.example.org]
secrets: {QA_KEY: [minio.example.org]}
"""
QUIZ = """\
datasets:
  quiz:
    description: Questions.
    source: {type: csv, path: qa.csv}
    fields: {input: q, target: a}
  remote: {source: {type: csv, path: https://old.example.org/qa.csv}, fields: {input: q}}
"""
BASE = {"datasets.yaml": INDEX, "m/quiz.yaml": QUIZ, "qa.csv": "q,a\nOne?,1\n"}


def changed(folder: Path, source: str, index: str = INDEX) -> PullRequest:
    """Make a change that hides a new source of `quiz` behind a rename and a new description."""
    quiz = QUIZ.replace("quiz:", "exam:", 1).replace("Questions.", "The same questions.", 1)
    quiz = quiz.replace("{type: csv, path: qa.csv}", source)
    return PullRequest.make(folder, BASE, {"m/quiz.yaml": quiz, "datasets.yaml": index})


S3 = (
    "{type: csv, path: s3://bucket/qa.csv, fs_options: {key: {env: QA_KEY}, client_kwargs:"
    " {endpoint_url: https://minio.example.org}}}"
)
CASES: dict[str, tuple[str, str, list[dict[str, Any]]]] = {
    "a host": (
        "{type: csv, path: https://new.example.org/qa.csv}",
        INDEX,
        [{"kind": "host", "name": "new.example.org", "datasets": ["exam"]}],
    ),
    "a package": (
        "{type: csv, path: package:json/qa.csv}",
        INDEX,
        [{"kind": "package", "name": "json", "datasets": ["exam"]}],
    ),
    "permissions": (
        "{type: csv, path: qa.csv}",
        INDEX.replace("hosts: [", "hosts: [10.0.0.1, ")
        + "trust: ['ours.m:f']\npaths: [../secrets]\n",
        [
            {"kind": "permission", "name": "hosts: 10.0.0.1", "datasets": []},
            {"kind": "permission", "name": "paths: ../secrets", "datasets": []},
            {"kind": "permission", "name": "trust: ours.m:f", "datasets": []},
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_new_reach_is_at_the_top_of_every_format(tmp_path: Path, case: str) -> None:
    source, index, expected = CASES[case]
    request = changed(tmp_path, source, index)
    text = request.run("diff", "main")
    line = text.out.splitlines()[2]
    assert line.startswith("new reach: ")
    markdown = request.run("diff", "main", "--format", "markdown").out
    before, marked, after = markdown.partition("**New reach:**\n")
    assert marked
    assert "####" not in before
    for one in expected:
        assert f"{one['kind']} {one['name']} (" in line
        assert f"- {one['kind']} `{one['name']}` (" in after.partition("####")[0]
    assert request.run("diff", "main", "--json").json["reach"] == expected


def test_variable_is_shown_with_the_hosts_that_receive_it(tmp_path: Path) -> None:
    reach = changed(tmp_path, S3).run("diff", "main", "--json").json["reach"]
    name = "QA_KEY to minio.example.org"
    assert {"kind": "variable", "name": name, "datasets": ["exam"]} in reach


def test_host_that_the_base_already_reaches_is_not_new(tmp_path: Path) -> None:
    source = "{type: csv, path: https://old.example.org/other.csv}"
    out = changed(tmp_path, source).run("diff", "main").out
    assert out.splitlines()[2] == "new reach: none beyond what the base reaches"


def test_side_that_could_not_be_read_is_not_said_to_reach_nothing(tmp_path: Path) -> None:
    request = changed(tmp_path, "{type: csv, path: https://new.example.org/qa.csv}, bogus: 1")
    third = request.run("diff", "main").out.splitlines()[2]
    assert third == "new reach: none beyond what the base reaches (in what could be read)"
