"""`lm-eval`: a folder with a task of lm-evaluation-harness and its data.

`cd FOLDER; lm_eval --include_path . --tasks NAME` runs it: the harness looks for the data from the
working directory. Input, choices and targets are columns, so nothing of them is a template.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from registry.api import ExportError, block_text, choice_of, count_text, file_stem
from registry.plugins.export.chat import convert_samples
from registry.plugins.export.exported import Exported, provenance_text

if TYPE_CHECKING:
    from pathlib import Path

    from registry import Sample

__all__ = ["write"]

_DATA = "samples.jsonl"


def write(exported: Exported, folder: Path) -> None:
    """Write the data, the task and the provenance.

    Raises:
        ExportError: a sample is a conversation, has no correct choice, or differs in kind.
    """
    kinds: set[tuple[bool, bool]] = set()
    with (folder / _DATA).open("x", encoding="utf-8") as file:
        for record in convert_samples(exported, _record):
            kinds.add((record["choices"] is not None, isinstance(record["target"], list)))
            file.write(f"{json.dumps(record)}\n")
    name, task = exported.name, file_stem(exported.name)
    if not kinds:
        raise ExportError(f"{name}: it has no samples, and lm-eval needs one")
    if len(kinds) > 1:
        message = "some samples have choices or several targets, and some do not"
        raise ExportError(f"{name}: lm-eval runs samples of one kind, but {message}")
    ((has_choices, _),) = kinds
    text = block_text(_task(exported, task, has_choices=has_choices))
    (folder / f"{task}.yaml").write_text(text, encoding="utf-8")
    text = f"{provenance_text(exported.provenance)}\n"
    (folder / "provenance.json").write_text(text, encoding="utf-8")


def _task(exported: Exported, task: str, *, has_choices: bool) -> dict[str, Any]:
    how = {"output_type": "multiple_choice", "doc_to_choice": "choices"}
    if not has_choices:
        how = {"output_type": "generate_until"}
    names = ("acc", "acc_norm") if has_choices else ("exact_match",)
    metrics = [{"metric": one, "aggregation": "mean", "higher_is_better": True} for one in names]
    return {
        "task": task,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": _DATA}},
        "test_split": "test",
        "num_fewshot": 0,
        **how,
        "doc_to_text": "input",
        "doc_to_target": "target",
        "metric_list": metrics,
        # What lm-eval copies into its results.
        "metadata": {
            "version": exported.provenance.version or 1.0,
            "registry": exported.provenance.as_data(),
        },
    }


def _record(sample: Sample) -> dict[str, Any]:
    if not isinstance(sample.input, str):
        raise ExportError("lm-eval takes a string as the input, and it is a conversation")
    target: Any = sample.target
    if sample.choices is not None:
        letters = [target] if isinstance(target, str) else target
        indexes = [_index(letter, sample.choices) for letter in letters]
        target = indexes[0] if isinstance(sample.target, str) else indexes
    identifier = None if sample.id is None else str(sample.id)
    return {"id": identifier, "input": sample.input, "choices": sample.choices, "target": target}


def _index(target: str, choices: list[str]) -> int:
    index = choice_of(target, choices)
    if index is None:
        raise ExportError(
            f"its target {target!r} is none of its {count_text(len(choices), 'choice')}"
        )
    return index
