"""Compare imported tasks of lm-evaluation-harness with the harness, on made-up records."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry.boundary.boundary import UNBOUNDED
from registry.catalog.catalog import Catalog
from registry.errors import MappingError
from registry.manifest.expressions import parse_condition
from registry.mapping.evaluate import compile_condition
from registry.mapping.field_mapper import FieldMapper
from registry.mapping.row import Row
from registry.plugins.importers.models import ImportedDataset, imported_text
from registry.samples.letters import index_of
from registry.samples.sample import Sample
from registry.settings import builtin_root
from registry.yamldoc.reader import parse_yaml
from tests.interop.made_records import made_records

__all__ = ["Compared", "compare", "compare_filter", "signature_of", "tasks_folder"]

RECORDS = 4

# What a request depends on; metrics and filters may need packages, or code of the task.
_KEYS = (
    *("task", "output_type", "test_split", "validation_split", "description", "doc_to_text"),
    *("doc_to_target", "doc_to_choice", "gen_prefix", "target_delimiter"),
)


@dataclass(frozen=True)
class Compared:
    """How an imported task compares with the harness."""

    outcome: str
    """`equal`, `different`, `stricter` (an error of ours) or `not run`."""
    detail: str = ""


def tasks_folder() -> Path:
    """Return the folder of the tasks that the harness ships."""
    package: Any = importlib.import_module("lm_eval")
    return Path(package.__file__).parent / "tasks"


def signature_of(dataset: ImportedDataset) -> str:
    """Return what the samples depend on, apart from the source."""
    return json.dumps(dataset.keys["fields"], default=str)


def compare(file: Path, dataset: ImportedDataset) -> Compared:
    """Return whether requests and correct answers are equal on made-up records."""
    worst = Compared("not run", "no record could be made")
    for as_index in (False, True):
        try:
            records = made_records(dataset.keys["fields"], RECORDS, as_index=as_index)
            task = _task_of(file, records)
            theirs = [_theirs(task, document) for document in task.eval_docs]
        except Exception as error:  # noqa: BLE001 - records that the harness refuses show nothing
            if worst.outcome == "not run":
                worst = Compared("not run", f"{type(error).__name__}: {str(error)[:100]}")
            continue
        try:
            own = _ours(dataset, records)
        except MappingError as error:
            worst = Compared("stricter", str(error)[:200])
            continue
        if own != theirs:
            return Compared("different", f"{own!r}\n{theirs!r}"[:2000])
        worst = Compared("equal")
    return worst


def compare_filter(file: Path, dataset: ImportedDataset) -> Compared:
    """Return whether `process_docs` keeps the records that `where` keeps."""
    where: dict[str, Any] = dataset.keys["where"]
    match where:
        case {"value": str(column), "equals": str(text)}:
            values: list[Any] = [text, f"{text} ", text.swapcase(), "", None, text]
        case {"value": {"from": str(column), "do": ["len"]}, "greater": 0}:
            values = [["a"], [], ["b", ""]]
        case _:
            return Compared("not run", f"no records for {where}")
    records = [{column: value, "number": number} for number, value in enumerate(values)]
    loader: Any = importlib.import_module("lm_eval.tasks._yaml_loader")
    datasets: Any = importlib.import_module("datasets")
    datasets.disable_progress_bars()
    process = loader.load_yaml(file, resolve_func=True)["process_docs"]
    theirs = [one["number"] for one in process(datasets.Dataset.from_list(records))]
    holds = compile_condition(parse_condition(where))
    own = [number for number, one in enumerate(records) if holds(Row(one, number))]
    return Compared("equal" if own == theirs else "different", f"{file}: {own} {theirs}")


def _task_of(file: Path, records: list[dict[str, Any]]) -> Any:
    """Return a task of the harness whose documents are these records, without its code."""
    loader: Any = importlib.import_module("lm_eval.tasks._yaml_loader")
    datasets: Any = importlib.import_module("datasets")
    api: Any = importlib.import_module("lm_eval.api.task")
    given = loader.load_yaml(file, resolve_func=False)
    config = {key: given[key] for key in _KEYS if given.get(key) is not None}
    splits = {config[key] for key in ("test_split", "validation_split") if key in config}
    data = dict.fromkeys(splits, datasets.Dataset.from_list(records))
    return api.ConfigurableTask(config={**config, "custom_dataset": lambda **_: data})


def _theirs(task: Any, document: Any) -> tuple[Any, ...]:
    context = task.fewshot_context(document, 0, gen_prefix=task.doc_to_prefix(document))
    if task.OUTPUT_TYPE != "multiple_choice":
        target = task.doc_to_target(document)
        return context, None, list(map(str, target)) if isinstance(target, list) else str(target)
    choices, gold = task.doc_to_choice(document), task.doc_to_target(document)
    if isinstance(gold, str):
        gold = choices.index(gold)
    assert isinstance(gold, int)
    assert 0 <= gold < len(choices)
    return context, [str(choice) for choice in choices], gold


def _ours(dataset: ImportedDataset, records: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    document = parse_yaml(imported_text([dataset], schema="x"), file="m.yaml")
    spec = Catalog(builtin_root(), boundary=UNBOUNDED).with_manifest(document)[dataset.name]
    mapper = FieldMapper(spec.fields)
    return [_as_request(mapper.map(Row(record, n))) for n, record in enumerate(records, 1)]


def _as_request(sample: Sample) -> tuple[Any, ...]:
    if sample.choices is None:
        return sample.input, None, sample.target
    assert isinstance(sample.target, str)
    return sample.input, sample.choices, index_of(sample.target)
