"""Run evaluations of Inspect AI over our datasets, and print their logs as JSON.

A program of its own, so that Inspect's tasks, models and displays stay out of the tests' process:
`python -m tests.inspect.evals FOLDER`, with an empty folder.
"""

from __future__ import annotations

import json
import os
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

import inspect_ai
import yaml
from inspect_ai import Task
from inspect_ai.log import read_eval_log
from inspect_ai.scorer import choice, includes
from inspect_ai.solver import Generate, Solver, TaskState, generate, multiple_choice, solver
from inspect_ai.util import sandbox

import registry
import registry.inspect
from tests.inspect.known_model import BLUE, DATA, RED, png_of, shared_data

# ---------------------------------------------------------------- datasets beside the shipped ones

OWN = {
    "pictures": {
        "source": {"type": "json", "path": "pictures.jsonl"},
        "fields": {"input": "messages", "target": "colour"},
    },
    "notes": {
        "source": {"type": "json", "path": "notes.jsonl"},
        "fields": {
            "input": "q",
            "target": "note",
            "files": "files",
            "setup": "setup",
            "sandbox": {"const": "local"},
        },
    },
    "without-ids": {
        "source": {"type": "csv", "path": str(DATA / "demo-mcq.csv")},
        "fields": {
            "input": "question",
            "choices": ["A", "B", "C", "D"],
            "target": "answer",
            "id": None,
        },
    },
}


def write_catalog(folder: Path) -> None:
    index = {"version": 1, "datasets": OWN, "include": ["package:registry"]}
    (folder / "datasets.yaml").write_text(yaml.safe_dump(index), encoding="utf-8")
    (folder / "red.png").write_bytes(png_of(RED))
    inline = "data:image/png;base64," + b64encode(png_of(BLUE)).decode()
    ask = {"type": "text", "text": "Which colour?"}
    rows = [
        {"colour": "red", "messages": picture_message(ask, "red.png")},
        {"colour": "blue", "messages": picture_message(ask, inline)},
    ]
    write_lines(folder / "pictures.jsonl", rows)
    (folder / "note.txt").write_text("second", encoding="utf-8")
    notes: list[dict[str, Any]] = [
        {"q": "a", "note": "first", "files": {"note.txt": "first"}},
        {"q": "b", "note": "second", "files": {"note.txt": "note.txt"}},
        {"q": "c", "note": "third", "setup": "#!/bin/sh\nprintf third > note.txt\n"},
    ]
    write_lines(folder / "notes.jsonl", notes)


def picture_message(ask: dict[str, str], image: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [ask, {"type": "image", "image": image}]}]


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@solver
def read_note() -> Solver:
    """Put the content of the sandbox's file into the prompt."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.user_prompt.text = f"The note says {await sandbox().read_file('note.txt')}"
        return await generate(state)

    return solve


# ---------------------------------------------------------------- evaluations


def multiple(name: str, **overrides: Any) -> Task:
    dataset = registry.inspect.get_dataset(name, **overrides)
    return Task(dataset=dataset, solver=multiple_choice(), scorer=choice())


def open_ended(name: str, **overrides: Any) -> Task:
    dataset = registry.get_dataset(name, **overrides).to_inspect()
    return Task(dataset=dataset, solver=generate(), scorer=includes())


def notes() -> Task:
    return Task(registry.inspect.get_dataset("notes"), solver=read_note(), scorer=includes())


def cases() -> dict[str, tuple[Task, dict[str, Any]]]:
    """Return the tasks with their options for `eval`."""
    ids = ["demo-003", "demo-001"]
    both = registry.get_dataset("demo-mcq")
    edited = both.filter(lambda sample: sample.target != "A").to_inspect()
    edited[2].metadata = {"edited": True}
    described: dict[str, Any] = {"dataset": edited, "metadata": {"mine": 1}}
    found: dict[str, tuple[Task, dict[str, Any]]] = {
        "multiple choice": (multiple("demo-mcq-small"), {}),
        "chat": (open_ended("demo-chat"), {}),
        "pictures": (open_ended("pictures"), {}),
        "notes": (notes(), {}),
        "without ids": (multiple("without-ids"), {"limit": 4}),
        "epochs": (multiple("demo-mcq", limit=3), {"epochs": 2}),
        "limit": (multiple("demo-mcq"), {"limit": (2, 5)}),
        "sample ids": (multiple("demo-mcq"), {"sample_id": ids}),
        "shuffle": (multiple("demo-mcq"), {"sample_shuffle": 7, "limit": 6}),
        "shuffle without ids": (multiple("without-ids"), {"sample_shuffle": 7, "limit": 6}),
        "edited": (Task(**described, solver=multiple_choice(), scorer=choice()), {"limit": 3}),
        "paged": (multiple("demo-mcq"), {"max_dataset_memory": 0, "limit": 3}),
    }
    if (file := shared_data("gsm8k-test.jsonl")) is not None:
        found["gsm8k"] = (open_ended("gsm8k", source=str(file)), {"limit": 10})
    if (file := shared_data("real/agieval-aqua-rat.jsonl")) is not None:
        found["agieval"] = (multiple("agieval-aqua-rat", source=str(file)), {"limit": 10})
    return found


def result_of(log: Any) -> dict[str, Any]:
    samples = log.samples or []
    # What others read: the file, not the object that `eval` returned.
    header = read_eval_log(log.location, header_only=True).eval
    return {
        "header": header.model_dump_json(),
        "status": log.status,
        "error": log.error and log.error.message,
        "dataset": log.eval.dataset.model_dump(),
        "accuracy": log.results and log.results.scores[0].metrics["accuracy"].value,
        "run": [(one.id, one.epoch, json.loads(one.model_dump_json())["input"]) for one in samples],
    }


def main(folder: Path) -> None:
    write_catalog(folder)
    os.environ["REGISTRY_ROOT"] = str(folder)
    options: dict[str, Any] = {
        "display": "none",
        "log_dir": str(folder / "logs"),
        "log_realtime": False,  # else each event goes to a database, for those who watch
    }
    models = ["known/right", "known/wrong"]
    results = {
        f"{name}, {log.eval.model.removeprefix('known/')}": result_of(log)
        for name, (one, more) in cases().items()
        for log in inspect_ai.eval(one, model=models, **options, **more)
    }
    sys.stdout.write(json.dumps(results))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
