"""The scheduled workflow locks the whole catalog, and proposes what moved as one pull request."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from registry.manifest.source_models import HfSource
from tests.conftest import REPOSITORY
from tests.git_repository import git
from tests.review_flow.composite_action import BASH, parsed, program
from tests.servers.hub import HubEmulator
from tests.test_shipped_manifests import RECORDS, SPECS

TEXT = (REPOSITORY / ".github" / "workflows" / "lock-catalog.yml").read_text(encoding="utf-8")
WORKFLOW = parsed(TEXT)
STEPS: list[dict[str, Any]] = WORKFLOW["jobs"]["lock"]["steps"]
RUN = {step["id"]: step for step in STEPS if "run" in step}
VARIABLES = {
    name: value
    for step in RUN.values()
    for name, value in step.get("env", {}).items()
    if "${{" not in value
}

SPLITS = ("train", "dev", "validation", "test")
"""Every configuration has these, as the companions of few-shot examples are of them."""
PACKAGE = re.compile(r"error: [\w-]+: package:inspect_evals/.* is not installed")
MADE_UP = {
    "abstention-bigbench-known-unknowns": "has the same id",
    "gpqa-extended-clean": "no row names a sample",
    "mmlu-pro-clean": "no row names a sample",
    "mmmu-validation": "record 1 has the same id",
    "vqa-rad-test": "no value is a key of `map`",
    "xstest-unsafe": "`where` keeps none of 2 records",
}
"""What made-up records can't be: the other Hub datasets are all built."""

# Keeps pull requests in a file as GitHub does, and notes every call.
GH = """
import json, os, pathlib, sys
file = pathlib.Path(os.environ["PULLS"])
state = json.loads(file.read_text()) if file.exists() else {"calls": [], "pulls": []}
state["calls"].append(" ".join(sys.argv[1:3]))
given = dict(zip(sys.argv[3:], sys.argv[4:]))
if sys.argv[1] == "pr" and sys.argv[2] == "list":
    print(len(state["pulls"]) or "")
elif sys.argv[1] == "pr":
    body = pathlib.Path(given["--body-file"]).read_text()
    if sys.argv[2] == "create":
        state["pulls"].append({"title": given["--title"], "head": given["--head"]})
    state["pulls"][-1]["comment" if sys.argv[2] == "comment" else "body"] = body
file.write_text(json.dumps(state))
"""

# Wherever the test runs, no host but the emulator's answers.
REGISTRY = """
import runpy, socket
look_up = socket.getaddrinfo
def only_here(host, *more, **keys):
    if host not in ("127.0.0.1", "localhost"):
        raise socket.gaierror(socket.EAI_NONAME, "not served")
    return look_up(host, *more, **keys)
socket.getaddrinfo = only_here
if __name__ == "__main__":
    runpy.run_module("registry", run_name="__main__", alter_sys=True)
"""


@dataclass
class Runner:
    """Runs the steps as a runner of GitHub Actions does, on a clone of a catalog."""

    folder: Path
    lock: str = RUN["lock"]["run"]
    """Script of the first step."""
    report: str = RUN["report"]["run"]

    def run(self) -> None:
        """Run the job after its installation, on a clean checkout."""
        checkout = self.folder / "checkout"
        git(self.folder, "clone", "--quiet", "origin.git", str(checkout))
        runner = {
            "RUNNER_TEMP": str(self.folder),
            "PULLS": str(self.folder / "pulls.json"),
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        }
        for script in (self.lock, self.report, RUN["propose"]["run"]):
            subprocess.run(
                [*BASH, "-c", script],
                cwd=checkout,
                env={**os.environ, **runner, **VARIABLES},
                check=True,
            )
        checkout.rename(self.folder / f"checkout-{len(list(self.folder.glob('checkout*')))}")

    @property
    def state(self) -> Any:
        """Pull requests, and calls of `gh`."""
        return json.loads((self.folder / "pulls.json").read_text(encoding="utf-8"))


def hub_sources() -> dict[tuple[str, str], dict[str, dict[str, list[Any]]]]:
    """Return (repository, commit) -> configuration -> split -> recorded records."""
    found: dict[tuple[str, str], dict[str, dict[str, list[Any]]]] = defaultdict(dict)
    for spec in SPECS:
        for source in spec.sources:
            if not isinstance(source, HfSource) or spec.name not in RECORDS:
                continue
            if source.data_files or source.data_dir or source.revision is None:
                continue
            config = found[source.path, source.revision].setdefault(source.name or "default", {})
            for split in (*re.sub(r"\[.*?\]", "", source.split).split("+"), *SPLITS):
                config.setdefault(split, RECORDS[spec.name])
    return found


def served() -> set[str]:
    """Return the datasets of which every source is a repository that the emulator has."""
    repositories = hub_sources()
    return {
        spec.name
        for spec in SPECS
        if spec.join is None
        and all(
            isinstance(one, HfSource)
            and (one.path, one.revision or "") in repositories
            and not (one.data_files or one.data_dir)
            for one in spec.sources
        )
    }


