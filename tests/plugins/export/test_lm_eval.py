"""`lm-eval`: a task and its data, and samples that it can't run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from registry.errors import ExportError
from registry.plugins.export.lm_eval import write
from registry.samples.sample import Sample
from tests.plugins.export.conftest import Opener
from tests.plugins.export.test_eval_yaml import KEYS, exported


def test_choices_and_indexes(opened: Opener, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    dataset = opened("mcq")
    write(dataset, folder)
    rows = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    for row, sample in zip(rows, dataset.samples(), strict=True):
        assert (row["input"], row["choices"]) == (sample.input, sample.choices)
        assert "AB"[row["target"]] == sample.target
    task = yaml.safe_load((folder / "mcq.yaml").read_text())
    assert task["dataset_kwargs"] == {"data_files": {"test": "samples.jsonl"}}
    assert (task["output_type"], task["doc_to_choice"]) == ("multiple_choice", "choices")
    assert [one["metric"] for one in task["metric_list"]] == ["acc", "acc_norm"]
    provenance = task["metadata"]["registry"]
    assert json.loads((folder / "provenance.json").read_text()) == provenance


@pytest.mark.parametrize(("name", "stem"), [("board/one", "board+one"), ("quiz:dev", "quiz+dev")])
def test_members_and_splits_have_tasks_of_their_own(tmp_path: Path, name: str, stem: str) -> None:
    made = exported(KEYS)
    write(replace(made, provenance=replace(made.provenance, name=name)), tmp_path)
    # lm-eval has the name of a task in those of its files.
    assert yaml.safe_load((tmp_path / f"{stem}.yaml").read_text())["task"] == stem


@pytest.mark.parametrize(
    ("samples", "target"),
    [
        ([Sample(input="a", target="x"), Sample(input="b", target="")], "x"),
        ([Sample(input="a", target=["x", "y"])], ["x", "y"]),
        ([Sample(input="a", choices=["p", "q"], target="q")], 1),
        ([Sample(input="a", choices=["p", "q"], target=["A", "B"])], [0, 1]),
    ],
)
def test_targets(tmp_path: Path, samples: list[Sample], target: Any) -> None:
    made = exported(KEYS, samples)
    write(made, tmp_path)
    row = json.loads((tmp_path / "samples.jsonl").read_text().splitlines()[0])
    assert row["target"] == target


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([], "no samples"),
        ([Sample(input="a"), Sample(input="b", choices=["x"], target="A")], "of one kind"),
        ([Sample(input="a", target="x"), Sample(input="b", target=["x"])], "of one kind"),
        ([Sample("a", id=7, choices=["x", "y"], target="C")], r"sample 1 \(id 7\): its target"),
        ([Sample(input="a", choices=["x", "y"], target="")], "none of its 2 choices"),
    ],
)
def test_samples_that_it_cannot_run(tmp_path: Path, samples: list[Sample], message: str) -> None:
    with pytest.raises(ExportError, match=message):
        write(exported(KEYS, samples), tmp_path)


def test_conversations_are_refused(opened: Opener, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(ExportError, match="it is a conversation"):
        write(opened("chat"), tmp_path / "out")
