"""Tables and figures of the pages are those of the code and the catalog; manifests are valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from registry import Catalog, list_datasets
from registry.corrections.file import Correction
from registry.diff.severity import ChangeClass
from registry.manifest.models import DatasetSpec, Fewshot, Scorer, Solver
from registry.mapping.operations import OPERATION_FAMILIES
from tests.conftest import REPOSITORY
from tests.docs.pages import DOCS, blocks, check_manifest

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def built_in() -> dict[str, DatasetSpec]:
    """Return the built-in datasets, each once, without its splits."""
    catalog = Catalog.open(REPOSITORY)
    return {name: catalog[name] for name in list_datasets(root=REPOSITORY)}


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
    shipped = set(Catalog.open(REPOSITORY).groups)
    assert shipped - named == {"demo", "demo-subjects"}
    assert named <= shipped


def test_each_built_in_dataset_has_an_eval_block_or_a_reason() -> None:
    catalog, text = built_in(), page("reference/evaluation")
    rows = text.partition("| reason | datasets |")[2].splitlines()
    listed = [name for row in rows if row.startswith("|") for name in re.findall("`(.+?)`", row)]
    with_block = [name for name, spec in catalog.items() if spec.eval is not None]
    assert sorted([*listed, *with_block]) == sorted(catalog)
    assert text.splitlines()[2].startswith(f"{len(with_block)} of the {len(catalog)} ")
    number = f"{len(with_block)} of the {len(catalog)} built-in datasets have an `eval` block"
    assert number in page("how-to/inspect")
    assert f"scores [{len(with_block)} of the built-in ones]" in README
    assert "`demo-" not in text, "demo data needs no block"


def test_eval_blocks_with_our_own_instructions_are_marked() -> None:
    text = page("reference/evaluation")
    table = text.partition("| datasets | 1.0 means |")[2].partition("\n\n")[0]
    marked = [name for row in table.splitlines() for name in re.findall("`(.+?)`", row)]
    with_template = [
        name
        for name, spec in built_in().items()
        if spec.eval
        and any({"template", "instructions"} & one.args.keys() for one in spec.eval.scorer)
    ]
    assert sorted(marked) == sorted(with_template)
    assert f"These {len(with_template)} are judged" in text


def test_change_classes_are_listed_in_order_of_severity() -> None:
    text = page("reference/review")
    rows = text.partition("| class |")[2].partition("\n\n")[0].splitlines()[2:]
    assert tuple(row.split(" | ")[0].removeprefix("| ") for row in rows) == tuple(ChangeClass)


def test_readme_states_the_number_of_datasets_and_operations() -> None:
    demo = [name for name, spec in built_in().items() if "demo" in spec.tags]
    assert f"has {len(built_in()) - len(demo)} datasets beside {len(demo)} of demo data" in README
    operations = sum(len(family.OPERATIONS) for family in OPERATION_FAMILIES.values())
    assert f"[{operations} operations]" in README


def test_timings_in_the_readme_match_the_benchmarks() -> None:
    row = r"^\| real-process-{} .*?\| ([\d,]+) ms \| inspect_ai ([\d,]+) ms"
    (cold, _), (warm, theirs) = (
        re.findall(row.format(which), page("explanation/performance"), re.MULTILINE)[0]
        for which in ("cold", "warm")
    )
    assert f"in {warm} ms instead of {theirs} ms, and in {cold} ms if nothing is cached" in README
