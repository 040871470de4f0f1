"""The tables of the reference list what the code has, and its manifests are valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from registry import Catalog
from registry.corrections.file import Correction
from registry.manifest.models import Fewshot, Scorer, Solver
from registry.settings import builtin_root
from tests.conftest import REPOSITORY
from tests.docs.pages import DOCS, blocks, check_manifest


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def keys_of_rows(text: str) -> set[str]:
    return set(re.findall(r"`(\w+)[`:]", "".join(re.findall(r"^\| (`.*?) \|", text, re.MULTILINE))))


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: path.stem)
def test_manifests_of_every_page_are_valid(path: Path) -> None:
    for block in blocks(path.read_text(encoding="utf-8")):
        is_lock = "spec: sha256:" in block.text  # shortened
        if block.text.startswith(("datasets:\n", "version:", "groups:")) and not is_lock:
            check_manifest(block.text, path.name)


def test_every_key_of_few_shot_examples_is_explained() -> None:
    text = page("reference/few-shot")
    assert keys_of_rows(text) == {*Fewshot.__struct_fields__} - {"apply", "overlap"}
    assert "`apply: true`" in page("how-to/few-shot")
    assert "`overlap: skip`" in text


@pytest.mark.parametrize(("key", "model"), [("solver", Solver), ("scorer", Scorer)])
def test_every_solver_and_scorer_is_listed(key: str, model: type[Solver | Scorer]) -> None:
    (row,) = re.findall(rf"^\| `{key}` \| ([^|]+) \|", page("how-to/inspect"), re.MULTILINE)
    assert tuple(re.findall(r"`(\w+)`", row)) == model.__annotations__["name"].__args__


def test_every_key_of_a_correction_is_explained() -> None:
    explained = keys_of_rows(page("reference/corrections"))
    assert {*Correction.__struct_fields__} - {"index", "sample"} <= explained


def test_corrected_datasets_of_the_catalog_are_named() -> None:
    with_files = re.compile(
        r"^  ([\w-]+):\n(?:    .*\n)*?    corrections: registry/errata", re.MULTILINE
    )
    manifests = (REPOSITORY / "registry").glob("*.yaml")
    named = [name for file in manifests for name in with_files.findall(file.read_text("utf-8"))]
    assert named
    assert all(f"| `{name}` |" in page("reference/corrections") for name in named)


def test_groups_that_ship_are_named() -> None:
    section = page("reference/groups").split("## What ships")[1].split("##")[0]
    named = set(re.findall(r"`([a-z0-9-]+)`", section)) - {"-2"} | {"open-llm-leaderboard-2"}
    shipped = set(Catalog.open(builtin_root()).groups)
    assert shipped - named == {"demo", "demo-subjects"}
    assert named <= shipped
