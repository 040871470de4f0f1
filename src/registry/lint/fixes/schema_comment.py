"""Find and add the comment that names a manifest's schema for editors."""

from __future__ import annotations

import os
import re
from pathlib import Path

from registry.lint.fixes.source_file import ManifestFile
from registry.manifest.schema import SchemaName, read_schema

__all__ = ["add_schema_line", "has_schema_line", "schema_reference"]

_LINE = re.compile(r"#\s*yaml-language-server:\s*\$schema=\S")


def has_schema_line(text: str) -> bool:
    """Return whether a comment above the content names a schema."""
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            return False
        if _LINE.match(line):
            return True
    return False


def add_schema_line(file: ManifestFile) -> tuple[ManifestFile, list[str], list[str]]:
    """Add the schema line if it is missing, or put the catalog's own copy in the place of the URL.

    The URL identifies the schema, but no server has it, so an editor can't follow it.
    """
    name: SchemaName = "index" if file.is_index else "manifest"
    if has_schema_line(file.text):
        return _with_copy(file, name)
    end = "\r\n" if file.text.partition("\n")[0].endswith("\r") else "\n"
    reference = schema_reference(name, root=file.root, folder=file.path.parent)
    changed = file.with_text(f"# yaml-language-server: $schema={reference}{end}{file.text}")
    if changed is None:
        return file, [], ["the schema line can't be added above the first line"]
    return changed, ["added the schema line"], []


def _with_copy(file: ManifestFile, name: SchemaName) -> tuple[ManifestFile, list[str], list[str]]:
    reference = schema_reference(name, root=file.root, folder=file.path.parent)
    start, url, rest = file.text.partition(f"$schema={read_schema(name)['$id']}")
    is_line = url and has_schema_line(start + url) and rest[:1] in ("", "\r", "\n")
    if not is_line or url.endswith(f"={reference}"):
        return file, [], []
    changed = file.with_text(f"{start}$schema={reference}{rest}")
    if changed is None:
        return file, [], ["the schema line can't be changed"]
    return changed, ["the schema line names the copy in the catalog"], []


def schema_reference(name: SchemaName, *, root: Path, folder: Path) -> str:
    """Return the path relative to `folder` of the catalog's copy of a schema, or else its URL."""
    path = root / "schemas" / f"{name}.schema.json"
    if path.is_file():
        return Path(os.path.relpath(path, folder)).as_posix()
    return str(read_schema(name)["$id"])
