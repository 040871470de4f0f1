"""Records in the layout of Every Eval Ever; `tests/interop/test_results.py` reads converted ones."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from registry.plugins.results.runs import read_runs

NAME = "4d3cbbf3-92be-4402-881b-0d9a3875b00d"


def write(folder: Path, rows: list[dict[str, Any]], **source: Any) -> Path:
    """Write a result and its samples; return the result."""
    samples = folder / f"{NAME}_samples.jsonl"
    samples.write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    result = {
        "schema_version": "0.3.0",
        "evaluation_id": "quiz/acme_one/1",
        "model_info": {"name": "one", "id": "acme/one"},
        "evaluation_results": [
            {"evaluation_name": "quiz", "source_data": {"dataset_name": "quiz", **source}}
        ],
        "detailed_evaluation_results": {
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(samples.read_bytes()).hexdigest(),
        },
    }
    (folder / f"{NAME}.json").write_text(json.dumps(result))
    return folder / f"{NAME}.json"


def row(sample_id: str, question: str, answer: str, **more: Any) -> dict[str, Any]:
    return {
        "evaluation_id": "quiz/acme_one/1",
        "model_id": "acme/one",
        "evaluation_name": "quiz",
        "evaluation_result_id": "match:accuracy",
        "sample_id": sample_id,
        "interaction_type": "single_turn",
        "input": {"raw": question, "reference": [answer], "choices": None},
        "evaluation": {"score": 1.0, "is_correct": True},
        "metadata": {"epoch": "1"},
        **more,
    }


def test_result_has_its_samples_with_a_score_for_each_metric(tmp_path: Path) -> None:
    other = row("1", "One?", "1", evaluation_result_id="match:f1", evaluation={"score": 0.5})
    again = row("1", "One?", "1", metadata={"epoch": "2"})
    write(tmp_path, [row("1", "One?", "1"), other, again], hf_repo="org/name")
    (run,) = read_runs(tmp_path)
    assert (run.tool, run.model, run.task) == ("eee", "acme/one", "quiz")
    assert (run.dataset, run.location, run.problem) == ("quiz", "org/name", None)
    assert [(one.id, one.epoch, one.scores) for one in run.samples] == [
        ("1", 1, {"match:accuracy": 1.0, "match:f1": 0.5}),
        ("1", 2, {"match:accuracy": 1.0}),
    ]
    assert (run.samples[0].input, run.samples[0].target) == ("One?", "1")


def test_location_that_inspect_logged_is_that_of_the_record(tmp_path: Path) -> None:
    location = f"qa.csv#sha256:{'0' * 64}"
    details = {"inspect_dataset_location": location, "inspect_dataset_name": "qa"}
    (run,) = read_runs(write(tmp_path, [], additional_details=details))
    assert (run.dataset, run.ordered) == ("qa", f"sha256:{'0' * 64}")


def test_samples_alone_are_a_run(tmp_path: Path) -> None:
    write(tmp_path, [row("1", "One?", "1")]).unlink()
    (run,) = read_runs(tmp_path / f"{NAME}_samples.jsonl")
    assert (run.model, run.task, len(run.samples)) == ("acme/one", "quiz", 1)


def test_samples_that_were_changed_afterwards_are_named(tmp_path: Path) -> None:
    result = write(tmp_path, [row("1", "One?", "1")])
    samples = tmp_path / f"{NAME}_samples.jsonl"
    samples.write_text(samples.read_text().replace("One?", "Won?"))
    (run,) = read_runs(result)
    assert run.problem == f"{samples.name} was changed: the record has another digest of it"
