"""Compare our models with those of Inspect AI."""

from __future__ import annotations

import json
from typing import Any

import inspect_ai.dataset as their_dataset
import inspect_ai.model as their_model
from pydantic import BaseModel

import registry

__all__ = ["Parts", "Topic", "as_text", "attempt", "both", "dump", "mcq"]

Parts = dict[str, Any]
"""Arguments of a Sample, of ours or of Inspect's."""


class Topic(BaseModel, frozen=True):
    """A model of metadata."""

    subject: str
    level: int = 0


def dump(value: Any) -> Any:
    """Return a model as data, without the ids of messages, which are random."""
    data = value.model_dump()
    given = data.get("input", [data])
    for message in given if isinstance(given, list) else []:
        message.pop("id", None)
    return data


def as_text(value: Any) -> str:
    """Return a model as text that can be compared: NaN equals NaN, 1 differs from 1.0."""
    return json.dumps(dump(value), sort_keys=True, default=repr)


def attempt(make: Any, *arguments: Any, **named: Any) -> Any:
    """Return the created model as data, or "refused"."""
    try:
        return dump(make(*arguments, **named))
    except ValueError:
        return "refused"


def both(name: str) -> tuple[Any, Any]:
    """Return our class and Inspect's."""
    theirs = their_dataset if hasattr(their_dataset, name) else their_model
    return getattr(registry, name), getattr(theirs, name)


def mcq(count: int) -> list[Parts]:
    """Return questions of growing length, every third without choices."""
    return [
        {"input": "?" * (1 + n % 4), "target": f"free {n}", "id": n}
        if n % 3 == 2
        else {"input": "?" * (1 + n % 4), "target": "AB"[n % 2], "choices": [*"wxyz"], "id": n}
        for n in range(count)
    ]
