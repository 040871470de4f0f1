"""`fine-tuning`: conversations that end with the target, for OpenAI's and many other trainers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from registry.api import ExportError
from registry.plugins.export.writers.chat import prompt_of
from registry.plugins.export.writers.conversion import convert_samples
from registry.plugins.export.writers.jsonl import json_line

if TYPE_CHECKING:
    from registry import Sample
    from registry.plugins.export.exported import Exported

__all__ = ["write"]


def write(exported: Exported, file: BinaryIO) -> None:
    """Write a line per sample.

    Raises:
        ExportError: a sample has not exactly one target; the error has its number.
    """
    file.writelines(json_line(record) for record in convert_samples(exported, _record))


def _record(sample: Sample) -> dict[str, Any]:
    targets = [sample.target] if isinstance(sample.target, str) else sample.target
    # Which of several is the answer to learn nobody can tell.
    if len(targets) != 1 or not targets[0]:
        number = len([target for target in targets if target])
        raise ExportError(f"it has {number or 'no'} targets, and a model learns exactly one")
    answer = {"role": "assistant", "content": targets[0]}
    return {"messages": [*prompt_of(sample), answer]}
