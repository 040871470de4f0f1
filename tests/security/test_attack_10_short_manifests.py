"""Attack 10: a short manifest that asks for work without end: chains, globs, nested archives."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.git_repository import GitRepository
from tests.security.installed import Machine
from tests.security.pull_request import PullRequest

INDEX = "version: 1\ninclude: [m/*.yaml]\nvalidate: {ignore: [description]}\n"
LINKS = 3000


@pytest.fixture
def reviewed(tmp_path: Path) -> GitRepository:
    """Make a repository where a change adds the chain."""
    root = "datasets:\n  d0: {source: {type: json, path: d.jsonl}, tags: [a]}\n"
    repository = GitRepository.make(
        tmp_path / "repository",
        {"datasets.yaml": INDEX, "m/d.yaml": root, "d.jsonl": '{"input": "x"}\n'},
    )
    links = "".join(f"  d{n}: {{extends: d{n - 1}}}\n" for n in range(1, LINKS))
    repository.write({"m/d.yaml": root + links})
    return repository


def test_a_long_chain_is_an_error_in_little_time(tmp_path: Path, reviewed: GitRepository) -> None:
    last = f"d{LINKS - 1}"
    place = f"m/d.yaml:{LINKS + 1}:11 $.datasets.{last}.extends"
    machine = Machine(tmp_path)
    for command in (f"show {last}", "list --tag a", "diff main", "lock --check"):
        outcome = machine.run(reviewed.folder, *command.split())
        if command.startswith("show"):
            assert f"{place}: '{last}' has more than 32 ancestors" in outcome.text
            assert "`limits: {extends: …}` in the root index raises" in outcome.text
            assert outcome.code == 1


def test_the_root_index_raises_the_limit(tmp_path: Path, reviewed: GitRepository) -> None:
    reviewed.write({"datasets.yaml": f"{INDEX}limits: {{extends: 60}}\n"})
    machine = Machine(tmp_path)
    assert machine.run(reviewed.folder, "show", "d60").code == 0
    assert "more than 60 ancestors" in machine.run(reviewed.folder, "show", "d61").err


# --- globs whose stars can be matched in more ways than anyone can count ---

DEEP = "/".join("abcdefghijklmnopqrstuvwxyz") + "/d.jsonl"
PATHS = {
    "outside": "/usr/**/**/**/*.nothing",
    "stars": "**/**/**/*.nothing",
    "mixed": "**/*/**/*/**/*/**/*/**/*.nothing",
    "member": "zip://" + "*a" * 20 + "b::d.zip",
}
COMMANDS = ("validate", "lock --check", "sync d", "diff main --build")


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_no_glob_takes_long(tmp_path: Path, path: str) -> None:
    dataset = "datasets:\n  d:\n    source: {{type: json, path: '{}'}}\n"
    repository = GitRepository.make(
        tmp_path / "repository",
        {"datasets.yaml": INDEX, "m/d.yaml": dataset.format("d.jsonl"), "d.jsonl": "{}\n"},
    )
    (repository.folder / DEEP).parent.mkdir(parents=True)
    repository.write({"m/d.yaml": dataset.format(path), DEEP: '{"input": "x"}\n'})
    with zipfile.ZipFile(repository.folder / "d.zip", "w") as archive:
        archive.writestr("a" * 60_000, "")
    machine = Machine(tmp_path)
    for command in COMMANDS:
        outcome = machine.run(repository.folder, *command.split())
        if command == "sync d":
            assert outcome.code == 1
            assert "error: d: " in outcome.err or "error: m/d.yaml" in outcome.err


# --- thousands of archives within each other, in one short line ---

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


def test_nested_archives_are_a_problem_of_their_manifest(request_: PullRequest) -> None:
    result = request_.run("validate")
    assert result.code == 1
    assert "m/nested.yaml:2:" in result.out
    assert "more than 8 archives within each other" in result.out


def test_they_do_not_hide_the_other_changes(request_: PullRequest) -> None:
    result = request_.run("diff", "main")
    assert result.code == 4
    assert "more than 8 archives within each other" in result.out
    assert "limit: (none) → 1" in result.out


@pytest.mark.parametrize("command", ["list", "sync quiz", "show quiz"])
def test_other_datasets_stay_usable(request_: PullRequest, command: str) -> None:
    result = request_.run(*command.split())
    assert "quiz" in result.out
    assert "unexpected" not in result.err
