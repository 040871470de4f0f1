"""Write imported datasets as a manifest, with what was left out as comments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from registry.api import flow_text
from registry.plugins.importers.models import ImportedDataset, LeftOut

__all__ = ["imported_text", "left_out_lines"]

_BLOCKS = ("source", "fields", "eval")
"""Keys with a line for each of their keys."""


def imported_text(datasets: Iterable[ImportedDataset], *, schema: str) -> str:
    """Return the manifest of imported datasets.

    Args:
        datasets: The datasets, whose names differ.
        schema: The schema for editors, as the manifest refers to it.
    """
    lines = [f"# yaml-language-server: $schema={schema}", "datasets:"]
    for dataset in datasets:
        lines += _dataset(dataset)
    return "\n".join(lines) + "\n"


def _dataset(dataset: ImportedDataset) -> Iterator[str]:
    for line in left_out_lines(dataset.left_out):
        yield f"  # left out: {_comment(line)}"
    yield f"  {flow_text(dataset.name)}:"
    for key, value in dataset.keys.items():
        if key in _BLOCKS and isinstance(value, Mapping) and value:
            yield f"    {key}:"
            yield from (f"      {flow_text(inner)}: {_value(one)}" for inner, one in value.items())
        else:
            yield f"    {key}: {_value(value)}"


def left_out_lines(left_out: Iterable[LeftOut]) -> Iterator[str]:
    """Yield a line for each part that the samples need, and one for all others."""
    evaluation = []
    for one in left_out:
        if one.about == "samples":
            yield f"{one.what}: {one.why}" + ("" if one.line is None else f" (line {one.line})")
        else:
            evaluation.append(one.what)
    if evaluation:
        yield f"how it is run and scored: {', '.join(evaluation)}"


def _value(value: Any) -> str:
    return "null" if value is None else flow_text(value)


def _comment(text: str) -> str:
    """Return text that stays on the line of its comment."""
    return "".join(one if one.isprintable() else " " for one in text)
