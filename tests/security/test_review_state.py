"""The reviewed state: what was reviewed is what is built, and nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from tests.command_line import Ran
from tests.git_repository import GitRepository
from tests.security.pull_request import PullRequest

INDEX = "version: 1\ninclude: [m/*.yaml]\n"
QUIZ = """\
datasets:
  quiz:
    description: Questions.
    license: MIT
    source: {type: csv, path: qa.csv}
    fields: {input: q, target: a}
  quiz-one: {extends: quiz, limit: 1}
groups:
  both: {datasets: [quiz, quiz-one]}
"""
MORE = """\
datasets:
  more:
    description: More questions.
    source: {type: csv, path: qa.csv}
    fields: {input: q, target: b}
"""
DATA = "q,a,b\nOne?,1,2\nTwo?,2,3\n"
BASE = {"datasets.yaml": INDEX, "m/quiz.yaml": QUIZ, "qa.csv": DATA}


def reviewed(folder: Path, *arguments: str, lock: bool = True) -> tuple[PullRequest, Path]:
    """Make a change, review it, and merge it; return the request and the reviewed state."""
    request = PullRequest.make(folder, BASE, {"m/more.yaml": MORE})
    if lock:
        assert request.run("lock", "--offline").code == 0
        request.push({})
    state = folder / "review.json"
    result = request.run("diff", "main", "--reviewed", str(state), *arguments)
    assert result.code == 1
    digest = json.loads(state.read_text())["digest"]
    assert f"wrote the reviewed state {digest} to {state}" in result.err
    request.repository.git("switch", "--quiet", "main")
    request.repository.git("merge", "--quiet", "topic")
    return request, state


def elsewhere(request: PullRequest, folder: Path) -> PullRequest:
    """Clone the merged branch to another place, as another machine has it."""
    clone = folder / "another" / "machine"
    request.repository.git("clone", "--quiet", str(request.folder), str(clone))
    return PullRequest(GitRepository(clone), folder / "other-cache")


def is_empty(cache: Path) -> bool:
    return not any(cache.glob("v*/samples/*"))


def refusal(request: PullRequest, state: Path, *arguments: str) -> Ran:
    shutil.rmtree(request.cache, ignore_errors=True)
    result = request.run("sync", "--reviewed", str(state), *arguments)
    assert (result.code, result.out) == (1, "")
    assert is_empty(request.cache)
    assert "nothing was built; review again: `registry diff --reviewed FILE`" in result.err
    return result


@pytest.mark.parametrize("lock", [True, False])
def test_reviewed_state_is_built_on_another_machine(tmp_path: Path, lock: bool) -> None:
    request, state = reviewed(tmp_path, lock=lock)
    machine = elsewhere(request, tmp_path)
    result = machine.run("sync", "--offline", "--reviewed", str(state))
    assert result.code == 0
    assert result.err.splitlines()[-1].startswith("3 datasets: ")
    assert not is_empty(machine.cache)


def test_state_names_no_folder_of_the_machine(tmp_path: Path) -> None:
    request, state = reviewed(tmp_path, "--build", "--offline")
    text = state.read_text()
    assert str(tmp_path) not in text
    assert "registry-diff-" not in text
    machine = elsewhere(request, tmp_path)
    again = tmp_path / "again.json"
    machine.repository.git("switch", "--quiet", "--create", "topic")
    machine.run("diff", "main~1", "main", "--reviewed", str(again), "--build", "--offline")
    heads = [json.loads(one.read_text())["head"] for one in (state, again)]
    assert heads[0] == heads[1]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Review and merge one change, for all tests that edit the result."""
    folder = tmp_path_factory.mktemp("reviewed")
    reviewed(folder)
    return folder


@pytest.fixture
def merged(made: Path, tmp_path: Path) -> tuple[PullRequest, Path]:
    """Copy the merged change: the request and the reviewed state."""
    folder = tmp_path / "copy"
    shutil.copytree(made, folder)
    request = PullRequest(GitRepository(folder / "repository"), folder / "runner-cache")
    return request, folder / "review.json"


