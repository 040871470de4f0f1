"""An `eval.yaml` gives the samples that Inspect AI makes of it, in both directions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("inspect_ai", reason="`make interop` installs it")

from inspect_ai._eval.task.hf import HFTask, _load_eval_yaml, _record_to_sample_hf

from registry.scaffold.importers.eval_yaml import read
from registry.scaffold.importers.models import ImportedDataset, ImportOptions
from tests.export.writers.test_eval_yaml import SAMPLES, written
from tests.scaffold.importers.support import samples_of

PNG = "data:image/png;base64,iVBORw0KGgo="
RECORDS: list[dict[str, Any]] = [
    {"q": "What?", "a": 1, "t": "x", "c": ["p", "q"], "one": "1", "two": "2", "pic": PNG, "d": "D"},
    {
        "q": "Why?\n",
        "a": 0,
        "t": "",
        "c": ["", "b", "c"],
        "one": "ä",
        "two": "{x}",
        "pic": None,
        "d": "",
    },
    {
        "q": "{q}",
        "a": 2,
        "t": "y",
        "c": ["a", "b", "c"],
        "one": " 1",
        "two": "2",
        "pic": "",
        "d": "E",
    },
]
FIELDS: list[dict[str, Any]] = [
    {"input": "q", "target": "t"},
    {"input": "q", "target": "t", "metadata": ["a", "d"], "description": "d"},
    {"input": "q", "target": "a", "choices": "c"},
    {"input": "q", "target": "t", "choices": ["one", "two"]},
    {"input": "q", "target": "literal:Yes", "input_image": "pic"},
    {"input": "q", "target": "literal:literal:x"},
]


def file_of(folder: Path, fields: dict[str, Any]) -> Path:
    task = {"field_spec": fields, "solvers": [{"name": "generate"}], "scorers": [{"name": "exact"}]}
    file = folder / "eval.yaml"
    file.write_text(yaml.safe_dump({"tasks": [task]}), encoding="utf-8")
    return file


def imported(file: Path) -> ImportedDataset:
    (dataset,) = read(file, ImportOptions(repository="acme/quiz")).datasets
    return dataset


def content(sample: Any) -> Any:
    """Return what a sample says, without the random ids of messages."""
    text = sample.input
    if not isinstance(text, str):
        text = [
            (
                one.role,
                [part.model_dump(exclude_none=True, exclude={"detail"}) for part in one.content],
            )
            for one in text
        ]
    return text, sample.target, sample.choices, sample.metadata or None, sample.description or None


@pytest.mark.parametrize("fields", FIELDS)
def test_samples_are_those_of_inspect(tmp_path: Path, fields: dict[str, Any]) -> None:
    file = file_of(tmp_path, fields)
    (task,) = [HFTask.model_validate(one) for one in _load_eval_yaml(file)["tasks"]]
    # Registry leaves out blank choices, as Inspect's own readers of files do.
    records = [
        one for one in RECORDS if "c" not in str(fields.get("choices")) or "" not in one["c"]
    ]
    theirs = [content(_record_to_sample_hf(record, task.field_spec)) for record in records]
    assert [content(one) for one in samples_of(imported(file), records)] == theirs


@pytest.mark.parametrize("fields", FIELDS)
def test_an_exported_file_is_accepted_and_the_same(tmp_path: Path, fields: dict[str, Any]) -> None:
    first = file_of(tmp_path, fields)
    dataset = imported(first)
    (before,) = _load_eval_yaml(first)["tasks"]
    first.write_text(written({**dataset.keys, "tags": []}, SAMPLES), encoding="utf-8")
    (after,) = _load_eval_yaml(first)["tasks"]
    assert HFTask.model_validate(after).field_spec == HFTask.model_validate(before).field_spec
    assert (after["solvers"], after["scorers"]) == (before["solvers"], before["scorers"])
