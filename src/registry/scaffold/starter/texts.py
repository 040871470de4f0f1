"""The texts of the files that `registry init` writes."""

from __future__ import annotations

import json
import shlex

__all__ = ["EXAMPLE_DATA", "EXAMPLE_MANIFEST", "GIT_ATTRIBUTES", "INDEX", "pre_commit", "workflow"]

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
name: Datasets
on:
  pull_request:
permissions:
  contents: read
jobs:
  review:
    runs-on: ubuntu-latest
    env:
      ROOT: {root}
    steps:
      - uses: actions/checkout@v5
        with:
          fetch-depth: 0              # the comparison needs the commit where the branch started
          persist-credentials: false
      - uses: actions/setup-python@v6
        with:
          python-version: "3.11"
      - name: Install registry
        run: python -I -m pip install "eval-registry=={version}"
      # Without -I Python imports modules of the checkout, which a stranger may have changed.
      - name: Find where the branch started
        run: echo "BASE=$(git merge-base HEAD "origin/$GITHUB_BASE_REF")" >> "$GITHUB_ENV"
      - name: Validate manifests, by the rules of the base
        run: |
          # The change that adds the catalog has no rules to go by.
          if git cat-file -e "$BASE:$ROOT/datasets.yaml"; then rules="--config-from=$BASE"; fi
          python -I -m registry validate --root "$ROOT" --format github $rules
      - name: Compare the lockfile with the manifests
        if: ${{{{ !cancelled() }}}}
        run: |
          if [ ! -e "$ROOT/datasets.lock" ]; then exit; fi    # `registry lock` writes one
          python -I -m registry lock --check --root "$ROOT"
      - name: Say what the change does to datasets
        if: ${{{{ !cancelled() }}}}
        run: |
          code=0
          python -I -m registry diff --root "$ROOT" --format markdown -- "$BASE" \\
            >> "$GITHUB_STEP_SUMMARY" || code=$?
          if [ "$code" -ne 1 ]; then exit "$code"; fi    # 1: there are differences
"""


def pre_commit(root: str) -> str:
    """Return a configuration of pre-commit for the catalog in a folder of the repository."""
    folder = shlex.quote(root)  # pre-commit splits the entry as a shell does
    return _HOOKS.format(
        validate=json.dumps(f"registry validate --root {folder}"),
        check=json.dumps(f"registry lock --check --root {folder}"),
    )


def workflow(root: str, version: str) -> str:
    """Return a GitHub workflow that reviews the catalog in a folder of the repository."""
    return _WORKFLOW.format(root=json.dumps(root), version=version)
