"""Manifests give the requests and the correct answers of lm-evaluation-harness.

`make parity` runs this in an environment of its own; the ordinary one lacks lm_eval.
"""

from __future__ import annotations

import hashlib
import importlib
import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from registry.catalog.catalog import Catalog
from registry.manifest.models import DatasetSpec
from registry.manifest.source_models import HfSource
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.row import Row
from registry.samples.letters import index_of
from registry.samples.sample import Sample
from tests.parity.lm_eval_real import RECORDS_OF
from tests.parity.real_files import REAL_FILES

lm_eval = pytest.importorskip("lm_eval", reason="`make parity` installs it")

# Its scorer divides by the length of a choice, which may be empty.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")

HERE = Path(__file__).parent
RECORDS: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    (HERE / "lm_eval_records.yaml").read_bytes()
)
REAL: dict[str, dict[str, Any]] = yaml.safe_load((HERE / "lm_eval_real.yaml").read_bytes())
TASKS = Path(lm_eval.__file__ or "").parent / "tasks"

# Dataset → the file of its task.
FILES = {
    "lm-eval-anli-r1": "anli/anli_r1.yaml",
    "lm-eval-arc-easy": "arc/arc_easy.yaml",
    "lm-eval-boolq": "super_glue/boolq/default.yaml",
    "lm-eval-commonsense-qa": "commonsense_qa/default.yaml",
    "lm-eval-copa": "super_glue/copa/default.yaml",
    "lm-eval-ethics-utilitarianism": "hendrycks_ethics/utilitarianism.yaml",
    "lm-eval-gsm8k": "gsm8k/gsm8k.yaml",
    "lm-eval-headqa-en": "headqa/headqa_en.yaml",
    "lm-eval-hellaswag": "hellaswag/hellaswag.yaml",
    "lm-eval-lambada-openai": "lambada/lambada_openai.yaml",
    "lm-eval-logiqa": "logiqa/logiqa.yaml",
    "lm-eval-mathqa": "mathqa/mathqa.yaml",
    "lm-eval-medqa-4options": "medqa/medqa.yaml",
    "lm-eval-mmlu": "mmlu/default/mmlu_high_school_physics.yaml",
    "lm-eval-openbookqa": "openbookqa/openbookqa.yaml",
    "lm-eval-piqa": "piqa/piqa.yaml",
    "lm-eval-pubmedqa": "pubmedqa/pubmedqa.yaml",
    "lm-eval-race": "race/race.yaml",
    "lm-eval-sciq": "sciq/sciq.yaml",
    "lm-eval-social-iqa": "siqa/siqa.yaml",
    "lm-eval-swag": "swag/swag.yaml",
    "lm-eval-truthfulqa-mc1": "truthfulqa/truthfulqa_mc1.yaml",
    "lm-eval-truthfulqa-mc2": "truthfulqa/truthfulqa_mc2.yaml",
    "lm-eval-winogrande": "winogrande/default.yaml",
    "lm-eval-wsc273": "wsc273/default.yaml",
}


@dataclass(frozen=True)
class Requests:
    """What is sent to a model for a record, and what is correct."""

    texts: list[tuple[str, str]]
    """Context and continuation; the continuation is empty if the model generates it."""
    correct: list[int] | str
    """Indices of the correct continuations, or the text to generate."""


def task_of(
    file: str, records: list[dict[str, Any]], pool: list[dict[str, Any]] | None = None
) -> Any:
    """Return a task of the harness whose documents are these records, its examples the pool."""
    loader: Any = importlib.import_module("lm_eval.tasks._yaml_loader")
    datasets: Any = importlib.import_module("datasets")
    api: Any = importlib.import_module("lm_eval.api.task")
    config = loader.load_yaml(TASKS / file)
    splits = [config.get(f"{name}_split") for name in ("training", "validation", "test", "fewshot")]
    others = datasets.Dataset.from_list(records if pool is None else pool)
    data = {split: others for split in [*splits, "dev"] if split}
    data[splits[2] or splits[1]] = datasets.Dataset.from_list(records)
    config = {key: value for key, value in config.items() if key not in ("tag", "task_alias")}
    return api.ConfigurableTask(config={**config, "custom_dataset": lambda **_: data})


def theirs(file: str, records: list[dict[str, Any]]) -> list[Requests]:
    """Return the zero-shot requests of the harness, and what its scorer accepts."""
    task = task_of(file, records)
    return [_theirs(task, document) for document in task.eval_docs]


