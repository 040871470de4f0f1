"""Attack 4: a mapper that a trusted module only imports, such as `check_output`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repository import GitRepository
from tests.security.installed import Machine

INDEX = "version: 1\ninclude: [m/*.yaml]\ntrust: [{trust}]\nvalidate: {{ignore: [description]}}\n"
OURS = """
from subprocess import check_output
from registry import Sample

def read(record):
    return Sample(input=record["input"])
"""


def manifest(mapper: str) -> str:
    """Return a dataset whose record a mapper receives."""
    source = "{type: json, path: data/d.jsonl}"
    return f"datasets:\n  d: {{source: {source}, mapper: '{mapper}', description: x}}\n"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Make a machine where `ours`, which the base trusts, is installed."""
    machine = Machine(tmp_path)
    machine.install({"ours/__init__.py": "", "ours/mod.py": machine.mark("imported") + OURS})
    return machine


def repository(machine: Machine, trust: str) -> GitRepository:
    """Make the reviewed repository, whose base trusts a mapper."""
    return GitRepository.make(
        machine.folder / "repository",
        {
            "datasets.yaml": INDEX.format(trust=trust),
            "m/d.yaml": manifest("ours.mod:read"),
            # The record that `check_output(record)` would run: a list may be a command.
            "data/d.jsonl": '{"input": "x"}\n',
        },
    )


COMMANDS = (
    *("validate --strict", "list", "show d", "lock --check", "diff main"),
    "diff main --build --offline",
)


def test_a_function_that_a_trusted_module_imports_is_not_trusted(machine: Machine) -> None:
    reviewed = repository(machine, "'ours.mod:read'")
    reviewed.write({"m/d.yaml": manifest("ours.mod:check_output")})
    for command in COMMANDS:
        outcome = machine.run(reviewed.folder, *command.split())
        # Without a lock, `lock` looks at no dataset.
        if not command.startswith(("list", "lock")):
            assert "trust" in outcome.text
        # The base's own mapper is built.
        assert "imported" not in machine.ran or "--build" in command
        assert outcome.code != 0 or command == "list"


def test_a_function_of_another_package_is_refused_even_if_the_index_lists_it(
    machine: Machine,
) -> None:
    reviewed = repository(machine, "'ours.mod:check_output'")
    reviewed.write({"m/d.yaml": manifest("ours.mod:check_output")})
    outcome = machine.run(reviewed.folder, "sync", "d")
    assert outcome.code == 1
    assert "ours.mod:check_output is not defined in the package 'ours', but in" in outcome.err


def test_a_mapper_that_the_base_trusts_is_built(machine: Machine) -> None:
    reviewed = repository(machine, "'ours.mod:read'")
    reviewed.write({"data/d.jsonl": '{"input": "y"}\n'})
    outcome = machine.run(reviewed.folder, "diff", "main", "--build", "--offline")
    assert "not compared" not in outcome.out
    assert machine.ran == {"imported"}


def test_the_name_of_a_package_alone_trusts_nothing(machine: Machine) -> None:
    reviewed = repository(machine, "ours")
    outcome = machine.run(reviewed.folder, "validate")
    assert outcome.code == 1
    assert "datasets.yaml:3:9 $.trust[0]: 'ours' has the wrong form" in outcome.out
    assert "Name each function as `package.module:function`" in outcome.out
    assert machine.ran == set()
