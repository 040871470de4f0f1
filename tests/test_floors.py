"""The floors of the package: a module imports from lower floors, or from its own without a cycle."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(__file__).parents[1] / "src"

# `docs/design.md` shows the same table. A package's name stands for all that is in it.
FLOORS = (
    {"errors", "canonical", "files", "progress", "letters", "locations", "arrays", "collection"},
    {
        "content",
        "messages",
        "sample",
        "fields",
        "expressions",
        "templates",
        "spec",
        "spec_data",
        "spec_misfits",
        "settings",
        "rules",
    },
    {
        "document",
        "yaml_composer",
        "yaml_plain",
        "yaml_scalars",
        "yamlfile",
        "schema",
        "schema_check",
        "layers",
        "source_paths",
        "source_checks",
        "judge",
        "resolve",
        "origins",
        "lock_origins",
        "git_tree",
        "catalog",
        "catalog_index",
        "catalog_listing",
        "catalog_reader",
        "catalog_records",
        "code_digest",
        "kept",
        "selection",
        "ignores",
        "manifest_file",
        "key_order",
        "mapping_text",
        "schema_line",
        "spec_digest",
        "lock_text",
        "lockfile",
    },
    {
        "sources",
        "decode",
        "mapping",
        "cache",
        "dataset",
        "views",
        "conversations",
        "sample_table",
        "sample_rows",
        "sample_file",
        "sample_writer",
        "duplicates",
        "sample_selection",
        "build",
        "fingerprint",
        "opening",
        "arrow_dataset",
        "relative_files",
        "steps",
        "expectations",
        "held",
        "samples_digest",
        "jobs",
    },
    {
        "loaders",
        "load",
        "sync",
        "locking",
        "lock_check",
        "stale_pins",
        "review",
        "check",
        "check_memory",
        "field_check",
        "layout",
        "sound_entries",
        "fixes",
        "pinned_revisions",
        "calls",
        "propose",
        "reference",
    },
    {"cli", "", "__main__"},
)


def module_of(path: Path) -> str:
    """Return the dotted name of a module's file."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in sorted((SOURCE / "registry").rglob("*.py"))}


def imports_of(module: str) -> Iterator[tuple[str, int]]:
    """Yield the modules of the package that a module imports, anywhere in it, with the lines."""
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno} imports relatively"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found = inner if inner in MODULES else node.module
                if found in MODULES:
                    yield found, node.lineno


IMPORTS = {module: sorted(imports_of(module)) for module in MODULES}


def floor_of(module: str) -> int:
    top = module.removeprefix("registry").removeprefix(".").partition(".")[0]
    (floor,) = [number for number, names in enumerate(FLOORS) if top in names]
    return floor


def test_every_module_has_one_floor() -> None:
    tops = {
        module.removeprefix("registry").removeprefix(".").partition(".")[0] for module in MODULES
    }
    listed = [name for names in FLOORS for name in names]
    assert len(listed) == len(set(listed))
    assert set(listed) == tops


@pytest.mark.parametrize("module", MODULES)
def test_no_module_imports_upwards(module: str) -> None:
    upwards = [
        f"{MODULES[module].name}:{line} imports {imported} of floor {floor_of(imported)}"
        for imported, line in IMPORTS[module]
        if floor_of(imported) > floor_of(module)
    ]
    assert upwards == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {module: {name for name, _ in found} for module, found in IMPORTS.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a cycle: {' → '.join(reversed(error.args[1]))}")


def test_the_table_of_the_design_has_every_module_of_the_lower_floors() -> None:
    design = (SOURCE.parent / "docs" / "design.md").read_text(encoding="utf-8")
    rows = design.partition("| floor | modules |")[2].splitlines()[2 : 2 + len(FLOORS)]
    for number, (row, names) in enumerate(zip(rows, FLOORS, strict=True)):
        assert row.startswith(f"| {number} |")
        missing = {name for name in names if name and f"`{name}" not in row}
        assert missing <= {"__main__"}
