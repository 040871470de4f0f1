"""`receipt` reads what lm-eval wrote, and what the converters of Every Eval Ever made of logs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from registry.cli import main
from registry.plugins.results.runs import read_runs
from tests.conftest import REPOSITORY

pytest.importorskip("lm_eval", reason="`make interop` installs it")
pytest.importorskip("every_eval_ever", reason="`make interop` installs it")
pytestmark = pytest.mark.filterwarnings("ignore")

LM_EVAL = """
import sys
import lm_eval
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

folder, name = sys.argv[1:]
tracker = EvaluationTracker(output_path=folder)
manager = TaskManager(include_path=".", include_defaults=False)
found = lm_eval.simple_evaluate(
    model="dummy", model_args="pretrained=acme/one", tasks=[name], task_manager=manager,
    log_samples=True, bootstrap_iters=0, evaluation_tracker=tracker,
)
samples = found.pop("samples")
tracker.save_results_aggregated(results=found, samples=samples)
for task, rows in samples.items():
    tracker.save_results_samples(task_name=task, samples=rows)
"""
"""What `lm_eval run --log_samples --output_path` does, with a task of this folder alone."""
INSPECT = """
import sys
import inspect_ai
import registry
import tests.inspect.known_model
from inspect_ai import Task
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice

dataset = registry.get_dataset(sys.argv[2]).to_inspect()
task = Task(dataset=dataset, solver=multiple_choice(), scorer=choice(), name="quiz")
(log,) = inspect_ai.eval(task, model="known/right", log_dir=sys.argv[1], display="none")
assert log.status == "success", log.error
"""
CONVERT = """
import sys
from every_eval_ever.cli import main
from every_eval_ever.converters.inspect.utils import MODEL_HANDLER_MAP

MODEL_HANDLER_MAP["known"] = MODEL_HANDLER_MAP["vllm"]  # a provider that it doesn't know
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the demo datasets into the current folder, and pin them."""
    folder = tmp_path / "demo"
    shutil.copytree(REPOSITORY / "registry" / "data", folder / "registry" / "data")
    shutil.copy(REPOSITORY / "registry" / "demo.yaml", folder / "registry")
    shutil.copy(REPOSITORY / "datasets.yaml", folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("REGISTRY_ROOT", str(folder))
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    assert main(["lock"]) == 0
    return folder


def python(code: str, *arguments: object, cwd: Path) -> None:
    """Run a program of its own: these tools leave threads and files open."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture
def lm_eval_log(demo: Path, tmp_path: Path) -> Path:
    """Export a dataset, evaluate it with lm-eval and return the folder with the log."""
    assert main(["export", "demo-mcq", "--out", "task", "--format", "lm-eval"]) == 0
    python(LM_EVAL, tmp_path / "lm", "demo-mcq", cwd=demo / "task")
    return tmp_path / "lm"


@pytest.fixture
def inspect_log(demo: Path, tmp_path: Path) -> Path:
    """Evaluate a dataset with Inspect and return the folder with the log."""
    python(INSPECT, tmp_path / "inspect", "demo-mcq-small", cwd=demo)
    return tmp_path / "inspect"


def receipts(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, Any]:
    capsys.readouterr()
    code = main(["receipt", *map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_log_of_lm_eval_names_its_data(
    lm_eval_log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run,) = read_runs(lm_eval_log)
    assert (run.tool, run.model, run.task) == ("lm_eval", "acme/one", "demo-mcq")
    first = run.samples[0]
    assert (first.id, first.target, len(first.choices or ())) == ("demo-001", "A", 4)
    assert first.scores.keys() == {"acc", "acc_norm"}
    code, (found,) = receipts(capsys, lm_eval_log, "--rebuild")
    assert (code, found["found_by"], found["dataset"]) == (0, "provenance", "demo-mcq")
    assert found["rebuilt"]["equal"] is True
    assert found["samples"] == 50


def test_task_of_lm_eval_without_provenance_is_matched_by_its_records(
    demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A task that somebody wrote for the same file, with a prompt of its own."""
    (demo / "task").mkdir()
    task = """
task: capitals
dataset_path: csv
dataset_kwargs: {data_files: {test: ../registry/data/demo-mcq.csv}}
test_split: test
output_type: multiple_choice
doc_to_text: "Question: {{question}}\\nAnswer:"
doc_to_choice: "{{[A, B, C, D]}}"
doc_to_target: "{{['A', 'B', 'C', 'D'].index(answer)}}"
"""
    (demo / "task" / "capitals.yaml").write_text(task)
    python(LM_EVAL, tmp_path / "lm", "capitals", cwd=demo / "task")
    code, (found,) = receipts(capsys, tmp_path / "lm")
    assert (code, found["found_by"], found["dataset"]) == (0, "content", "demo-mcq")
    assert found["match"]["exact"] == 50


def test_records_converted_from_inspect_keep_the_digest(
    inspect_log: Path, tmp_path: Path, demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("convert", "inspect", "--log_path", inspect_log, "--output_dir", tmp_path / "e")
    python(CONVERT, *arguments, cwd=demo)
    (run,) = read_runs(tmp_path / "e")
    assert (run.tool, run.dataset, run.problem) == ("eee", "demo-mcq-small", None)
    assert [set(one.scores.values()) for one in run.samples] == [{1.0}] * 10
    code, (found,) = receipts(capsys, tmp_path / "e", "--rebuild")
    assert (code, found["found_by"], found["dataset"]) == (0, "digest", "demo-mcq-small")
    assert found["rebuilt"]["equal"] is True


def test_records_converted_from_lm_eval_are_matched_by_content(
    lm_eval_log: Path, tmp_path: Path, demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder,) = lm_eval_log.iterdir()
    arguments = ("convert", "lm_eval", "--log_path", folder, "--output_dir", tmp_path / "e")
    python(CONVERT, *arguments, "--include_samples", cwd=demo)
    code, (found,) = receipts(capsys, tmp_path / "e")
    assert (code, found["found_by"], found["dataset"]) == (0, "content", "demo-mcq")
    assert (found["match"]["exact"], found["samples"]) == (50, 50)
