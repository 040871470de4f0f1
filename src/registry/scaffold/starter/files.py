"""Which files a new catalog gets, and which of them exist already."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from registry.manifest.schema import SCHEMAS, schema_text
from registry.scaffold.starter.texts import (
    EXAMPLE_DATA,
    EXAMPLE_MANIFEST,
    GIT_ATTRIBUTES,
    INDEX,
    pre_commit,
    workflow,
)

__all__ = ["StarterPlan", "plan_starter", "schema_files"]


@dataclass(frozen=True)
class StarterPlan:
    """What to write, and what is there."""

    new: Mapping[Path, str]
    """Texts by path, in the order to write them."""
    existing: tuple[Path, ...]
    """Files that are wanted and exist; none of them is changed."""


def plan_starter(
    folder: Path, *, version: str, with_pre_commit: bool = False, with_workflow: bool = False
) -> StarterPlan:
    """Return the files of a catalog in a folder.

    A folder that has an index gets only what was asked for beside it, and the schemas.

    Args:
        folder: Where the index is.
        version: The version of this package that the workflow installs.
        with_pre_commit: Whether to configure pre-commit, at the top of the git repository.
        with_workflow: Whether to write a GitHub workflow, there as well.
    """
    top = _repository(folder)
    root = Path(os.path.relpath(folder, top)).as_posix()
    wanted = {
        folder / "datasets.yaml": INDEX,
        folder / "registry" / "example.yaml": EXAMPLE_MANIFEST,
        folder / "data" / "example-qa.csv": EXAMPLE_DATA,
        **schema_files(folder),
        folder / ".gitattributes": GIT_ATTRIBUTES,
    }
    if with_pre_commit:
        wanted[top / ".pre-commit-config.yaml"] = pre_commit(root)
    if with_workflow:
        wanted[top / ".github" / "workflows" / "datasets.yml"] = workflow(root, version)
    existing = tuple(path for path in wanted if os.path.lexists(path))
    new = {path: text for path, text in wanted.items() if path not in existing}
    if folder / "datasets.yaml" in existing:
        # Whoever deleted the example does not want it again.
        for path in (folder / "registry" / "example.yaml", folder / "data" / "example-qa.csv"):
            new.pop(path, None)
    return StarterPlan(new, existing)


def schema_files(folder: Path) -> dict[Path, str]:
    """Return the schemas that editors need, by their paths in a catalog."""
    return {folder / "schemas" / f"{name}.schema.json": schema_text(name) for name in SCHEMAS}


def _repository(folder: Path) -> Path:
    """Return the top of the git repository of a folder; the folder itself if there is none."""
    tops = (one for one in (folder, *folder.parents) if (one / ".git").exists())
    return next(tops, folder)
