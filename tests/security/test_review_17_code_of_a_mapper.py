"""Row 17: changed code of a mapper in the reviewed repository is reported, and not run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.git_repository import GitRepository
from tests.security.installed import Machine

MANIFEST = """\
datasets:
  demo:
    description: Demo.
    source: {type: json, path: d.jsonl}
    mapper: ours.mod:read
"""
READ = """\
from ours.deep import answer
import beside
def read(record):
    from registry import Sample
    return Sample(input=record['input'], target=answer)
"""
FILES = {
    "datasets.yaml": "version: 1\ninclude: [m/*.yaml]\ntrust: ['ours.mod:read']\n",
    "m/d.yaml": MANIFEST,
    "d.jsonl": '{"input": "x"}\n',
    "src/ours/__init__.py": "",
    "src/ours/mod.py": READ,
    "src/ours/deep/__init__.py": "answer = 'yes'\n",
    "src/beside.py": "",
    "src/other.py": "",
}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def change(machine: Machine, files: Mapping[str, str], *, installed: bool = True) -> GitRepository:
    """Make a change of a repository that is installed as `pip install -e` does."""
    repository = GitRepository.make(machine.folder / "repository", FILES)
    if installed:
        (machine.folder / "site").symlink_to(repository.folder / "src")
        assert machine.run(repository.folder, "lock").code == 0
        repository.commit()
    repository.git("switch", "--quiet", "--create", "topic")
    repository.write(files)
    repository.commit()
    return repository


CHANGES = {
    "its module": ("src/ours/mod.py", READ.replace("answer)", "'EVIL')")),
    "its package": ("src/ours/deep/__init__.py", "answer = 'EVIL'\n"),
    "a new file": ("src/ours/deep.py", "answer = 'EVIL'\n"),
    "what it imports": ("src/beside.py", "pass\n"),
}
FORMATS = ("text", "markdown", "html", "json")


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("case", CHANGES)
def test_changed_code_is_not_compared_and_not_run(
    machine: Machine, case: str, *, installed: bool
) -> None:
    name, text = CHANGES[case]
    repository = change(machine, {name: machine.mark("ran") + text}, installed=installed)
    for build in ([], ["--build"]):
        shown = machine.run(repository.folder, "diff", "main", "--offline", "--json", *build)
        diff = json.loads(shown.out)
        assert (shown.code, diff["not_compared"]) == (4, ["demo"])
        assert [one["file"] for one in diff["head_problems"]] == [name]
        assert diff["headline"] == "1 problem"
    assert machine.ran == set()


@pytest.mark.parametrize("form", FORMATS)
def test_each_format_says_so(machine: Machine, form: str) -> None:
    files = {"src/ours/mod.py": machine.mark("ran"), "m/d.yaml": f"{MANIFEST}    limit: 9\n"}
    repository = change(machine, files)
    shown = machine.run(repository.folder, "diff", "main", "--build", "--offline", "--format", form)
    assert shown.code == 4
    assert "src/ours/mod.py, code of the mapper" in shown.out
    assert "no difference" not in shown.out
    assert "limit" in shown.out, "what else changed is shown"
    assert machine.ran == set()


def test_check_of_the_lock_does_not_run_it(machine: Machine) -> None:
    repository = change(machine, {"src/ours/mod.py": machine.mark("ran") + READ})
    checked = machine.run(repository.folder, "lock", "--check", "--config-from", "main")
    assert (checked.code, machine.ran) == (1, set())
    assert "demo: src/ours/mod.py, code of the mapper 'ours.mod:read', differs from" in checked.out


def test_other_code_of_the_repository_does_not_matter(machine: Machine) -> None:
    files = {
        "src/other.py": "pass\n",
        "tests/test_ours.py": "",
        "m/d.yaml": f"{MANIFEST}    limit: 9\n",
    }
    repository = change(machine, files)
    shown = machine.run(repository.folder, "diff", "main", "--build", "--offline", "--json")
    diff = json.loads(shown.out)
    assert (shown.code, diff["not_compared"], diff["changes"][0]["samples"]["new"]) == (1, [], 1)
    checked = machine.run(repository.folder, "lock", "--check", "--config-from", "main")
    assert "differs from" not in checked.out


def test_revisions_are_compared_with_the_code_that_would_run(machine: Machine) -> None:
    repository = change(machine, {"src/ours/mod.py": machine.mark("ran") + READ})
    repository.git("branch", "later", "main")
    shown = machine.run(repository.folder, "diff", "main", "later", "--build", "--offline")
    assert (shown.code, machine.ran) == (4, set())
