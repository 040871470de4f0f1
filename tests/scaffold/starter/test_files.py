"""Which files a new catalog gets: all in an empty folder, only the missing ones elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.manifest.schema import SCHEMAS, schema_text
from registry.scaffold.starter.files import StarterPlan, plan_starter, schema_files

EXAMPLE = ["registry/example.yaml", "data/example-qa.csv"]
ALWAYS = ["datasets.yaml", *EXAMPLE, *(f"schemas/{name}.schema.json" for name in SCHEMAS)]


def names(plan: StarterPlan, folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in plan.new]


def test_empty_folder_gets_everything(tmp_path: Path) -> None:
    plan = plan_starter(tmp_path, version="1.2")
    assert names(plan, tmp_path) == [*ALWAYS, ".gitattributes"]
    assert plan.existing == ()


def test_hooks_and_workflow_are_written_on_request(tmp_path: Path) -> None:
    plan = plan_starter(tmp_path, version="1.2", with_pre_commit=True, with_workflow=True)
    wanted = [".pre-commit-config.yaml", ".github/workflows/datasets.yml"]
    assert names(plan, tmp_path)[-2:] == wanted


@pytest.mark.parametrize("marker", ["folder", "file of a worktree"])
def test_hooks_belong_to_the_top_of_the_repository(tmp_path: Path, marker: str) -> None:
    git = tmp_path / ".git"
    git.mkdir() if marker == "folder" else git.write_text("gitdir: elsewhere")
    plan = plan_starter(tmp_path / "a" / "b", version="1.2", with_pre_commit=True)
    assert "registry validate --root a/b" in plan.new[tmp_path / ".pre-commit-config.yaml"]


def test_existing_file_is_not_planned(tmp_path: Path) -> None:
    (tmp_path / ".gitattributes").write_text("* text\n")
    plan = plan_starter(tmp_path, version="1.2")
    assert plan.existing == (tmp_path / ".gitattributes",)
    assert names(plan, tmp_path) == ALWAYS


def test_dangling_link_counts_as_existing(tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").symlink_to("nowhere")
    assert tmp_path / "datasets.yaml" in plan_starter(tmp_path, version="1.2").existing


def test_existing_catalog_gets_no_example(tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").write_text("version: 1\n")
    assert set(names(plan_starter(tmp_path, version="1.2"), tmp_path)).isdisjoint(EXAMPLE)


def test_schema_files_are_the_shipped_ones(tmp_path: Path) -> None:
    found = schema_files(tmp_path)
    assert found[tmp_path / "schemas/manifest.schema.json"] == schema_text("manifest")
    assert len(found) == len(SCHEMAS)
