"""Which files a new catalog gets: all in an empty folder, only the missing ones elsewhere."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import yaml

from registry.manifest.schema import SCHEMAS
from registry.manifest.validation import validate
from registry.scaffold.starter import (
    GIT_ATTRIBUTES,
    INDEX,
    StarterPlan,
    plan_starter,
    pre_commit,
    workflow,
)
from registry.yamldoc.reader import parse_yaml
from tests.conftest import REPOSITORY

EXAMPLE = ["registry/example.yaml", "data/example-qa.csv"]
ALWAYS = ["datasets.yaml", *EXAMPLE, *(f"schemas/{name}.schema.json" for name in SCHEMAS)]


def planned(folder: Path, **options: bool) -> StarterPlan:
    return plan_starter(folder, requirement="eval-registry==1.2", **options)


def names(plan: StarterPlan, folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in plan.new]


def test_empty_folder_gets_everything(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    assert names(plan, tmp_path) == [*ALWAYS, ".gitattributes"]
    assert plan.existing == ()


def test_hooks_and_workflow_are_written_on_request(tmp_path: Path) -> None:
    plan = planned(tmp_path, with_pre_commit=True, with_workflow=True)
    wanted = [".pre-commit-config.yaml", ".github/workflows/datasets.yml"]
    assert names(plan, tmp_path)[-2:] == wanted


@pytest.mark.parametrize("marker", ["folder", "file of a worktree"])
def test_hooks_belong_to_the_top_of_the_repository(tmp_path: Path, marker: str) -> None:
    git = tmp_path / ".git"
    git.mkdir() if marker == "folder" else git.write_text("gitdir: elsewhere")
    plan = planned(tmp_path / "a" / "b", with_pre_commit=True)
    assert "registry validate --root a/b" in plan.new[tmp_path / ".pre-commit-config.yaml"]


def test_dangling_link_counts_as_existing(tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").symlink_to("nowhere")
    assert tmp_path / "datasets.yaml" in planned(tmp_path).existing


def test_index_is_valid_with_every_comment_taken_as_content() -> None:
    lines = [line for line in INDEX.splitlines() if not line.startswith("# ") or "{" in line]
    lines = [line.replace("# ", "", 1) if "- package" in line else line for line in lines]
    text = "\n".join(line.removeprefix("# ") for line in lines)
    found = validate(parse_yaml(text, file="datasets.yaml"), "index")
    assert found == []
    assert "defaults:" in text
    assert "\n  - package:registry" in text


def test_lockfile_is_merged_as_our_own_repository_merges_it() -> None:
    assert "datasets.lock" in (REPOSITORY / ".gitattributes").read_text(encoding="utf-8")
    assert "datasets.lock text eol=lf merge=registry-lock\n" in GIT_ATTRIBUTES


def test_hooks_are_those_that_this_package_ships() -> None:
    shipped = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (repository,) = yaml.safe_load(pre_commit("."))["repos"]
    keys = ("id", "name", "entry", "always_run", "pass_filenames")
    assert [[hook[key] for key in keys] for hook in repository["hooks"]] == [
        [hook[key] for key in keys] for hook in shipped
    ]


@pytest.mark.parametrize("root", ["a b", "it's", "a: b", '"', "#x", "é", "😀"])
def test_any_folder_is_quoted(root: str) -> None:
    (repository,) = yaml.safe_load(pre_commit(root))["repos"]
    assert shlex.split(repository["hooks"][0]["entry"])[-1] == root
    steps = yaml.safe_load(workflow(root, "1.0"))["jobs"]["review"]["steps"]
    assert {step["env"]["ROOT"] for step in steps if "ROOT" in step.get("env", {})} == {root}


def test_workflow_has_the_steps_of_the_action() -> None:
    steps = yaml.safe_load(workflow(".", "eval-registry==1.2.3"))["jobs"]["review"]["steps"][2:]
    action = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
    own = action["runs"]["steps"]
    assert [{**step, "env": {}} for step in steps] == [{**step, "env": {}} for step in own]
    assert [list(step["env"]) for step in steps] == [list(step["env"]) for step in own]
    assert steps[0]["env"]["INSTALL"] == "eval-registry==1.2.3"
    assert "inputs." not in workflow(".", "eval-registry==1.2.3")
