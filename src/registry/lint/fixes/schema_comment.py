"""The comment that names a manifest's schema for editors: whether it is there, and adding it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from registry.lint.fixes.source_file import ManifestFile
from registry.manifest.schema import SchemaName, read_schema

__all__ = ["add_schema_line", "has_schema_line", "schema_reference"]

_LINE = re.compile(r"#\s*yaml-language-server:\s*\$schema=\S")


def has_schema_line(text: str) -> bool:
    """Return whether one of the comments above all else names a schema."""
    return any(_LINE.match(line) for line in _comments_above(text))


def _comments_above(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            return
        yield line


def add_schema_line(file: ManifestFile) -> tuple[ManifestFile, list[str], list[str]]:
    """Add the line where it is missing; return the file, what was done and what was left."""
    if has_schema_line(file.text):
        return file, [], []
    name: SchemaName = "index" if file.is_index else "manifest"
    end = "\r\n" if file.text.partition("\n")[0].endswith("\r") else "\n"
    reference = schema_reference(name, root=file.root, folder=file.path.parent)
    changed = file.with_text(f"# yaml-language-server: $schema={reference}{end}{file.text}")
    if changed is None:  # a YAML directive must stay above
        return file, [], ["the schema line can't be added above the first line"]
    return changed, ["added the schema line"], []


def schema_reference(name: SchemaName, *, root: Path, folder: Path) -> str:
    """Return the schema as a file in `folder` names it: the catalog's own copy, else its URL."""
    path = root / "schemas" / f"{name}.schema.json"
    if path.is_file():
        return Path(os.path.relpath(path, folder)).as_posix()
    return str(read_schema(name)["$id"])
