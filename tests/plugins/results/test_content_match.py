"""Which dataset the samples of a log are from, by their texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry import ChatMessageSystem, ChatMessageUser, MemoryDataset, Sample
from registry.api import options
from registry.plugins.results.content_match import Match, find_dataset, match
from registry.plugins.results.here import Here
from registry.plugins.results.runs import Run, RunSample
from tests.cli.invocation import write

CHAT = Sample(
    input=[ChatMessageSystem(content="Be  brief."), ChatMessageUser(content="Two?")], target="2"
)
CHOICE = Sample(input="Which?", choices=["p", "q"], target="B")
DATASET = MemoryDataset([Sample(input="One?\n", target="1"), CHAT, CHOICE])


def counts(value: Any, target: str | list[str] = "", **fields: Any) -> tuple[int, int]:
    found = match([RunSample(id=1, input=value, target=target, **fields)], "d", DATASET)
    return found.exact, found.inputs


@pytest.mark.parametrize(
    ("value", "target", "found"),
    [
        ("One?", "1", (1, 1)),
        (" One? ", "1", (1, 1)),
        ("One?", "2", (0, 1)),
        ("Nine?", "1", (0, 0)),
        # The whole conversation, and what records of EEE have of it.
        (
            [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Two?"}],
            "2",
            (1, 1),
        ),
        ([{"role": "user", "content": [{"type": "text", "text": "Two?"}]}], "2", (1, 1)),
        ("Two?", "2", (1, 1)),
    ],
)
def test_input_and_target_are_compared(value: Any, target: str, found: tuple[int, int]) -> None:
    assert counts(value, target) == found


@pytest.mark.parametrize(
    ("target", "choices", "found"),
    [
        ("B", ["p", "q"], (1, 1)),
        ("1", ["p", "q"], (1, 1)),
        ("q", None, (1, 1)),
        # Other choices in another order, but the same answer.
        ("A", ["q", "p"], (1, 1)),
        ("A", ["p", "q"], (0, 1)),
        ("9" * 5000, ["p", "q"], (0, 1)),
    ],
)
def test_choice_is_the_same_by_letter_index_and_text(
    target: str, choices: list[str] | None, found: tuple[int, int]
) -> None:
    assert counts("Which?", target, choices=choices) == found


def test_record_that_lm_eval_logs_beside_the_prompt_is_compared() -> None:
    assert counts("Q: One?\nA:", "1", metadata={"question": "One?", "n": 3}) == (1, 1)


def test_dataset_with_most_samples_is_found_and_its_name_preferred(own: Path) -> None:
    write(own, "more", "datasets:\n  qa-all: {extends: qa, shuffle: true, seed: 1}\n")
    here = Here(*options.open_catalog(None))
    samples = (RunSample(id=1, input="One?", target="1"), RunSample(id=2, input="Two?", target="2"))
    found = find_dataset(Run(file="a", tool="eee", samples=samples), here)
    assert found == Match(dataset="qa", of=3, exact=2, inputs=2, also=("qa-all", "qa-one"))
    found = find_dataset(Run(file="a", tool="eee", dataset="qa-all", samples=samples), here)
    assert found is not None
    assert found.dataset == "qa-all"


def test_datasets_that_cannot_be_opened_are_passed_over(own: Path) -> None:
    write(own, "gone", "datasets:\n  gone: {source: {type: csv, path: gone.csv}}\n")
    # This one is found out only when it is built.
    invalid = "{source: {type: csv, path: qa.csv}, fields: {input: nothing}}"
    write(own, "invalid", f"datasets:\n  invalid: {invalid}\n")
    here = Here(*options.open_catalog(None))
    run = Run(file="a", tool="eee", dataset="gone", samples=(RunSample(id=1, input="Nine?"),))
    assert find_dataset(run, here) is None
