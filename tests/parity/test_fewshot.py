"""Few-shot prompts are those of lm-evaluation-harness's tasks, character by character.

`make parity` runs this in an environment of its own; the ordinary one lacks lm_eval.
"""

from __future__ import annotations

import importlib
import json
import logging
import random
import shutil
import warnings
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

import registry
from tests.parity.lm_eval_real import RECORDS_OF
from tests.parity.real_files import REAL_FILES, Records, real_mmlu
from tests.parity.test_lm_eval import REAL, RECORDS, task_of

HERE = Path(__file__).parent

# Dataset → the file of the task, and whose real records it has.
DRAWN = {
    "gsm8k": ("gsm8k/gsm8k.yaml", "lm-eval-gsm8k"),
    "arc-easy": ("arc/arc_easy.yaml", "lm-eval-arc-easy"),
    "hellaswag": ("hellaswag/hellaswag.yaml", "lm-eval-hellaswag"),
    "winogrande": ("winogrande/default.yaml", "lm-eval-winogrande"),
}
SEED = 1234
"""The seed of the harness's own command."""
MOST = 400
"""Records that are evaluated, as the harness needs a second for some hundreds."""


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, logger="lm_eval")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    index = 'version: 1\ninclude: ["*.yaml"]\ntrust: []\n'
    (tmp_path / "datasets.yaml").write_text(index)
    shutil.copy(HERE / "fewshot.yaml", tmp_path)
    shutil.copy(HERE.parents[1] / "examples" / "lm_eval" / "lm_eval.yaml", tmp_path)
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("REGISTRY_ROOT", str(tmp_path))
    return tmp_path


def write(folder: Path, name: str, records: Records) -> None:
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")


def theirs(file: str, pool: Records, records: Records) -> list[Any]:
    """Return the prompts of a task with the seed of the harness's command."""
    task = task_of(file, records, pool)
    task.set_fewshot_seed(SEED)
    return [task.fewshot_context(document, 5) for document in task.eval_docs]


def compare(folder: Path, name: str, file: str, pool: Records, records: Records) -> None:
    write(folder, name, records)
    write(folder, f"{name}-pool", pool)
    found = registry.get_dataset(name, fewshot={"overlap": "skip"})
    expected = theirs(file, pool, records)
    assert len(found) == len(expected) == len(records)
    for number, (sample, prompt) in enumerate(zip(found, expected, strict=True)):
        if isinstance(prompt, list):  # a context for each choice
            assert not isinstance(sample.input, str)
            shown = f"{sample.input[0].text}\n\n"
            assert [shown + one for one in sample.choices or ()] == prompt, number
        else:
            assert sample.input == prompt, number


@pytest.mark.parametrize("name", DRAWN)
def test_prompts_of_drawn_examples_are_equal(name: str, folder: Path) -> None:
    file, records_of = DRAWN[name]
    records = RECORDS[records_of]
    pool = [varied(record, number) for number, record in enumerate(records * 4)]
    compare(folder, name, file, pool, records)


def varied(record: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a record with another question."""
    key = next(key for key in ("question", "ctx_a", "sentence") if key in record)
    return {**record, key: f"Story {number}: {record[key]}"}


@pytest.mark.parametrize("name", DRAWN)
def test_prompts_of_real_records_are_equal(name: str, folder: Path) -> None:
    file, records_of = DRAWN[name]
    facts = REAL[records_of]
    path = REAL_FILES / records_of / facts["file"]
    if not path.is_file():
        pytest.skip(f"{facts['origin']} is not on this machine")
    records = RECORDS_OF[records_of](path.read_text(encoding="utf-8"))
    # Different ones: some questions have the text of others.
    compare(folder, name, file, records[MOST:], records[:MOST])


def test_prompts_of_subjects_have_their_own_examples(folder: Path) -> None:
    subjects = ("anatomy", "high_school_physics", "world_religions")
    pool = [
        {
            "question": f" {subject} question {number}? ",
            "choices": [f"{subject} {letter}{number}" for letter in "wxyz"],
            "answer": number % 4,
            "subject": subject,
        }
        for number in range(7)
        for subject in subjects
    ]
    records = [{**one, "question": f"What of {one['question']}"} for one in pool]
    compare_subjects(folder, pool, records)


def compare_subjects(folder: Path, pool: Records, records: Records) -> None:
    write(folder, "mmlu", records)
    write(folder, "mmlu-pool", pool)
    with warnings.catch_warnings():  # nine real questions have the same choice twice
        warnings.simplefilter("ignore", UserWarning)
        found = registry.get_dataset("mmlu", fewshot={"overlap": "skip"})
    subjects = sorted({record["subject"] for record in records})
    for subject in subjects:
        own = [record for record in records if record["subject"] == subject]
        examples = [record for record in pool if record["subject"] == subject]
        expected = theirs(f"mmlu/default/mmlu_{subject}.yaml", examples, own)
        prompts = [one.input for one in found if (one.metadata or {})["subject"] == subject]
        assert prompts == expected, subject


def test_prompts_of_all_subjects_of_mmlu_are_equal(folder: Path) -> None:
    pool = real_mmlu("mmlu-dev")
    by_subject = groupby(real_mmlu("mmlu"), itemgetter("subject"))
    records = [record for _, some in by_subject for record in islice(some, 40)]
    assert len({record["subject"] for record in records}) == 57
    random.Random(1).shuffle(records)
    compare_subjects(folder, pool, records)


# --- a public leak: lm-evaluation-harness #4145 ---


def test_a_task_with_only_a_test_split_leaks_there_and_not_here(folder: Path) -> None:
    datasets: Any = importlib.import_module("datasets")
    api: Any = importlib.import_module("lm_eval.api.task")
    records = [
        {"question": f"Question {number}?", "answer": f"secret {number}", "id": number}
        for number in range(3)
    ]
    config = {
        "task": "only_test",
        "dataset_path": "none",
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{question}}\nAnswer:",
        "doc_to_target": "{{answer}}",
        "num_fewshot": 2,
        "metric_list": [{"metric": "exact_match"}],
        "generation_kwargs": {"until": ["\n"]},
        "custom_dataset": lambda **_: {"test": datasets.Dataset.from_list(records)},
    }
    task = api.ConfigurableTask(config=config)
    task.set_fewshot_seed(SEED)
    prompts = [task.fewshot_context(document, 2) for document in task.eval_docs]
    leaks = [record["answer"] in prompt for record, prompt in zip(records, prompts, strict=True)]
    assert any(leaks), "if the harness no longer leaks, this page of history is closed"

    write(folder, "only", records)
    (folder / "only.yaml").write_text(
        "datasets:\n"
        "  only:\n"
        "    source: {type: json, path: only.jsonl}\n"
        "    fields: {input: question, target: answer, id: id}\n"
        "    fewshot: {dataset: only, n: 2, into: text}\n",
        encoding="utf-8",
    )
    for keys in (
        {},
        {"pick": "random", "seed": SEED},
        {"pick": "random", "seed": SEED, "each": True},
    ):
        for sample in registry.get_dataset("only", fewshot=keys):
            assert isinstance(sample.input, str)
            assert str(sample.target) not in sample.input
            assert sample.input.count("secret") == 2