def _theirs(task: Any, document: Any) -> Requests:
    context = task.fewshot_context(document, 0)
    made = task.construct_requests(document, context)
    if task.OUTPUT_TYPE == "generate_until":
        return Requests([(made.args[0], "")], task.doc_to_target(document))
    if task.OUTPUT_TYPE == "loglikelihood":
        return Requests([made.args], task.doc_to_target(document))
    # Its scorer decides: a model that prefers one continuation gets the point or does not.
    preferred = range(len(made))
    results = [
        task.process_results(
            document, [(0.0 if one == other else -1000.0, one == other) for other in preferred]
        )
        for one in preferred
    ]
    scores = [one.get("acc", one.get("pct_stereotype")) for one in results]
    return Requests([one.args for one in made], [one for one in preferred if scores[one] > 0.5])


def ours(spec: DatasetSpec, records: list[dict[str, Any]]) -> list[Requests]:
    """Return the requests that the samples of a manifest stand for."""
    mapper = FieldMapper(spec.fields)
    samples = [mapper.map(Row(record, number)) for number, record in enumerate(records, 1)]
    assert [sample.id for sample in samples] == list(range(len(records)))
    return [_ours(spec.name, sample) for sample in samples]


def _ours(name: str, sample: Sample) -> Requests:
    text, choices = sample.input, sample.choices
    assert isinstance(text, str)
    if choices is None:
        assert isinstance(sample.target, str)
        return Requests([(text, "" if name == "lm-eval-gsm8k" else sample.target)], sample.target)
    letters = sample.target if isinstance(sample.target, list) else [sample.target]
    # In these two the choices are the contexts; the continuation is the same for all.
    if name in ("lm-eval-winogrande", "lm-eval-wsc273"):
        texts = [(choice, f" {text}") for choice in choices]
    else:
        texts = [(text, f" {choice}") for choice in choices]
    return Requests(texts, list(map(index_of, letters)))


@cache
def catalog() -> Catalog:
    return Catalog.open(HERE.parents[1] / "examples" / "lm_eval" / "datasets.yaml")


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, logger="lm_eval")


def compare(name: str, records: list[dict[str, Any]]) -> None:
    for number, (own, their) in enumerate(
        zip(ours(catalog()[name], records), theirs(FILES[name], records), strict=True)
    ):
        assert own == their, f"{name}, record {number}"


@pytest.mark.parametrize("name", FILES)
def test_requests_and_correct_answers_are_equal(name: str) -> None:
    compare(name, RECORDS[name])


@pytest.mark.parametrize("name", REAL)
def test_requests_of_real_records_are_equal(name: str) -> None:
    facts = REAL[name]
    file = REAL_FILES / name / facts["file"]
    if not file.is_file():
        pytest.skip(f"{facts['origin']} is not on this machine")
    data = file.read_bytes()
    assert hashlib.sha256(data).hexdigest() == facts["sha256"]
    records = RECORDS_OF[name](data.decode("latin-1" if file.suffix == ".xml" else "utf-8"))
    assert len(records) == facts["records"]
    compare(name, records)


@pytest.mark.parametrize("name", FILES)
def test_the_manifest_reads_what_the_task_reads(name: str) -> None:
    loader: Any = importlib.import_module("lm_eval.tasks._yaml_loader")
    config = loader.load_yaml(TASKS / FILES[name])
    (source,) = catalog()[name].sources
    assert isinstance(source, HfSource)
    split = config.get("test_split") or config["validation_split"]
    assert (source.path, source.split) == (config["dataset_path"], split)
    # Each subject of MMLU is a task there.
    subject = "all" if name == "lm-eval-mmlu" else config.get("dataset_name")
    assert source.name == subject


def test_every_subject_of_mmlu_has_the_prompt_of_its_task() -> None:
    loader: Any = importlib.import_module("lm_eval.tasks._yaml_loader")
    files = sorted((TASKS / "mmlu" / "default").glob("mmlu_*.yaml"))
    record = RECORDS["lm-eval-mmlu"][0]
    mapper = FieldMapper(catalog()["lm-eval-mmlu"].fields)
    for file in files:
        config = loader.load_yaml(file)
        sample = mapper.map(Row({**record, "subject": config["dataset_name"]}))
        assert isinstance(sample.input, str)
        assert sample.input.startswith(config["description"]), file.name
    assert len(files) == 57


def test_every_example_is_compared_on_several_records() -> None:
    assert set(catalog()) == FILES.keys() == RECORDS.keys()
    assert all(len(records) >= 3 for records in RECORDS.values())
    assert REAL.keys() == RECORDS_OF.keys()
