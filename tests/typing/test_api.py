"""The file of public API that mypy checks leaves no public name out."""

from __future__ import annotations

import ast
from pathlib import Path

import registry

API = Path(__file__).with_name("api.py")


def test_every_public_name_is_used() -> None:
    tree = ast.parse(API.read_text(encoding="utf-8"))
    imported = {
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "registry"
        for alias in node.names
    }
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert imported == set(registry.__all__)
    assert imported <= used
