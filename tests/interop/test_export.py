"""Exports in the tools that they are for: mlcroissant, and the types of OpenAI's client."""

from __future__ import annotations

import json
from pathlib import Path
from types import GenericAlias
from typing import Any

import pytest

from registry import get_dataset
from registry.cli import main

DATASETS = ("demo-mcq", "demo-mcq-small", "demo-chat")


@pytest.mark.filterwarnings(  # mlcroissant uses both
    "ignore:ConjunctiveGraph is deprecated", "ignore:The inplace keyword"
)
@pytest.mark.parametrize("name", DATASETS)
def test_mlcroissant_validates_and_reads_every_record(name: str, tmp_path: Path) -> None:
    croissant = pytest.importorskip("mlcroissant")
    assert main(["export", name, "--out", str(tmp_path / "out"), "--format", "croissant"]) == 0
    found = croissant.Dataset(str(tmp_path / "out" / "croissant.json"))
    assert not found.metadata.ctx.issues.errors
    assert found.metadata.ctx.conforms_to.value == "http://mlcommons.org/croissant/1.1"
    expected = get_dataset(name).to_arrow().to_pylist()
    records = [plain(record) for record in found.records("samples")]
    assert len(records) == len(expected)
    for record, row in zip(records, expected, strict=True):
        # It gives no empty list of structs: a missing one is one struct of nulls.
        messages = row["messages"] or [dict.fromkeys(("role", "content", "id", "rest"))]
        assert record == {**row, "messages": messages}


def plain(value: Any) -> Any:
    """Return a record with text for bytes, and the names of columns for ids of fields."""
    if isinstance(value, dict):
        return {key.rpartition("/")[2]: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.decode() if isinstance(value, bytes) else value


@pytest.mark.parametrize("kind", ["openai-evals", "fine-tuning"])
@pytest.mark.parametrize("name", ["demo-mcq", "demo-mcq-small"])
def test_messages_have_the_types_of_the_client(kind: str, name: str, tmp_path: Path) -> None:
    openai: Any = pytest.importorskip("openai.types.chat")
    pydantic = pytest.importorskip("pydantic")
    target = tmp_path / "out.jsonl"
    assert main(["export", name, "--out", str(target), "--format", kind]) == 0
    records = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert len(records) == len(get_dataset(name))
    adapter = pydantic.TypeAdapter(GenericAlias(list, openai.ChatCompletionMessageParam))
    for record in records:
        messages = record["messages" if kind == "fine-tuning" else "input"]
        assert adapter.validate_python(messages, extra="forbid")
    assert all(isinstance(record.get("ideal", ""), str) for record in records)


def test_samples_run_in_a_match_of_evals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Its module of completions makes a client when it is imported; nothing is requested.
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    monkeypatch.setenv("EVALS_SEQUENTIAL", "1")
    match = pytest.importorskip("evals.elsuite.basic.match")
    base, record = (pytest.importorskip(name) for name in ("evals.base", "evals.record"))
    target = tmp_path / "out.jsonl"
    assert main(["export", "demo-mcq", "--out", str(target), "--format", "openai-evals"]) == 0
    records = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    ideals = {json.dumps(one["input"]): one["ideal"] for one in records}

    class Answer:
        def __init__(self, prompt: Any) -> None:
            self.prompt = prompt

        def get_completions(self) -> list[str]:
            return [ideals[json.dumps(self.prompt)]]

    spec = base.RunSpec(
        completion_fns=["right"],
        eval_name="demo.test.v0",
        base_eval="demo",
        split="test",
        run_config={},
        created_by="",
    )
    run = match.Match(
        [lambda prompt, **_: Answer(prompt)],
        str(target),
        eval_registry_path=Path("/"),
        name="demo.test.v0",
        seed=1,
    )
    assert run.run(record.LocalRecorder(str(tmp_path / "log.jsonl"), spec))["accuracy"] == 1