OTHER_INDEX = "datasets.yaml includes or permits something else, or a group changed"
GONE = "more: not as reviewed: is gone, or can't be read"
EDITS: dict[str, tuple[dict[str, str | None], str]] = {
    "the answers": (
        {"m/quiz.yaml": QUIZ.replace("target: a", "target: b")},
        "quiz: not as reviewed: its manifest changed",
    ),
    "a parent": (
        {"m/quiz.yaml": QUIZ.replace("target: a", "target: b")},
        "quiz-one: not as reviewed: its manifest changed",
    ),
    "a licence": (
        {"m/quiz.yaml": QUIZ.replace("MIT", "GPL")},
        "quiz: not as reviewed: its manifest changed",
    ),
    "the data": ({"qa.csv": DATA.replace("2,3", "3,3")}, "quiz: not as reviewed: qa.csv changed"),
    "a new dataset": (
        {"m/new.yaml": MORE.replace("more:", "new:")},
        "new: not as reviewed: was not there",
    ),
    "a removed dataset": ({"m/more.yaml": None}, GONE),
    "a broken dataset": ({"m/more.yaml": MORE + "    bogus: 1\n"}, GONE),
    "a permission": (
        {"datasets.yaml": f"{INDEX}hosts: [10.0.0.1]\n"},
        f"the index: not as reviewed: {OTHER_INDEX}",
    ),
    "a group": (
        {"m/quiz.yaml": QUIZ.replace("[quiz, quiz-one]", "[quiz]")},
        f"the index: not as reviewed: {OTHER_INDEX}",
    ),
    "the lock": ({"datasets.lock": None}, "quiz: not as reviewed: its pin ("),
}


@pytest.mark.parametrize("edit", EDITS)
def test_edit_after_the_review_is_refused(merged: tuple[PullRequest, Path], edit: str) -> None:
    files, message = EDITS[edit]
    request, state = merged
    request.push(files)
    assert f"error: {message}" in refusal(request, state, "--offline").err


def test_pin_of_other_bytes_is_refused(merged: tuple[PullRequest, Path]) -> None:
    request, state = merged
    lock = (request.folder / "datasets.lock").read_text()
    request.push({"datasets.lock": lock.replace("samples: 2", "samples: 1")})
    assert "not as reviewed: its pin (samples) changed" in refusal(request, state).err


def test_only_the_named_datasets_are_compared(merged: tuple[PullRequest, Path]) -> None:
    request, state = merged
    request.push({"m/more.yaml": MORE.replace("target: b", "target: a")})
    assert request.run("sync", "quiz", "--offline", "--reviewed", str(state)).code == 0
    refusal(request, state, "more")


def test_remote_source_without_pin_and_samples_is_refused(tmp_path: Path) -> None:
    remote = MORE.replace("qa.csv", "https://data.example.org/qa.csv")
    request = PullRequest.make(tmp_path, BASE, {"m/more.yaml": remote})
    state = tmp_path / "review.json"
    request.run("diff", "main", "--reviewed", str(state))
    err = refusal(request, state, "--offline").err
    assert "error: more: was reviewed without its samples, which may be any (" in err
    assert "`registry lock more` pins it" in err


def test_other_samples_from_the_server_are_refused_after_the_build(
    tmp_path: Path, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/qa.csv").respond_with_data(DATA)
    remote = MORE.replace("qa.csv", httpserver.url_for("/qa.csv"))
    request = PullRequest.make(tmp_path, BASE, {"m/more.yaml": remote})
    state = tmp_path / "review.json"
    assert request.run("diff", "main", "--build", "--reviewed", str(state)).code == 1
    machine = elsewhere(request, tmp_path)
    same = machine.run("sync", "more", "--reviewed", str(state))
    assert (same.code, "built" in same.out) == (0, True)
    httpserver.clear()
    httpserver.expect_request("/qa.csv").respond_with_data(DATA.replace("2,3", "2,9"))
    other = machine.run("sync", "more", "--refresh", "--reviewed", str(state))
    assert other.code == 1
    assert "error: more: its samples are not the reviewed ones: reviewed 2, sha256:" in other.err


def edited(state: Path, change: Any) -> Path:
    data = json.loads(state.read_text())
    change(data)
    state.write_text(json.dumps(data))
    return state


INVALID: dict[str, tuple[Any, str]] = {
    "an edit": (
        lambda data: data["head"]["datasets"].pop("more"),
        "its digest does not match, so it was edited",
    ),
    "another format": (lambda data: data.update(format=9), "format 9, not 2"),
    "another file": (lambda data: data.clear(), "no reviewed state: "),
}


@pytest.mark.parametrize("case", INVALID)
def test_edited_state_is_refused(merged: tuple[PullRequest, Path], case: str) -> None:
    change, message = INVALID[case]
    request, state = merged
    result = request.run("sync", "--reviewed", str(edited(state, change)))
    assert result.code == 1
    assert message in result.err


def test_incomplete_diff_writes_no_state(tmp_path: Path) -> None:
    request = PullRequest.make(tmp_path, BASE, {"m/more.yaml": MORE + "    bogus: 1\n"})
    state = tmp_path / "review.json"
    result = request.run("diff", "main", "--reviewed", str(state))
    assert result.code == 4
    assert f"error: {state}: not written, as a part of a side could not be read" in result.err
    assert not state.exists()
