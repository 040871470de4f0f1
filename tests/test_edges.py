"""Which package may import which: an explicit list, checked against every import statement."""

from __future__ import annotations

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(__file__).parents[1] / "src"

# A module at the top counts as a package. Lazy and type-checking imports count too. docs/explanation/design.md
# has the same table.
EDGES = {
    "errors": "",
    "installation": "errors",
    "api": "",
    "plugins": "registry api",
    "progress": "",
    "settings": "errors progress",
    "rules": "errors",
    "base": "errors progress settings",
    "plots": "errors base",
    "display": "errors progress base plots",
    "samples": "errors installation base display plots",
    "yamldoc": "errors rules base",
    "cache": "errors progress base",
    "boundary": "errors settings base",
    "manifest": "errors settings rules base yamldoc boundary installation",
    "store": "errors base samples cache",
    "catalog": "errors settings base plots display yamldoc boundary manifest",
    "lockfile": "errors settings base yamldoc boundary manifest catalog",
    "decode": "errors base samples boundary manifest",
    "scaffold": "errors settings base samples yamldoc manifest mapping",
    "sources": "errors installation progress settings base cache boundary manifest decode",
    "mapping": "errors base samples boundary manifest store decode",
    "corrections": "errors base samples yamldoc manifest store mapping",
    "pipeline": "errors progress base samples cache boundary manifest store decode sources mapping corrections",
    "lint": "errors settings rules base yamldoc boundary manifest corrections catalog lockfile mapping decode",
    "load": "errors progress settings base display samples cache boundary manifest store catalog lockfile sources pipeline installation",
    "inspect": "errors samples manifest catalog load",
    "loaders": "errors progress settings base samples cache boundary manifest store decode sources mapping pipeline",
    "diff": "errors settings base samples yamldoc cache boundary manifest corrections catalog lockfile mapping load",
    "workflows": "errors progress base samples cache boundary manifest catalog lockfile sources pipeline load diff",
}
ANYTHING = {"cli", "docgen", "registry", "__main__"}
"""The command line, the pages that are made of tables, and the public names."""


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


@cache
def imports() -> dict[str, list[tuple[str, int]]]:
    """Return what each module imports; reading all takes a second, so not on import of this."""
    return {module: sorted(imports_of(module)) for module in MODULES}


def package_of(module: str) -> str:
    """Return the package of a module, or the name of a module that lies at the top."""
    return [*module.split("."), "registry"][1]


PACKAGES = {package_of(module) for module in MODULES}


def test_edge_list_covers_every_package() -> None:
    assert EDGES.keys() | ANYTHING == PACKAGES


def test_modules_import_only_allowed_packages() -> None:
    forbidden = [
        f"{MODULES[module]}:{line} imports {imported}"
        for module, found in imports().items()
        if (package := package_of(module)) not in ANYTHING
        for imported, line in found
        if package_of(imported) not in {package, *EDGES[package].split()}
    ]
    assert forbidden == []


PLUGINS = {
    "browse": "site",
    "bundle": "remote_cache",
    "cluster": "remote_cache",
    "doctor": "remote_cache",
    "mirror": "remote_cache",
}
"""Plugin → the other plugins that it imports."""


def test_plugins_import_only_the_listed_other_plugins() -> None:
    found = {
        (one, other)
        for module, names in imports().items()
        for name, _ in names
        for one, other in [(plugin_of(module), plugin_of(name))]
        if one and other and one != other
    }
    assert found == {(one, other) for one, others in PLUGINS.items() for other in others.split()}


def plugin_of(module: str) -> str:
    """Return which of our own plugins a module belongs to; empty if none."""
    parts = module.split(".")
    return parts[2] if parts[1:2] == ["plugins"] and len(parts) > 2 else ""


def test_every_listed_edge_is_used() -> None:
    used = {
        (package_of(module), package_of(name))
        for module, found in imports().items()
        for name, _ in found
    }
    listed = {(package, other) for package, others in EDGES.items() for other in others.split()}
    assert listed - used == set()


def test_at_most_a_quarter_of_all_pairs_of_packages_is_allowed() -> None:
    # Packages above all others may import everything; only their actual imports are counted.
    free = {
        (package_of(module), package_of(name))
        for module, found in imports().items()
        for name, _ in found
    }
    above = sum(1 for package, other in free if package in ANYTHING and other != package)
    allowed = above + sum(len(others.split()) for others in EDGES.values())
    assert allowed / (len(PACKAGES) * (len(PACKAGES) - 1)) <= 0.25


def test_lint_does_not_depend_on_packages_that_make_requests() -> None:
    reached = {"lint"}
    waiting = ["lint"]
    while waiting:
        new = set(EDGES[waiting.pop()].split()) - reached
        reached |= new
        waiting += new
    assert reached.isdisjoint({"sources", "pipeline", "load"})
    assert "cache" not in EDGES["lint"].split()


def test_modules_have_no_import_cycles() -> None:
    graph = {module: {name for name, _ in found} for module, found in imports().items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a cycle: {' → '.join(reversed(error.args[1]))}")


def test_design_page_lists_the_same_edges() -> None:
    text = (SOURCE.parent / "docs" / "explanation" / "design.md").read_text(encoding="utf-8")
    cells = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    rows = {cell[1].strip(" `"): cell[3].split() for cell in cells if len(cell) == 5}
    assert {name: rows[name] for name in EDGES} == {
        name: others.split() for name, others in EDGES.items()
    }
