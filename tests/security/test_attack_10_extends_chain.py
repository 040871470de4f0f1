"""Attack 10: thousands of datasets that extend each other took minutes to resolve."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repository import GitRepository
from tests.security.installed import Machine

LINKS = 3000


@pytest.fixture
def reviewed(tmp_path: Path) -> GitRepository:
    """Make a repository where a change adds the chain."""
    base = {"datasets.yaml": "version: 1\ninclude: [m/*.yaml]\nvalidate: {ignore: [description]}\n"}
    root = "datasets:\n  d0: {source: {type: json, path: d.jsonl}, tags: [a]}\n"
    repository = GitRepository.make(
        tmp_path / "repository", {**base, "m/d.yaml": root, "d.jsonl": '{"input": "x"}\n'}
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
    index = (reviewed.folder / "datasets.yaml").read_text(encoding="utf-8")
    reviewed.write({"datasets.yaml": f"{index}limits: {{extends: 60}}\n"})
    machine = Machine(tmp_path)
    assert machine.run(reviewed.folder, "show", "d60").code == 0
    assert "more than 60 ancestors" in machine.run(reviewed.folder, "show", "d61").err