def repository_of(configs: dict[str, dict[str, list[Any]]]) -> dict[str, bytes]:
    """Return a card and JSON Lines: Parquet can't hold every record, such as an empty dict."""
    files, card = {}, []
    for config, splits in configs.items():
        names = {split: f"{config}/{split}.jsonl" for split in splits}
        paths = [{"split": split, "path": path} for split, path in names.items()]
        card.append({"config_name": config, "data_files": paths})
        for split, records in splits.items():
            lines = (json.dumps(record) for record in records)
            files[names[split]] = "\n".join(lines).encode()
    return {**files, "README.md": f"---\n{yaml.safe_dump({'configs': card})}---\n".encode()}


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """The built-in manifests in a repository, without the numbers that they expect."""
    return runner_of(tmp_path, "registry")


@pytest.fixture
def small(tmp_path: Path) -> Runner:
    """The demos alone, where the number of datasets does not matter."""
    return runner_of(tmp_path, "registry/demo.yaml", "registry/data")


def runner_of(tmp_path: Path, *paths: str) -> Runner:
    for name, script in (("gh", GH), ("registry", REGISTRY)):
        program(tmp_path / "bin" / name, f"#!{sys.executable}\n{script}")
    catalog = tmp_path / "catalog"
    catalog.mkdir()
    for file in git(REPOSITORY, "ls-files", *paths, "datasets.yaml", "datasets.lock").split():
        text = (REPOSITORY / file).read_bytes()
        if file.endswith(".yaml"):
            # The records are made up, so their number is not that of the real files.
            text = re.sub(rb"(?m)^ +expect: .*\n|,? *expect: \{[^}]*\}", b"", text)
        (catalog / file).parent.mkdir(parents=True, exist_ok=True)
        (catalog / file).write_bytes(text)
    git(catalog, "init", "--quiet", "--initial-branch", "main")
    git(catalog, "add", "--all")
    git(catalog, "commit", "--quiet", "--message", "The catalog")
    git(tmp_path, "clone", "--quiet", "--bare", str(catalog), "origin.git")
    return Runner(tmp_path)


def test_the_whole_catalog_is_locked_and_proposed_once(runner: Runner, hub: HubEmulator) -> None:
    for (repository, commit), configs in hub_sources().items():
        hub.commit(repository, repository_of(configs), sha=commit)
    runner.run()
    (pull,) = runner.state["pulls"]
    assert (pull["title"], pull["head"]) == (VARIABLES["TITLE"], "lock-catalog")
    assert re.match(r"### .* · \d+ more datasets changed", pull["body"])
    assert len(pull["body"]) <= 65_536
    assert "datasets pinned" in pull["comment"]
    errors = [line for line in pull["comment"].splitlines() if line.startswith("error: ")]
    found = {line.split(": ")[1]: line for line in errors if not PACKAGE.match(line)}
    assert sorted(found) == sorted(MADE_UP)
    assert [name for name, why in MADE_UP.items() if why not in found[name]] == []

    git(runner.folder, "clone", "--quiet", "--branch", "lock-catalog", "origin.git", "proposed")
    command = [sys.executable, "-I", "-m", "registry", "list", "--json", "--root", "proposed"]
    listed = json.loads(subprocess.check_output(command, cwd=runner.folder))
    states = {one["name"]: one["state"] for one in listed if "state" in one}
    assert {name for name in served() if states[name] != "verified"} == set(MADE_UP)

    proposed = runner.folder / "proposed" / "datasets.lock"
    runner.lock, runner.report = f'cp "{proposed}" datasets.lock', "true"
    runner.run()
    assert runner.state["calls"] == [
        *("auth setup-git", "pr list", "pr create", "pr comment"),
        *("auth setup-git", "pr list", "pr edit", "pr comment"),
    ]
    assert len(runner.state["pulls"]) == 1


def test_nothing_is_proposed_where_nothing_moved(small: Runner) -> None:
    small.lock = 'echo "nothing to pin" | tee "$RUNNER_TEMP/lock.txt" > "$RUNNER_TEMP/errors.txt"'
    small.run()
    assert not (small.folder / "pulls.json").exists()


def test_a_problem_of_the_command_itself_proposes_nothing(small: Runner) -> None:
    small.lock = "exit 3"
    with pytest.raises(subprocess.CalledProcessError):
        small.run()
    assert not (small.folder / "pulls.json").exists()


def test_it_may_write_its_branch_and_pull_requests() -> None:
    allowed = WORKFLOW["jobs"]["lock"]["permissions"]
    assert allowed == {"contents": "write", "pull-requests": "write"}
    with_token = [step["id"] for step in STEPS if "github.token" in str(step)]
    assert with_token == ["propose"]
    assert set(WORKFLOW["on"]) == {"schedule", "workflow_dispatch"}
