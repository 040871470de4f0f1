"""Logs of each tool, as its own writer or its own layout has them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
from inspect_ai.scorer import Score

from registry import get_dataset

WriteLog = Callable[..., Path]
WriteRows = Callable[..., Path]
QUESTIONS = (("One?", "1"), ("Two?", "2"), ("Three?", "3"))


@pytest.fixture
def write_log(tmp_path: Path) -> WriteLog:
    """Return a function that writes a log of Inspect with Inspect's own writer."""

    def write(
        samples: Sequence[tuple[Any, Any]] = QUESTIONS,
        *,
        name: str = "log.eval",
        dataset: str = "qa",
        location: str = "qa.csv",
        registry: Any = None,
        scores: Sequence[Any] = (),
        status: str = "success",
        **fields: Any,
    ) -> Path:
        scores = scores or ["C"] * len(samples)
        given = [Sample(input=one, target=target) for one, target in samples]
        log = EvalLog(
            status=status,  # type: ignore[arg-type] # pydantic checks it
            eval=EvalSpec(
                created="2026-11-23T20:00:00+00:00",
                task="quiz",
                model="acme/one",
                dataset=EvalDataset(name=dataset, location=location),
                config=EvalConfig(),
                metadata=None if registry is None else {"registry": registry},
            ),
            samples=[
                EvalSample(
                    id=number,
                    epoch=1,
                    input=one.input,
                    target=one.target,
                    scores={"match": Score(value=score)},
                    **fields,
                )
                for number, (one, score) in enumerate(zip(given, scores, strict=True), 1)
            ],
        )
        write_eval_log(log, tmp_path / name)
        return tmp_path / name

    return write


@pytest.fixture
def write_rows(tmp_path: Path) -> WriteRows:
    """Return a function that writes results and samples as lm-eval does."""

    def write(rows: Sequence[dict[str, Any]], *, config: dict[str, Any] | None = None) -> Path:
        date = "2026-11-23T20-49-37.023624"
        results = {
            "results": {"quiz": {}},
            "configs": {"quiz": {"task": "quiz", "dataset_path": "json", **(config or {})}},
            "n-shot": {"quiz": 0},
            "model_name": "acme/one",
        }
        folder = tmp_path / "acme__one"
        folder.mkdir()
        (folder / f"results_{date}.json").write_text(json.dumps(results), encoding="utf-8")
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (folder / f"samples_quiz_{date}.jsonl").write_text(text, encoding="utf-8")
        return folder

    return write


def row(number: int, question: str, answer: str, **more: Any) -> dict[str, Any]:
    """Return a row of lm-eval's samples."""
    return {
        "doc_id": number,
        "doc": {"question": question},
        "target": answer,
        "arguments": {"gen_args_0": {"arg_0": f"Q: {question}\nA:", "arg_1": {"until": []}}},
        "filter": "none",
        "metrics": ["exact_match"],
        "exact_match": 1.0,
        **more,
    }


def stated(name: str, **view: Any) -> dict[str, Any]:
    """Return the provenance of a dataset of the catalog here, as a log has it."""
    return get_dataset(name, **view).provenance.as_data()
