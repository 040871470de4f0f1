"""`init`: a catalog that works at once, over nothing that exists."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml
from referencing import Registry

from registry import get_dataset
from tests.cli.invocation import Run
from tests.git_repository import git


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "evals"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    found = (
        path for path in sorted(folder.rglob("*")) if path.is_file() and ".git" not in path.parts
    )
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def shell(folder: Path, command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command with this environment's `registry` and `python` first on the path."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, **variables},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def test_new_catalog_builds_and_passes_the_strictest_checks(empty: Path, run: Run) -> None:
    result = run("init")
    assert (result.code, result.err) == (0, "")
    assert run("validate", "--strict", "--select", "all").out == "no problems (2 datasets)\n"
    dataset = get_dataset("example-qa")
    assert [sample.target for sample in dataset] == ["B", "A", "C", "B"]
    assert dataset[3].input == "Which gas, of these, do plants take in?"
    assert len(get_dataset("example-qa-small")) == 2
    assert run("lock").code == 0
    assert run("lock", "--check").code == 0


def test_commands_that_it_names_work(empty: Path, run: Run) -> None:
    (empty / "my.csv").write_text("question,answer\nOne?,1\nTwo?,2\n")
    lines = run("init", "inner").out.partition("Next:\n")[2].splitlines()
    commands = [re.split(r" {2,}|;", line.strip())[0] for line in lines]
    assert commands[0] == "cd inner"
    assert [command.split()[1] for command in commands[1:]] == [
        "preview",
        "add",
        "validate",
        "lock",
    ]
    os.rename("my.csv", "inner/my.csv")
    os.chdir("inner")
    for command in commands[1:]:
        result = run(*command.split()[1:])
        assert (result.code, result.err) == (0, ""), command


def test_schema_lines_lead_to_schemas_that_accept_the_files(empty: Path, run: Run) -> None:
    run("init")
    for name in ("datasets.yaml", "registry/example.yaml"):
        text = (empty / name).read_text()
        found = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
        assert found is not None
        schema = json.loads((empty / name).parent.joinpath(found[1]).read_text())
        others = [json.loads(file.read_text()) for file in empty.glob("schemas/*")]
        registry = Registry().with_contents((other["$id"], other) for other in others)
        jsonschema.Draft202012Validator(schema, registry=registry).validate(yaml.safe_load(text))


def test_second_run_lists_what_exists_and_changes_nothing(empty: Path, run: Run) -> None:
    run("init")
    (empty / "registry" / "example.yaml").unlink()
    before = contents(empty)
    result = run("init")
    assert result.code == 1
    assert result.err == "error: everything is there already, so nothing was written\n"
    assert [line.split()[1] for line in result.lines] == [
        "datasets.yaml",
        "data/example-qa.csv",
        *(f"schemas/{name}.schema.json" for name in ("manifest", "index", "corrections", "lock")),
        ".gitattributes",
    ]
    assert contents(empty) == before


def test_files_of_others_are_left_as_they_are(empty: Path, run: Run) -> None:
    (empty / ".gitattributes").write_text("* text\n")
    result = run("init")
    assert (result.code, "exists  .gitattributes (left as it is)" in result.lines) == (0, True)
    assert (empty / ".gitattributes").read_text() == "* text\n"


def test_existing_catalog_gets_what_is_asked_for(empty: Path, run: Run) -> None:
    (empty / "datasets.yaml").write_text("version: 1\n")
    result = run("init", "--workflow")
    assert result.code == 0
    assert "Next:" not in result.out
    assert (empty / ".github/workflows/datasets.yml").is_file()
    assert not (empty / "registry").exists()
    assert (empty / "datasets.yaml").read_text() == "version: 1\n"


@pytest.mark.parametrize("folder", ["taken", "taken/deeper", "/proc/none"])
def test_unwritable_folder_is_one_error(empty: Path, run: Run, folder: str) -> None:
    (empty / "taken").write_text("a file")
    result = run("init", folder)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: can't write ")
    assert result.err.count("\n") == 1
    assert contents(empty) == {"taken": b"a file"}


def test_pre_commit_runs_the_hooks(empty: Path, run: Run) -> None:
    pytest.importorskip("pre_commit")
    if not Path(sys.executable).with_name("registry").exists():
        pytest.skip("the package is not installed, so there is no command `registry`")
    git(empty, "init", "-q")
    run("init", "sets", "--pre-commit")
    git(empty, "add", ".")
    command = "python -m pre_commit run --all-files --color never registry-validate"
    done = shell(empty, command, PRE_COMMIT_HOME=str(empty / ".git" / "pre-commit"))
    assert done.returncode == 0, done.stdout
    assert re.search(r"validate dataset manifests\.+Passed", done.stdout)
    (empty / "sets/registry/example.yaml").write_text("datasets: {x: {}}\n")
    done = shell(empty, command, PRE_COMMIT_HOME=str(empty / ".git" / "pre-commit"))
    assert done.returncode == 1
