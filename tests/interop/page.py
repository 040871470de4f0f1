"""The blocks of docs/reference/interop.md: what lies under one heading runs in order, in one folder."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import re
from dataclasses import dataclass

from tests.conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "reference" / "interop.md"


NOT_SERVED = "registry:// (this environment is older than its entry point: install it again)"


def serves_registry() -> bool:
    """Return whether fsspec knows `registry://` by the entry point of this package."""
    points = importlib.metadata.entry_points(group="fsspec.specs")
    return any(point.name == "registry" for point in points)


@dataclass(frozen=True)
class Section:
    """A heading with at least one block that runs."""

    title: str
    blocks: tuple[tuple[str, str], ...]
    """Language (`python` or `sh`) and text of each block."""

    @property
    def missing(self) -> list[str]:
        """Packages that the Python blocks import and that are not installed."""
        code = "\n".join(text for language, text in self.blocks if language == "python")
        found = [name for name in _imported(code) if importlib.util.find_spec(name) is None]
        return found if serves_registry() or "registry://" not in code else [*found, NOT_SERVED]


def sections(text: str) -> list[Section]:
    """Return the sections of a page that have blocks of Python or of the shell."""
    found = []
    for part in re.split(r"^(?=##+ )", text, flags=re.MULTILINE)[1:]:
        blocks = re.findall(r"^```(python|sh)\n(.*?)^```$", part, re.DOTALL | re.MULTILINE)
        if blocks:
            found.append(Section(part.splitlines()[0].lstrip("# "), tuple(blocks)))
    return found


def _imported(code: str) -> list[str]:
    """Return the top-level packages that code imports."""
    names = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return sorted(names)
