"""`registry.api`: every name is there, type checkers see the same, and the page lists the stable ones."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import registry
from registry import api

ROOT = Path(__file__).parents[1]
TABLES = (api.STABLE, api.INTERNAL)
NAMES = {
    (f"registry.{module}", name)
    for table in TABLES
    for module, names in table.items()
    for name in names.split()
}


def test_every_name_is_that_of_its_module() -> None:
    for module, name in NAMES:
        assert getattr(api, name) is getattr(importlib.import_module(module), name)
    assert api.options is importlib.import_module("registry.cli.options")


def test_stub_has_the_same_names() -> None:
    tree = ast.parse((ROOT / "src" / "registry" / "api.pyi").read_text(encoding="utf-8"))
    stub = {
        (node.module, alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert stub == NAMES | {("registry.cli", "options")}


def test_every_name_is_used_by_a_plugin_or_stable() -> None:
    plugins = (ROOT / "src" / "registry" / "plugins").rglob("*.py")
    used = {
        alias.name
        for path in plugins
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "registry.api"
        for alias in node.names
    }
    internal = {name for names in api.INTERNAL.values() for name in names.split()}
    assert internal - used == set()


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"'registry\.api' has no attribute 'nothing'"):
        _ = api.nothing  # type: ignore[attr-defined]


def test_page_lists_the_stable_names() -> None:
    page = (ROOT / "docs" / "how-to" / "plugins.md").read_text(encoding="utf-8")
    stable = {name for names in api.STABLE.values() for name in names.split()}
    assert [name for name in sorted(stable) if f"`{name}`" not in page] == []


def test_dir_lists_the_public_names_alone() -> None:
    assert {name for name in dir(registry) if not name.startswith("_")} == set(registry.__all__)
