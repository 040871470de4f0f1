"""`openai-evals`: the samples file of an eval of OpenAI's `evals`, such as `basic.match`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

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
        ExportError: a sample can't be a conversation; the error has its number.
    """
    file.writelines(json_line(record) for record in convert_samples(exported, _record))


def _record(sample: Sample) -> dict[str, Any]:
    return {"input": prompt_of(sample), "ideal": sample.target}
