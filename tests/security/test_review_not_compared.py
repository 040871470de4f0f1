"""What "not compared" hid: why samples were not compared, and the command that compares them."""

from __future__ import annotations

import shlex
from pathlib import Path

from registry.diff.sampling import MAX_NEW_BUILDS
from tests.security.pull_request import PullRequest

INDEX = "version: 1\ninclude: [m/*.yaml]\n"
QUIZ = (
    "datasets:\n  quiz:\n    source: {type: csv, path: qa.csv}\n    fields: {input: q, target: a}\n"
)
DATA = "q,a\nHow many questions are there in this file?,1\n"
BASE = {"datasets.yaml": INDEX, "m/quiz.yaml": QUIZ, "qa.csv": DATA}


def test_printed_command_compares_the_samples(tmp_path: Path) -> None:
    request = PullRequest.make(tmp_path, BASE, {"qa.csv": DATA.replace(",1", ",2")})
    (change,) = request.run("diff", "main", "--json").json["changes"]
    assert change["samples"]["obstacle"] == "not cached"
    command = change["samples"]["command"]
    for form in ("text", "markdown"):
        assert command in request.run("diff", "main", "--format", form).out
    program, *arguments = shlex.split(command)
    assert program == "registry"
    assert "samples: 1 → 1: 1 changed (target)" in request.run(*arguments).out


def test_each_of_too_many_new_datasets_has_its_command(tmp_path: Path) -> None:
    more = "".join(f"  d{n}: {{extends: quiz, limit: 1}}\n" for n in range(MAX_NEW_BUILDS + 1))
    request = PullRequest.make(tmp_path, BASE, {"m/quiz.yaml": QUIZ + more})
    changes = request.run("diff", "main", "--build", "--offline", "--json").json["changes"]
    assert {one["samples"]["obstacle"] for one in changes} == {"too many new"}
    sync, diff = changes[0]["samples"]["command"].split("; ")
    assert request.run(*shlex.split(sync)[1:]).code == 0
    found = {
        one["name"]: one for one in request.run(*shlex.split(diff)[1:], "--json").json["changes"]
    }
    assert found[changes[0]["name"]]["samples"]["new"] == 1
