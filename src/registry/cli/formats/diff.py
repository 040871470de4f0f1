"""The formats of `diff`: a table of functions from a diff to lines."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any

from registry.cli.formats.markdown import as_markdown
from registry.cli.formats.text import as_text
from registry.cli.output import json_text
from registry.diff.models import CatalogDiff
from registry.diff.summary import counts, headline
from registry.extensions import our_own

__all__ = ["FORMATS"]


def _html(diff: CatalogDiff) -> Iterator[str]:
    page: str = our_own("diff_page")(diff)
    # It says that it is UTF-8. Elsewhere it is ASCII with references, which is UTF-8 too.
    is_utf8 = (sys.stdout.encoding or "utf-8").lower().replace("-", "") == "utf8"
    yield page if is_utf8 else page.encode("ascii", "xmlcharrefreplace").decode()


def _json(diff: CatalogDiff) -> Iterator[str]:
    data: dict[str, Any] = {
        "headline": headline(diff),
        "counts": counts(diff),
        **asdict(diff),
        "base_problems": [problem.to_dict() for problem in diff.base_problems],
        "head_problems": [problem.to_dict() for problem in diff.head_problems],
    }
    yield json_text(data)


FORMATS: dict[str, Callable[[CatalogDiff, bool], Iterable[str]]] = {
    "text": lambda diff, terminal: as_text(diff, terminal=terminal),
    "json": lambda diff, terminal: _json(diff),
    "markdown": lambda diff, terminal: [as_markdown(diff)],
    "html": lambda diff, terminal: _html(diff),
}
"""Name for `--format` → function of a diff and of whether the output is a terminal."""
