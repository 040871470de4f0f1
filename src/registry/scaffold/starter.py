"""Which files `registry init` writes, their texts, and which of them exist already."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

from registry.manifest.schema import SCHEMAS, schema_text
from registry.settings import builtin_root
from registry.yamldoc.writer import quoted_text

__all__ = [
    "EXAMPLE_DATA",
    "EXAMPLE_MANIFEST",
    "GIT_ATTRIBUTES",
    "INDEX",
    "StarterPlan",
    "plan_starter",
    "pre_commit",
    "schema_files",
    "workflow",
]


INDEX = """\
# yaml-language-server: $schema=schemas/index.schema.json
# The index: which manifests belong to this catalog, and what they may reach.
# Paths here and in every manifest are relative to the folder of this file.
version: 1
include:
  - registry/*.yaml      # your manifests
  # - package:registry   # the built-in datasets, such as gsm8k and mmlu

# For every dataset that does not say otherwise:
# defaults: {license: cc-by-4.0}

# Servers of your own that manifests may read from, beside the well-known ones:
# hosts: [data.example.org]

# Environment variables that a manifest may name, and the hosts that may receive them:
# secrets: {QA_KEY: [s3.amazonaws.com]}
"""
EXAMPLE_MANIFEST = """\
# yaml-language-server: $schema=../schemas/manifest.schema.json
# A manifest: where the records are, and how each becomes a sample. Try:
#   registry preview example-qa
datasets:
  example-qa:
    description: Four multiple-choice questions that show how a manifest works.
    license: cc0-1.0
    tags: [example]
    source:
      type: csv                   # or json, parquet, hf
      path: data/example-qa.csv   # relative to datasets.yaml; or a URL, a list, a glob
    # Each field of a sample, and the column, or an expression over columns, that it is made of:
    fields:
      input: question
      choices: [option_a, option_b, option_c]
      target: answer              # the letter of the right choice
      id: {hash: [question], prefix: example-qa, length: 8}
      metadata: [subject]
    expect: {samples: 4, target_in_choices: true}

  # A dataset can extend another one and change some of its keys:
  example-qa-small:
    extends: example-qa
    description: Two of the four questions, in an order that the seed decides.
    shuffle: true
    seed: 42
    limit: 2
"""
EXAMPLE_DATA = """\
question,option_a,option_b,option_c,answer,subject
What is 2 + 2?,3,4,5,B,arithmetic
Which planet is nearest to the sun?,Mercury,Venus,Mars,A,astronomy
Which of these is a prime number?,21,27,29,C,arithmetic
"Which gas, of these, do plants take in?",oxygen,carbon dioxide,helium,B,biology
"""
GIT_ATTRIBUTES = """\
# Written by `registry schema`, so a code host folds it in a review.
schemas/*.schema.json linguist-generated=true
# Merged by dataset in a clone that has the driver; elsewhere git merges it as any text:
#   git config merge.registry-lock.driver 'registry lock --merge %O %A %B'
datasets.lock text eol=lf merge=registry-lock
"""
_HOOKS = """\
# `pre-commit install` lets these run before each commit, with the `registry` on the PATH.
repos:
  - repo: local
    hooks:
      - id: registry-validate
        name: validate dataset manifests
        entry: {validate}
        language: system
        always_run: true         # a deleted file may break a manifest, too
        pass_filenames: false    # one manifest may extend another
      - id: registry-lock-check
        name: compare datasets.lock with the manifests
        entry: {check}
        language: system
        always_run: true
        pass_filenames: false
"""
_WORKFLOW = """\
# The steps are those of Registry's GitHub action. `registry init --workflow` writes this file.
name: Datasets
on:
  pull_request:
permissions:
  contents: read
jobs:
  review:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          fetch-depth: 0 # back to where the branch left main
          persist-credentials: false
      - uses: actions/setup-python@5fda3b95a4ea91299a34e894583c3862153e4b97 # v7.0.0
        with:
          python-version: "3.11"
"""
_INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")


@dataclass(frozen=True)
class StarterPlan:
    """What to write, and what is there."""

    new: Mapping[Path, str]
    """Texts by path, in the order to write them."""
    existing: tuple[Path, ...]
    """Files that are wanted and exist; none of them is changed."""


def plan_starter(
    folder: Path, *, requirement: str, with_pre_commit: bool = False, with_workflow: bool = False
) -> StarterPlan:
    """Return the files of a catalog in a folder.

    One that has an index gets only what was asked for beside it, and the schemas. A configuration
    of pre-commit and a GitHub workflow, in which pip installs `requirement` as this package, are
    at the top of the git repository.
    """
    above = (folder, *folder.parents)
    top = next((one for one in above if os.path.lexists(one / ".git")), folder)
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
        wanted[top / ".github" / "workflows" / "datasets.yml"] = workflow(root, requirement)
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


def pre_commit(root: str) -> str:
    """Return a configuration of pre-commit for the catalog in a folder of the repository."""
    folder = shlex.quote(root)  # pre-commit splits the entry as a shell does
    return _HOOKS.format(
        validate=quoted_text(f"registry validate --root {folder}"),
        check=quoted_text(f"registry lock --check --root {folder}"),
    )


def workflow(root: str, requirement: str) -> str:
    """Return a GitHub workflow that reviews the catalog in a folder of the repository.

    It has the steps of the action, with its inputs filled in: a script of its own for the same
    review would lack what the action checks.
    """
    inputs = {
        "root": root,
        "args": "--strict",
        "diff-args": "--build --offline",
        "install": requirement,
        "python": "python3",
    }
    file = builtin_root().parent / "action.yml"
    _, _, steps = file.read_text(encoding="utf-8").partition("\n  steps:\n")
    filled = _INPUT.sub(lambda found: quoted_text(inputs.get(found[1], "")), steps)
    # A workflow has no checkout of an action; `install` says what to install instead.
    filled = filled.replace("${{ github.action_path }}", '""')
    return _WORKFLOW + "\n" + indent(filled, "  ")
