"""Code that is new in a change: the diff names it, and never imports it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.git_repository import GitRepository
from tests.security.installed import Machine

INDEX = "version: 1\ninclude: [m/*.yaml]\n"
PLAIN = """\
datasets:
  old: {source: {type: json, path: d.jsonl}, mapper: ours.mod:read}
  new:
    source: {type: json, path: d.jsonl}
"""
TRUST = "trust: ['ours.mod:read'{more}]\n"
READ = (
    "def read(record):\n    from registry import Sample\n    return Sample(input=record['input'])\n"
)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Make a machine with a trusted package, and one that leaves a mark."""
    machine = Machine(tmp_path)
    mark = machine.mark("theirs")
    ours = f"{machine.mark('ours')}{READ}\n{READ.replace('read', 'other')}"
    machine.install({"ours/__init__.py": "", "ours/mod.py": ours})
    machine.install({"theirs/__init__.py": mark, "theirs/mod.py": f"{mark}{READ}"})
    return machine


def change(folder: Path, mapper: str) -> GitRepository:
    """Make a change that trusts a mapper and uses it, and edits the data of all."""
    files = {"datasets.yaml": INDEX + TRUST.format(more=""), "m/d.yaml": PLAIN}
    repository = GitRepository.make(folder, {**files, "d.jsonl": '{"input": "x"}\n'})
    repository.git("switch", "--quiet", "--create", "topic")
    repository.write(
        {
            "datasets.yaml": INDEX + TRUST.format(more=f", '{mapper}'"),
            "m/d.yaml": f"{PLAIN}    mapper: {mapper}\n",
            "d.jsonl": '{"input": "y"}\n',
        }
    )
    repository.commit()
    return repository


@pytest.mark.parametrize("mapper", ["theirs.mod:read", "ours.mod:other"])
def test_new_mapper_is_named_and_not_run(machine: Machine, tmp_path: Path, mapper: str) -> None:
    repository = change(tmp_path / "repository", mapper)
    state = tmp_path / "review.json"
    command = ("diff", "main", "--build", "--offline", "--json", "--reviewed", str(state))
    outcome = machine.run(repository.folder, *command)
    assert outcome.code == 1
    diff = outcome.json
    assert diff["reach"] == [
        {"kind": "mapper", "name": mapper, "datasets": ["new"]},
        {"kind": "permission", "name": f"trust: {mapper}", "datasets": []},
    ]
    new, old = sorted(diff["changes"], key=lambda one: one["name"])
    assert f"the base does not trust the mapper '{mapper}'" in new["samples"]["note"]
    assert old["samples"]["new"] == 1, "the mapper of the base is run"
    assert machine.ran == {"ours"}
    head = json.loads(state.read_text())["head"]["datasets"]
    assert head["new"]["reach"] == [f"mapper {mapper}"]
    assert "samples" not in head["new"] or head["new"]["samples"] is None
