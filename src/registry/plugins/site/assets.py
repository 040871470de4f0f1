"""The styles and scripts of the pages, and the policy that allows no others."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path

__all__ = ["LINKED_POLICY", "SCRIPTS", "STYLE", "asset", "inline_policy"]

STYLE = "registry.css"
SCRIPTS = ("theme.js", "search.js", "dataset.js")
"""All scripts; `theme.js` runs before the page is drawn."""

_COMMON = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src 'self' data:"
LINKED_POLICY = f"{_COMMON}; style-src 'self'; script-src 'self'"
"""For pages with files beside them. Chromium and Firefox take `'self'` for files of file:// too."""


@functools.cache
def asset(name: str) -> str:
    """Return the text of a style or script."""
    return (Path(__file__).parent / "assets" / name).read_text(encoding="utf-8")


def inline_policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """Return the policy of a page that has its styles and scripts in it, and runs no others."""
    by_hash = (
        f"{kind} {' '.join(map(_source, texts))}"
        for kind, texts in (("style-src", styles), ("script-src", scripts))
    )
    return "; ".join([_COMMON, *by_hash])


def _source(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
