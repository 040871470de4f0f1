"""Reading logs: which tool wrote them, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.api import LogError
from registry.plugins.results.runs import (
    Run,
    read_object,
    read_rows,
    read_runs,
    score_of,
    stated_provenance,
    text_or_texts,
)
from tests.plugins.results.conftest import QUESTIONS, WriteLog, WriteRows, row

BIG = 10**400


def test_the_tool_follows_from_the_content_and_not_from_the_name(
    write_log: WriteLog, write_rows: WriteRows, tmp_path: Path
) -> None:
    write_log(name="renamed.json")
    write_rows([row(0, "One?", "1")])
    (tmp_path / "notes.txt").write_text("not a log")
    (tmp_path / "other.json").write_text("[1]")
    found = {(run.tool, run.task, run.model, len(run.samples)) for run in read_runs(tmp_path)}
    assert found == {("inspect", "quiz", "acme/one", 3), ("lm_eval", "quiz", "acme/one", 1)}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "{}", "a.txt: no log of a known tool (known: `.eval` and `.json` of Inspect,"),
        ("a.json", "{}", "a.json: no log of a known tool"),
        ("a.json", '{"a": ', "a.json: it is truncated: the JSON ends too early (copy it again)"),
        ("a.jsonl", '{"a": 1}\n', "a.jsonl: no log of a known tool"),
        ("a.eval", "{}", "a.eval: Inspect can't read this log (ValueError: "),
        ("a.json", '{"version": 2, "status": "x", "eval": {}}', "a.json: Inspect can't read this"),
        (
            "a.json",
            '{"results": {}, "configs": 1, "n-shot": {}}',
            "a.json: not as lm_eval writes it (TypeError: 'int' object is not iterable)",
        ),
        (
            "a.json",
            '{"schema_version": "1", "evaluation_id": "x", "evaluation_results": [1]}',
            "a.json: not as eee writes it (AttributeError: ",
        ),
        (
            "a.json",
            '{"schema_version": "1", "evaluation_id": "", "evaluation_results": [], "model_info": {"id": NaN}}',
            "a.json: not as eee writes it (TypeError: model is no text but float)",
        ),
        (
            "a.jsonl",
            '{"evaluation_id": "x", "sample_id": 1, "interaction_type": "", "metadata": [1]}',
            "a.jsonl: not as eee writes it (AttributeError: ",
        ),
        (
            "a.jsonl",
            '{"evaluation_id": 1, "sample_id": 1, "interaction_type": 1, "input": {"choices": 2}}',
            "a.jsonl: not as eee writes it (ValidationError: ",
        ),
        (
            "a.jsonl",
            f'{{"doc_id": 1, "doc": 1, "target": 1, "arguments": [], "metrics": ["a"], "a": {BIG}}}',
            "a.jsonl: not as lm_eval writes it (OverflowError: ",
        ),
    ],
)
def test_what_is_no_log_is_refused_with_its_name(
    name: str, text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(LogError) as caught:
        read_runs(tmp_path / name)
    assert message in str(caught.value)


def test_missing_file_and_folder_without_a_log_are_refused(tmp_path: Path) -> None:
    # An empty name would be the working directory; a long one can't be looked for.
    for name in (tmp_path / "gone", tmp_path / ("x" * 300), ""):
        with pytest.raises(LogError, match=r": no such file or folder"):
            read_runs(name)
    with pytest.raises(LogError, match="no log in this folder"):
        read_runs(tmp_path)


@pytest.mark.parametrize(
    ("value", "score"),
    [("C", 1.0), ("P", 0.5), ("I", 0.0), ("N", 0.0), (True, 1.0), (2, 2.0), ("good", "good")],
)
def test_scores_are_numbers_where_they_are(value: Any, score: float | str) -> None:
    assert score_of(value) == score


def test_targets_are_texts() -> None:
    assert (text_or_texts(3), text_or_texts([1, "b"])) == ("3", ["1", "b"])


def test_provenance_is_read_or_its_fault_is_named() -> None:
    assert stated_provenance(None) == (None, None)
    assert stated_provenance(3)[1] is not None
    data = {"name": "qa", "samples": 3, "digest": f"sha256:{'0' * 64}"}
    provenance, problem = stated_provenance(data)
    assert provenance is None
    assert "edited by hand" in str(problem)


@pytest.mark.parametrize(
    ("location", "ordered"),
    [
        (f"qa.csv#sha256:{'0' * 64}", f"sha256:{'0' * 64}"),
        ("qa.csv#part", None),
        ("qa.csv", None),
        (None, None),
    ],
)
def test_digest_of_the_samples_ends_a_location(location: str | None, ordered: str | None) -> None:
    assert Run(file="a", tool="eee", location=location).ordered == ordered


def test_log_in_a_folder_that_is_damaged_is_an_error(write_log: WriteLog, tmp_path: Path) -> None:
    whole = write_log(QUESTIONS, name="b.json")
    (tmp_path / "a.json").write_text(whole.read_text()[:300])
    with pytest.raises(LogError, match=r"a\.json: it is truncated"):
        read_runs(tmp_path)


def test_rows_of_another_program_are_refused(write_rows: WriteRows) -> None:
    folder = write_rows([row(0, "One?", "1"), {"other": 1}])
    with pytest.raises(LogError, match="a row has no `doc_id`, so lm-eval did not write it"):
        read_runs(folder)


def test_other_values_than_objects_are_empty(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1]")
    (tmp_path / "a.jsonl").write_text('1\n\n{"a": 1}\n')
    assert read_object(tmp_path / "a.json") == {}
    assert list(read_rows(tmp_path / "a.jsonl")) == [{}, {"a": 1}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"a": 1}\n{"b": ', "a.jsonl:2: it is truncated: the JSON ends too early"),
        (b'{"a": 1}\n{b}\n', "a.jsonl:2: no valid JSON: Expecting property name"),
        (b'{"a": 1}\n\xff\n', "no valid JSON: 'utf-8' codec can't decode"),
        (b"[" * 100_000, "a.jsonl:1: no valid JSON: "),
    ],
)
def test_damage_is_named_with_its_line(text: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(text)
    with pytest.raises(LogError) as caught:
        list(read_rows(tmp_path / "a.jsonl"))
    assert message in str(caught.value)


def test_folder_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="no valid JSON: Is a directory"):
        read_object(tmp_path)
