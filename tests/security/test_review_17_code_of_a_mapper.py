"""Row 17: changed code of a mapper in the reviewed repository is reported, and not run."""

from __future__ import annotations

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
RUN_CODE = ("diff", "main", "--build", "--offline", "--json", "--run-changed-code")


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("case", CHANGES)
def test_changed_code_is_not_compared_and_not_run(
    machine: Machine, case: str, *, installed: bool
) -> None:
    name, text = CHANGES[case]
    repository = change(machine, {name: machine.mark("ran") + text}, installed=installed)
    for build in ([], ["--build"]):
        shown = machine.run(repository.folder, "diff", "main", "--offline", "--json", *build)
        diff = shown.json
        assert (shown.code, diff["not_compared"]) == (4, ["demo"])
        assert [one["file"] for one in diff["head_problems"]] == [name]
        (dataset,) = diff["changes"]
        assert (dataset["name"], dataset["kinds"]) == ("demo", ["code"])
        assert [one["key"] for one in dataset["keys"]] == [f"code.{name}"]
        assert dataset["samples"]["obstacle"] == "changed code"
        (lines,) = dataset["samples"]["examples"]
        assert lines["label"] == name
        assert machine.mark("ran").splitlines()[0] in "".join(
            part["text"] if isinstance(part, dict) else part[1]
            for field in lines["fields"]
            for part in field["chunks"]
        )
    assert machine.ran == set()


def test_changed_code_runs_on_demand(machine: Machine) -> None:
    name, text = CHANGES["its package"]
    repository = change(machine, {name: machine.mark("ran") + text})
    shown = machine.run(repository.folder, *RUN_CODE)
    diff = shown.json
    assert (shown.code, diff["not_compared"], diff["head_problems"]) == (1, [], [])
    samples = diff["changes"][0]["samples"]
    assert (samples["obstacle"], samples["changed"], samples["fields"]) == ("", 1, {"target": 1})
    assert machine.ran == {"ran"}
    check = ("lock", "--check", "--config-from", "main", "--run-changed-code")
    checked = machine.run(repository.folder, *check)
    assert checked.code == 1
    assert "demo: ordered is 'sha256:" in checked.out


def test_samples_of_code_that_is_not_here_are_not_compared(machine: Machine) -> None:
    name, text = CHANGES["its package"]
    repository = change(machine, {name: text}, installed=False)
    (machine.folder / "site").symlink_to(repository.folder / "src")
    shown = machine.run(repository.folder, *RUN_CODE)
    (dataset,) = shown.json["changes"]
    assert (shown.code, dataset["samples"]["obstacle"]) == (1, "other code")


def test_each_format_says_so(machine: Machine) -> None:
    files = {"src/ours/mod.py": machine.mark("ran"), "m/d.yaml": f"{MANIFEST}    limit: 9\n"}
    repository = change(machine, files)
    diff = ("diff", "main", "--build", "--offline", "--format")
    for form in ("text", "markdown", "html", "json"):
        shown = machine.run(repository.folder, *diff, form)
        assert shown.code == 4
        assert "src/ours/mod.py, code of the mapper" in shown.out
        assert "no difference" not in shown.out
        assert "limit" in shown.out, "what else changed is shown"
        assert "line 1" in shown.out, "changed lines are shown"
    assert machine.ran == set()


def test_check_of_the_lock_does_not_run_it(machine: Machine) -> None:
    repository = change(machine, {"src/ours/mod.py": machine.mark("ran") + READ})
    checked = machine.run(repository.folder, "lock", "--check", "--config-from", "main")
    assert (checked.code, machine.ran) == (1, set())
    assert "demo: src/ours/mod.py, code of the mapper 'ours.mod:read', differs from" in checked.out


def test_other_code_of_the_repository_does_not_matter(machine: Machine) -> None:
    files = {"src/other.py": "pass\n", "tests/test_ours.py": ""}
    repository = change(machine, {**files, "m/d.yaml": f"{MANIFEST}    limit: 9\n"})
    shown = machine.run(repository.folder, "diff", "main", "--build", "--offline", "--json")
    diff = shown.json
    assert (shown.code, diff["not_compared"], diff["changes"][0]["samples"]["new"]) == (1, [], 1)
    checked = machine.run(repository.folder, "lock", "--check", "--config-from", "main")
    assert "differs from" not in checked.out


def test_revisions_are_compared_with_the_code_that_would_run(machine: Machine) -> None:
    repository = change(machine, {"src/ours/mod.py": machine.mark("ran") + READ})
    repository.git("branch", "later", "main")
    shown = machine.run(repository.folder, "diff", "main", "later", "--build", "--offline")
    assert (shown.code, machine.ran) == (4, set())


@pytest.mark.parametrize("options", [["--offline"], ["--from", "d.jsonl"]])
def test_preview_by_the_rules_of_the_base_does_not_run_it(
    machine: Machine, options: list[str]
) -> None:
    repository = change(machine, {"src/ours/mod.py": machine.mark("ran") + READ})
    command = ("preview", "demo", *options)
    shown = machine.run(repository.folder, *command, "--config-from", "main")
    assert (shown.code, machine.ran) == (1, set())
    assert "src/ours/mod.py, code of the mapper 'ours.mod:read', differs" in shown.err
    assert "--run-changed-code runs it" in shown.err
    allowed = ("--config-from", "main", "--run-changed-code")
    assert machine.run(repository.folder, *command, *allowed).code == 0
    assert machine.ran == {"ran"}
