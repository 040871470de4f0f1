"""How a review is printed: a table of formats, each review → lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any

from registry.cli.review_markdown import as_markdown
from registry.cli.review_text import as_text
from registry.errors import Problem
from registry.review.model import Review
from registry.review.summary import counts, headline

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
