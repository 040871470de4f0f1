"""Evaluations by Inspect AI: they succeed, and their scores are right.

`make inspect` runs this with the newest and the oldest supported version of Inspect AI.
"""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest

from registry.samples.provenance import Provenance, read_provenance
from tests.inspect.conftest import ROOT, Run
from tests.inspect.known_model import shared_data

Results = dict[str, Any]
LOCATIONS = {
    "multiple choice": ("demo-mcq-small", "registry/data/demo-mcq.csv", 10),
    "chat": ("demo-chat", "registry/data/demo-chat.jsonl", 50),
    "pictures": ("pictures", "pictures.jsonl", 2),
    "notes": ("notes", "notes.jsonl", 3),
    "without ids": ("without-ids", "registry/data/demo-mcq.csv", 4),
    "epochs": ("demo-mcq", "registry/data/demo-mcq.csv", 6),
    "limit": ("demo-mcq", "registry/data/demo-mcq.csv", 3),
    "sample ids": ("demo-mcq", "registry/data/demo-mcq.csv", 2),
    "shuffle": ("demo-mcq", "registry/data/demo-mcq.csv", 6),
    "shuffle without ids": ("without-ids", "registry/data/demo-mcq.csv", 6),
    "edited": ("demo-mcq", "registry/data/demo-mcq.csv", 3),
    "paged": ("demo-mcq", "registry/data/demo-mcq.csv", 3),
    "gsm8k": ("gsm8k", "gsm8k-test.jsonl", 10),
    "agieval": ("agieval-aqua-rat", "real/agieval-aqua-rat.jsonl", 10),
}
"""Name of the case → name of the dataset, end of its location, number of samples that run."""
NEEDS = {"gsm8k": "gsm8k-test.jsonl", "agieval": "real/agieval-aqua-rat.jsonl"}


@pytest.fixture(scope="module")
def results(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Run all evaluations in one process."""
    found: Results = json.loads(run("tests.inspect.evals", str(tmp_path_factory.mktemp("catalog"))))
    return found


@pytest.mark.parametrize("name", LOCATIONS)
def test_evaluation_succeeds_and_its_log_names_its_data(name: str, results: Results) -> None:
    if name in NEEDS and shared_data(NEEDS[name]) is None:
        pytest.skip(f"no {NEEDS[name]} on this machine")
    dataset, location, count = LOCATIONS[name]
    found = logged(results[f"{name}, right"])
    assert found.name == dataset
    assert found.fingerprint is not None
    assert len(found.pins) == 1
    for model, accuracy in (("right", 1.0), ("wrong", 0.0)):
        result = results[f"{name}, {model}"]
        ended = (result["status"], result["error"], result["accuracy"])
        assert ended == ("success", None, accuracy)
        assert logged(result) == found
        assert result["dataset"]["name"] == dataset
        assert result["dataset"]["samples"] == found.samples
        source, digest = result["dataset"]["location"].split("#")
        assert location.endswith(source) or source.endswith(location)
        assert digest.startswith("sha256:")
        assert digest == found.ordered or found.modified
        assert len(result["run"]) == count


def ids_of(result: dict[str, Any]) -> list[Any]:
    return [sample_id for sample_id, _, _ in result["run"]]


def demo() -> dict[str, str]:
    """Return id → question of the file, in its order."""
    with (ROOT / "registry" / "data" / "demo-mcq.csv").open(encoding="utf-8") as file:
        return {row["id"]: row["question"] for row in csv.DictReader(file)}


def test_limit_sample_ids_and_epochs_select_what_they_say(results: Results) -> None:
    assert ids_of(results["limit, right"]) == list(demo())[2:5]
    assert ids_of(results["sample ids, right"]) == ["demo-001", "demo-003"]
    runs = [(sample_id, epoch) for sample_id, epoch, _ in results["epochs, right"]["run"]]
    assert sorted(runs) == [(one, epoch) for one in list(demo())[:3] for epoch in (1, 2)]


def test_samples_without_ids_are_numbered_from_one(results: Results) -> None:
    assert ids_of(results["without ids, right"]) == [1, 2, 3, 4]


@pytest.mark.parametrize("name", ["shuffle", "shuffle without ids"])
def test_sample_shuffle_gives_the_order_of_inspect(name: str, results: Results) -> None:
    result = results[f"{name}, right"]
    shuffled = list(demo())
    random.Random(7).shuffle(shuffled)
    assert result["dataset"]["shuffled"] is True
    # A sample without an id gets the number of its place in the shuffled order.
    asked = {sample_id: question for sample_id, _, question in result["run"]}
    ids: list[Any] = shuffled[:6] if name == "shuffle" else [1, 2, 3, 4, 5, 6]
    assert [asked[one] for one in ids] == [demo()[one] for one in shuffled[:6]]


def logged(result: dict[str, Any]) -> Provenance:
    """Return the provenance in the header of a log."""
    return read_provenance(json.loads(result["header"])["metadata"]["registry"])


def test_log_says_what_was_done_with_the_dataset(results: Results) -> None:
    assert logged(results["chat, right"]).modified == ()
    assert logged(results["shuffle, right"]).modified == ("shuffled",)
    edited = logged(results["edited, right"])
    assert edited.modified[0] == "filtered"
    assert edited.modified[1].startswith("changed: demo-")
    assert json.loads(results["edited, right"]["header"])["metadata"]["mine"] == 1
    limited = logged(results["epochs, right"])
    assert (limited.view, limited.samples) == ({"limit": 3}, 3)


def test_no_log_names_a_folder_of_the_machine(results: Results, home: Path) -> None:
    for result in results.values():
        header = json.loads(result["header"])
        text = json.dumps([header["dataset"], header["metadata"]])
        assert str(ROOT) not in text
        assert str(home) not in text
        assert "/tmp" not in text
        assert "pytest" not in text
