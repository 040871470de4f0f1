"""How a review is printed: a table of formats, each review → lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any

from registry.cli.formats.markdown import as_markdown
from registry.cli.formats.text import as_text
from registry.diff.models import Review
from registry.diff.summary import counts, headline
from registry.errors import Problem

__all__ = ["FORMATS"]


def _json(review: Review) -> Iterator[str]:
    data: dict[str, Any] = {
        "headline": headline(review),
        "counts": counts(review),
        **asdict(review),
        "base_problems": [problem.to_dict() for problem in review.base_problems],
        "head_problems": [problem.to_dict() for problem in review.head_problems],
    }
    yield json.dumps(data, indent=2, ensure_ascii=False, default=_as_json)


def _as_json(value: Any) -> Any:
    return value.to_dict() if isinstance(value, Problem) else str(value)


FORMATS: dict[str, Callable[[Review, bool], Iterable[str]]] = {
    "text": lambda review, terminal: as_text(review, terminal=terminal),
    "json": lambda review, terminal: _json(review),
    "markdown": lambda review, terminal: [as_markdown(review)],
}
"""Formats by the word that `--format` takes; the second argument is whether for a terminal."""
