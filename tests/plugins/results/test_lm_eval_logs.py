"""Logs in the layout of lm-eval; `tests/interop/test_results.py` reads those that it wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from registry.api import LogError
from registry.plugins.results.lm_eval_logs import read
from registry.plugins.results.runs import read_runs
from tests.plugins.results.conftest import WriteRows, row


def test_results_have_the_samples_of_their_task_once(write_rows: WriteRows) -> None:
    folder = write_rows([row(1, "Two?", "2"), row(0, "One?", "1")])
    (run,) = read_runs(folder)
    assert (run.tool, run.model, run.task, run.location) == ("lm_eval", "acme/one", "quiz", "json")
    assert [(one.id, one.input, one.target) for one in run.samples] == [
        (0, "Q: One?\nA:", "1"),
        (1, "Q: Two?\nA:", "2"),
    ]
    assert run.samples[0].metadata == {"question": "One?"}


def test_samples_file_alone_takes_the_rest_from_the_results_beside_it(
    write_rows: WriteRows,
) -> None:
    folder = write_rows([row(0, "One?", "1")], config={"metadata": {"fingerprint": "sha256:1"}})
    samples = next(folder.glob("samples_*"))
    (run,) = read_runs(samples)
    assert (run.model, run.task, run.fingerprint) == ("acme/one", "quiz", "sha256:1")
    next(folder.glob("results_*")).unlink()
    for path in (samples, folder):
        (run,) = read_runs(path)
        assert (run.model, run.task, len(run.samples)) == (None, "quiz", 1)


def test_results_without_samples_are_a_run_without_samples(write_rows: WriteRows) -> None:
    folder = write_rows([], config={"dataset_path": "org/name", "dataset_name": "main"})
    next(folder.glob("samples_*")).unlink()
    (run,) = read_runs(folder)
    assert (run.samples, run.dataset) == ((), "org/name main")


def test_filters_of_a_sample_are_scores_of_one_sample(write_rows: WriteRows) -> None:
    strict = row(0, "One?", "1", filter="strict-match", exact_match=0.0)
    folder = write_rows([strict, row(0, "One?", "1", filter="flexible-extract")])
    (run,) = read_runs(folder)
    (sample,) = run.samples
    scores = {"exact_match,strict-match": 0.0, "exact_match,flexible-extract": 1.0}
    assert sample.scores == scores


@pytest.mark.parametrize(
    ("doc", "target", "choices", "letter"),
    [
        ({"choices": ["p", "q"]}, 1, ["p", "q"], "B"),
        ({"choices": ["p", "q"]}, "0", ["p", "q"], "A"),
        ({"choices": ["p", "q"]}, [0, 1], ["p", "q"], ["A", "B"]),
        ({}, 1, ["yes", "no"], "B"),
        ({}, "maybe", ["yes", "no"], "maybe"),
        ({}, "2", ["yes", "no"], "2"),
        ({}, "9" * 5000, ["yes", "no"], "9" * 5000),
    ],
)
def test_target_of_choices_is_a_letter(
    doc: dict[str, object],
    target: object,
    choices: list[str],
    letter: object,
    write_rows: WriteRows,
) -> None:
    requests = {
        f"gen_args_{n}": {"arg_0": "?", "arg_1": f" {c}"} for n, c in enumerate(("yes", "no"))
    }
    folder = write_rows([row(0, "?", "", doc=doc, target=target, arguments=requests)])
    (run,) = read_runs(folder)
    assert (run.samples[0].choices, run.samples[0].target) == (choices, letter)


def test_record_of_our_own_export_is_the_sample(write_rows: WriteRows) -> None:
    doc = {"id": "x", "input": "One?", "choices": None, "target": "1"}
    (run,) = read_runs(write_rows([row(0, "One?", "1", doc=doc)]))
    assert (run.samples[0].id, run.samples[0].input) == ("x", "One?")


def test_prompt_of_a_chat_template_is_its_messages(write_rows: WriteRows) -> None:
    chat = [{"role": "user", "content": "One?"}]
    requests = {"gen_args_0": {"arg_0": json.dumps(chat)}}
    (run,) = read_runs(write_rows([row(0, "One?", "1", arguments=requests)]))
    assert run.samples[0].input == chat


@pytest.mark.parametrize("text", ['[{"name": "f"}]', f'[{{"a": {"[" * 9000}'])
def test_json_that_is_no_conversation_is_a_text(text: str, write_rows: WriteRows) -> None:
    doc = {"input": [[1]], "target": "1"}
    requests = {"gen_args_0": {"arg_0": text}}
    (run,) = read_runs(write_rows([row(0, "One?", "1", doc=doc, arguments=requests)]))
    assert run.samples[0].input == text


def test_task_with_a_name_that_no_file_has_is_a_run_without_samples(tmp_path: Path) -> None:
    log = tmp_path / "results_2026-11-23T20-49-37.023624.json"
    log.write_text(json.dumps({"results": {}, "configs": {"x" * 300: {}}, "n-shot": {}}))
    (run,) = read_runs(log)
    assert run.samples == ()


def test_requests_of_older_releases_are_lists(write_rows: WriteRows) -> None:
    (run,) = read_runs(write_rows([row(0, "One?", "1", arguments=[["Q: One?", {}]])]))
    assert run.samples[0].input == "Q: One?"


def test_truncated_samples_are_refused(write_rows: WriteRows) -> None:
    folder = write_rows([row(0, "One?", "1"), row(1, "Two?", "2")])
    samples = next(folder.glob("samples_*"))
    samples.write_text(samples.read_text()[:-40])
    with pytest.raises(LogError, match=r"jsonl:2: it is truncated"):
        list(read(next(folder.glob("results_*"))))
