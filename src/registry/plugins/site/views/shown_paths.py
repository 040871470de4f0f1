"""Paths as pages show them, which may be published: without the folders of this machine."""

from __future__ import annotations

import os

from registry import Catalog
from registry.api import display_path

__all__ = ["ShownPaths"]


class ShownPaths:
    """The folders of a catalog, as paths and as messages name them."""

    def __init__(self, catalog: Catalog) -> None:
        folders = {catalog.index.parent, *(one.parent for one in catalog.indexes)}
        self._folders = tuple(
            (f"{folder}{os.sep}", f"{display_path(folder)}{os.sep}")
            for folder in sorted(folders, reverse=True)
        )

    def shorten(self, text: str) -> str:
        """Return a text without the folders in it."""
        for folder, shown in self._folders:
            # A relative path is sure to be one only where a text begins with the place.
            text = text.replace(folder, "").removeprefix(shown)
        return text
