"""Names of imported datasets, and what was left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.base.names import name_fault
from registry.plugins.importers.models import (
    ImportedDataset,
    LeftOut,
    dataset_name,
    problem_at,
    unmapped_dataset,
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("arc_easy", "arc_easy"),
        ("MMLU (Pro)", "mmlu-pro"),
        ("../../etc", "etc"),
        ("con", "dataset-con"),
        ("Größe", "gr-e"),
        ("", "dataset"),
        ("x" * 200, "x" * 128),
    ],
)
def test_names_are_valid_and_similar(text: str, name: str) -> None:
    assert dataset_name(text) == name
    assert name_fault(name) == ""


def test_only_what_samples_need_makes_a_dataset_partial() -> None:
    scoring = LeftOut("metric_list", "scores", "evaluation")
    assert ImportedDataset("d", {}, (scoring,)).is_whole
    assert not ImportedDataset("d", {}, (scoring, LeftOut("process_docs", "code"))).is_whole


def test_a_problem_names_file_and_line() -> None:
    assert (
        str(problem_at(Path("a.yaml"), "wrong", "try this", line=3)) == "a.yaml:3: wrong (try this)"
    )


def test_columns_are_shown() -> None:
    source = {"type": "csv", "path": "a.csv"}
    columns = [f"c{number}" for number in range(30)]
    found = unmapped_dataset(
        "d", source, about={"license": "mit", "homepage": None}, columns=columns
    )
    assert found.keys == {"license": "mit", "source": {"type": "csv", "path": "a.csv"}}
    (fields,) = found.left_out
    assert fields.why.endswith("c18, c19…")
    assert not found.is_whole
