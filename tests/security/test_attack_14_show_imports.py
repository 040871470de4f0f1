"""Attack 14: looking at a pull request imports the mapper that only the pull request trusts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repository import GitRepository
from tests.security.installed import Machine

INDEX = "version: 1\ninclude: [m/*.yaml]\nvalidate: {ignore: [description]}\n"
PLAIN = "datasets:\n  d:\n    source: {type: json, path: data/d.jsonl}\n"
TRUST = "trust: ['theirs.deep.mod:read']\n"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Make a machine with a package that runs code when it is imported."""
    machine = Machine(tmp_path)
    mark = machine.mark("imported")
    body = f"def read(record):\n    {machine.mark('called')}"
    files = {"theirs/__init__.py": mark, "theirs/deep/__init__.py": mark}
    machine.install({**files, "theirs/deep/mod.py": mark + body})
    return machine


@pytest.fixture
def reviewed(machine: Machine, tmp_path: Path) -> GitRepository:
    """Make a repository where a change trusts the package and uses it."""
    repository = GitRepository.make(
        tmp_path / "repository",
        {"datasets.yaml": INDEX, "m/d.yaml": PLAIN, "data/d.jsonl": '{"input": "x"}\n'},
    )
    repository.write(
        {"datasets.yaml": INDEX + TRUST, "m/d.yaml": f"{PLAIN}    mapper: theirs.deep.mod:read\n"}
    )
    return repository


COMMANDS = (
    *("validate --strict", "list", "show d", "show d --json", "show d --origin", "show d --call"),
    *("lock --check", "diff main", "diff main --build --offline"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_code_that_only_the_change_trusts_is_not_imported(
    machine: Machine, reviewed: GitRepository, command: str
) -> None:
    assert machine.run(reviewed.folder, *command.split()).text
    assert machine.ran == set()


def test_building_imports_it(machine: Machine, reviewed: GitRepository) -> None:
    machine.run(reviewed.folder, "sync", "d")
    assert machine.ran == {"imported", "called"}, "the marks show that code ran"
