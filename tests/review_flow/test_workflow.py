"""The workflows of this repository, the manual and `init`: their permissions, and that they work."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from registry.cli import main
from registry.scaffold.starter import workflow
from tests.conftest import REPOSITORY
from tests.git_repository import GitRepository
from tests.review_flow.composite_action import Done, install, parsed

OWN = (REPOSITORY / ".github" / "workflows" / "registry.yml").read_text(encoding="utf-8")
PAGE = (REPOSITORY / "docs" / "reference" / "review.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```yaml\n(# \.github/workflows/.*?)```", PAGE, re.DOTALL)
ACTION = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))


def steps(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parsed(text)["jobs"]["review"]["steps"]
    return found


def test_manual_shows_the_workflow_of_this_repository() -> None:
    (shown,) = SHOWN
    *_, last = steps(shown)
    assert re.fullmatch(r"OWNER/registry@v\d+\.\d+\.\d+", last["uses"])
    assert parsed(shown.replace(last["uses"], "./")) == parsed(OWN)


def test_pull_request_from_a_fork_has_no_write_access() -> None:
    workflow = parsed(OWN)
    assert workflow["permissions"] == {"contents": "read"}
    assert list(workflow["on"]) == ["pull_request"]
    assert not any("permissions" in job for job in workflow["jobs"].values())
    assert "secrets" not in OWN


def test_checkout_has_history_and_no_token() -> None:
    checkout, *_ = steps(OWN)
    assert checkout["with"] == {"fetch-depth": 0, "persist-credentials": False}


WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize(
    "path",
    [
        *WORKFLOWS,
        REPOSITORY / "docs" / "reference" / "review.md",
        REPOSITORY / "src" / "registry" / "scaffold" / "starter.py",
    ],
    ids=lambda path: path.name,
)
def test_actions_are_pinned_to_a_commit(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    used = re.findall(r"uses: (?!\./|OWNER/)(.*)", text)
    assert used
    pinned = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [uses for uses in used if not pinned.fullmatch(uses)] == []


@pytest.mark.parametrize("kind", ["inputs", "outputs"])
def test_documentation_has_every_input_and_output(kind: str) -> None:
    table = PAGE.partition(f"| {kind[:-1]} | meaning |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE) == list(ACTION[kind])


def test_catalog_of_this_repository_passes(tmp_path: Path) -> None:
    action, installed = install(tmp_path)
    repository = GitRepository.make(tmp_path / "repository", {"README.md": "A catalog.\n"})
    shutil.copytree(REPOSITORY / "registry", repository.folder / "registry")
    for name in ("datasets.yaml", "datasets.lock"):
        shutil.copy(REPOSITORY / name, repository.folder)
    repository.commit()
    demo = repository.folder / "registry" / "demo.yaml"
    text = demo.read_text(encoding="utf-8")
    assert "limit: 10\n" in text
    repository.git("switch", "--quiet", "--create", "topic")
    demo.write_text(text.replace("limit: 10\n", "limit: 12\n"), encoding="utf-8")

    def run(name: str) -> Done:
        known, inputs = installed.outputs, steps(OWN)[-1]["with"]
        return action.run(repository.folder, only=name, known=known, inputs=inputs)

    # A pin covers one limit; `validate` warns at the manifest line, `--strict` makes it an error.
    assert [run(name).codes[name] for name in ("validate", "lock")] == [1, 1]
    assert main(["lock", "demo-mcq-small", "--root", str(repository.folder)]) == 0
    assert [run(name).codes[name] for name in ("validate", "lock")] == [0, 0]
    done = run("diff")
    assert done.codes == {"diff": 0}
    assert "`demo-mcq-small`: 2 samples added to 10; `limit`" in done.summary
    assert "10 → 12: 2 added" in done.summary


# --- the workflow that `init` writes ---


class Written:
    """A repository with the workflow that `init` writes, whose steps run as a runner runs them."""

    def __init__(self, folder: Path) -> None:
        self.action, self.installed = install(folder)
        self.repository = GitRepository.make(folder / "repository", {"README.md": "A catalog.\n"})
        self.root = str(self.repository.folder)

    def add_catalog(self) -> None:
        assert main(["init", self.root, "--workflow"]) == 0
        assert main(["lock", "--root", self.root]) == 0
        self.repository.commit()

    def branch(self) -> None:
        self.repository.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.repository.git("switch", "--quiet", "--create", "topic")

    def review(self, *only: str) -> Done:
        """Run the steps, or some, after that which installs the package from an index."""
        file = self.repository.folder / ".github" / "workflows" / "datasets.yml"
        scripts = [step for step in steps(file.read_text(encoding="utf-8")) if "run" in step]
        parts = {"inputs": {"python": {"default": ""}}, "runs": {"steps": scripts}}
        composite = self.action.temp / "written.yml"
        composite.write_text(yaml.safe_dump(parts), encoding="utf-8")
        action = replace(self.action, file=composite)
        done = Done(outputs=dict(self.installed.outputs))
        for name in only or list(action.steps)[1:]:
            base = {"GITHUB_BASE_REF": "main"}
            top = self.repository.folder
            ran = action.run(top, only=name, known=done.outputs, environment=base)
            done.codes.update(ran.codes)
            done.logs.update(ran.logs)
            done.outputs.update(ran.outputs)
        return done


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path)


def test_written_workflow_uses_the_inputs_of_the_manual() -> None:
    (shown,) = SHOWN
    given = steps(shown)[-1]["with"]
    environments = [step.get("env", {}) for step in steps(workflow(".", "1.0"))]
    found = {name: value for one in environments for name, value in one.items()}
    assert (found["ARGS"], found["DIFF_ARGS"]) == (given["args"], given["diff-args"])
    *others, _ = steps(shown)
    assert steps(workflow(".", "1.0"))[: len(others)] == others
    assert parsed(workflow(".", "1.0"))["permissions"] == parsed(shown)["permissions"]


def test_written_workflow_accepts_the_change_that_adds_the_catalog(written: Written) -> None:
    written.branch()
    written.add_catalog()
    done = written.review()
    assert done.codes == {"base": 0, "diff": 0, "validate": 0, "lock": 0}, done.logs


def test_written_workflow_fails_if_a_change_deletes_the_lockfile(written: Written) -> None:
    written.add_catalog()
    written.branch()
    written.repository.git("rm", "--quiet", "datasets.lock")
    written.repository.commit()
    done = written.review("base", "lock")
    assert done.codes["lock"] == 1
    assert "this change deletes the lockfile" in done.logs["lock"]


def test_written_workflow_checks_the_lockfile_by_the_rules_of_the_base(written: Written) -> None:
    written.add_catalog()
    written.branch()
    outside = written.repository.folder.parent / "rows.csv"
    outside.write_text("q,a\n1,2\n", encoding="utf-8")
    manifest = "datasets: {x: {license: mit, source: {type: csv, path: ../rows.csv}, fields: F}}"
    manifest = manifest.replace("F", "{input: q, target: a, id: q}")
    index = written.repository.folder / "datasets.yaml"
    index.write_text(f"{index.read_text(encoding='utf-8')}paths: [..]\n", encoding="utf-8")
    written.repository.write({"registry/x.yaml": f"{manifest}\n"})
    assert main(["lock", "--root", written.root]) == 0
    written.repository.commit()
    done = written.review("base", "lock")
    assert done.codes["lock"] == 1
    assert "is outside the catalog's folder" in done.logs["lock"]


def test_written_workflow_reports_a_problem_at_its_line(written: Written) -> None:
    written.add_catalog()
    written.branch()
    written.repository.write({"registry/b.yaml": 'datasets:\n  "x\\n::warning::y": {}\n'})
    written.repository.commit()
    done = written.review("base", "validate", "lock")
    assert done.codes["validate"] == 1
    assert "::error file=registry/b.yaml,line=2" in done.logs["validate"]
    token = written.installed.outputs["steps.install.outputs.token"]
    assert f"::stop-commands::{token}\n" in done.logs["lock"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_workflow_gives_a_pull_request_secrets_or_a_token(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    workflow = parsed(text)
    assert "pull_request_target" not in text
    assert workflow["permissions"].get("contents", "read") == "read"
    if "pull_request" in workflow["on"]:
        assert "secrets." not in text
        assert "github.token" not in text
    for job in workflow["jobs"].values():
        checkouts = [one for one in job["steps"] if "checkout" in one.get("uses", "")]
        plain = {"fetch-depth": 0, "persist-credentials": False}
        assert all({"fetch-depth": 0, **one["with"]} == plain for one in checkouts)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_expressions_reach_scripts_only_as_variables(path: Path) -> None:
    jobs = parsed(path.read_text(encoding="utf-8"))["jobs"].values()
    scripts = [step.get("run", "") for job in jobs for step in job["steps"]]
    assert [script for script in scripts if "${{" in script] == []
