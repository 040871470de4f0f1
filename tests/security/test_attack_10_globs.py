"""Attack 10: a data path whose stars can be matched in more ways than anyone can count."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.git_repository import GitRepository
from tests.security.installed import Machine

INDEX = "version: 1\ninclude: [m/*.yaml]\nvalidate: {ignore: [description]}\n"
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
