"""The texts of new files: valid YAML, and the hooks that this package ships."""

from __future__ import annotations

import csv
import io
import shlex

import pytest
import yaml

from registry.manifest.validation import validate
from registry.scaffold.starter.texts import (
    EXAMPLE_DATA,
    EXAMPLE_MANIFEST,
    GIT_ATTRIBUTES,
    INDEX,
    pre_commit,
    workflow,
)
from registry.yamldoc.reader import parse_yaml
from tests.conftest import REPOSITORY


def test_index_and_manifest_are_valid() -> None:
    assert validate(parse_yaml(INDEX, file="datasets.yaml"), "index") == []
    assert validate(parse_yaml(EXAMPLE_MANIFEST, file="example.yaml"), "manifest") == []


def test_index_is_valid_with_every_comment_taken_as_content() -> None:
    lines = [line for line in INDEX.splitlines() if not line.startswith("# ") or "{" in line]
    lines = [line.replace("# ", "", 1) if "- package" in line else line for line in lines]
    text = "\n".join(line.removeprefix("# ") for line in lines)
    found = validate(parse_yaml(text, file="datasets.yaml"), "index")
    assert found == []
    assert "defaults:" in text
    assert "\n  - package:registry" in text


def test_example_has_a_row_for_each_expected_sample() -> None:
    rows = list(csv.DictReader(io.StringIO(EXAMPLE_DATA)))
    expect = yaml.safe_load(EXAMPLE_MANIFEST)["datasets"]["example-qa"]["expect"]
    assert len(rows) == expect["samples"]


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


@pytest.mark.parametrize("root", ["a b", "it's", "a: b", '"', "#x", "é"])
def test_any_folder_is_quoted(root: str) -> None:
    (repository,) = yaml.safe_load(pre_commit(root))["repos"]
    assert shlex.split(repository["hooks"][0]["entry"])[-1] == root
    steps = yaml.safe_load(workflow(root, "1.0"))["jobs"]["review"]["steps"]
    assert {step["env"]["ROOT"] for step in steps if "ROOT" in step.get("env", {})} == {root}


def test_workflow_has_the_steps_of_the_action() -> None:
    steps = yaml.safe_load(workflow(".", "1.2.3"))["jobs"]["review"]["steps"][2:]
    action = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
    own = action["runs"]["steps"]
    assert [{**step, "env": {}} for step in steps] == [{**step, "env": {}} for step in own]
    assert [list(step["env"]) for step in steps] == [list(step["env"]) for step in own]
    assert steps[0]["env"]["INSTALL"] == "eval-registry==1.2.3"
    assert "inputs." not in workflow(".", "1.2.3")
