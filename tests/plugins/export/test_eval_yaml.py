"""`eval.yaml`: what it can say is read back unchanged, and anything else is an error."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from registry.boundary.boundary import UNBOUNDED
from registry.catalog.catalog import Catalog
from registry.errors import ExportError
from registry.plugins.export.eval_yaml import write
from registry.plugins.export.exported import Exported
from registry.plugins.importers.hub import read_eval as read
from registry.plugins.importers.models import ImportOptions, imported_text
from registry.samples.provenance import Provenance
from registry.samples.sample import Sample
from registry.settings import builtin_root
from registry.yamldoc.reader import parse_yaml

COMMIT = "0123456789" * 4
KEYS: dict[str, Any] = {
    "source": {"type": "hf", "path": "acme/quiz", "split": "test", "revision": COMMIT},
    "fields": {
        "input": "question",
        "target": "answer",
        "choices": None,
        "id": "key",
        "metadata": ["topic"],
    },
    "eval": {"scorer": {"name": "match", "args": {"numeric": True}}, "epochs": 2},
}
SAMPLES = [Sample(input="?", target="A", choices=["x", "y"])]


def exported(keys: dict[str, Any], samples: list[Sample] = SAMPLES) -> Exported:
    document = parse_yaml(json.dumps({"datasets": {"quiz": keys}}), file="m.yaml")
    catalog = Catalog(builtin_root(), boundary=UNBOUNDED).with_manifest(document)
    made: Any = samples
    entry: Any = None  # neither format reads it
    provenance = Provenance(name="quiz", samples=len(samples))
    return Exported(spec=catalog["quiz"], entry=entry, dataset=made, provenance=provenance)


def written(keys: dict[str, Any], samples: list[Sample] = SAMPLES) -> str:
    file = io.BytesIO()
    write(exported(keys, samples), file)
    return file.getvalue().decode()


def test_a_task() -> None:
    text = written(KEYS)
    assert yaml.safe_load(text) == {
        "evaluation_framework": "inspect-ai",
        "tasks": [
            {
                "id": "quiz",
                "split": "test",
                "field_spec": {"input": "question", "target": "answer", "metadata": ["topic"]},
                "solvers": [{"name": "generate"}],
                "scorers": [{"name": "match", "args": {"numeric": True}}],
                "epochs": 2,
            }
        ],
    }
    assert f"inspect eval hf/acme/quiz@{COMMIT}" in text
    assert "# no ids here" in text


IMAGE = {
    "if": {"value": "pic", "empty": False},
    "then": {"messages": [{"role": "user", "content": [{"text": "q"}, {"image": "pic"}]}]},
    "else": "q",
}
LETTER = {"from": "a", "do": ["letter"]}
INDEX = {"if": {"value": "a", "regex": ""}, "then": "a", "else": LETTER}


@pytest.mark.parametrize(
    "fields",
    [
        {"input": "q", "target": "a", "choices": None, "id": None, "metadata": None},
        {"input": IMAGE, "choices": ["x", "y"], "target": INDEX, "id": None, "metadata": ["m"]},
        {"input": "q", "choices": "c", "target": {"const": "Yes"}, "id": None, "metadata": None},
    ],
)
def test_what_is_imported_again_is_the_same(tmp_path: Path, fields: dict[str, Any]) -> None:
    source = {"type": "hf", "path": "acme/quiz", "name": "big", "split": "test"}
    scoring = {"solver": ["generate"], "scorer": ["exact"]}
    keys = {"source": source, "fields": fields, "eval": scoring}
    file = tmp_path / "eval.yaml"
    file.write_text(written(keys), encoding="utf-8")
    (again,) = read(file, ImportOptions(repository="acme/quiz")).datasets
    assert again.left_out == ()
    assert parse_yaml(imported_text([again], schema="x"), file="x").value["datasets"]["quiz"] == {
        "tags": ["eval-yaml"],
        **keys,
        "fields": {key: fields[key] for key in again.keys["fields"]},
    }


def test_without_eval_samples_with_choices_are_multiple_choice() -> None:
    keys = {**KEYS, "fields": {"input": "q", "choices": "c", "target": INDEX}}
    del keys["eval"]
    (task,) = yaml.safe_load(written(keys))["tasks"]
    assert (task["solvers"], task["scorers"]) == (
        [{"name": "multiple_choice"}],
        [{"name": "choice"}],
    )
    with pytest.raises(ExportError, match=r"needs `eval\.scorer`"):
        written(keys, [Sample(input="?")])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": {"type": "csv", "path": "x.csv"}}, "can't say `source`"),
        ({"source": {**KEYS["source"], "data_dir": "x"}}, "`source.data_dir`"),
        ({"fewshot": {"dataset": "quiz", "n": 1, "apply": True}}, "`fewshot`"),
        ({"fields": {"choices": None, "description": {"const": "d"}}}, "`fields.description`"),
        ({"where": {"value": "a", "equals": 1}}, "`where`"),
        ({"on_duplicate": "drop"}, "`on_duplicate`"),
        ({"corrections": "errata.yaml"}, "`corrections`"),
        ({"limit": 5}, "`limit`"),
        ({"shuffle": True, "seed": 1}, "`shuffle`"),
        ({"fields": {"input": {"template": "Q: {q}"}}}, "`fields.input`"),
        ({"fields": {"choices": "c", "target": LETTER}}, "`fields.target`"),
        ({"fields": {"choices": "c", "target": "a"}}, "{if: {value: a, regex: ''}"),
        ({"fields": {"choices": None, "target": "literal:x"}}, "`fields.target`"),
        ({"fields": {"choices": {"const": ["x"]}}}, "`fields.choices`"),
        ({"fields": {"target": "a", "choices": None, "metadata": {"a": "b"}}}, "`fields.metadata`"),
        ({"fields": {"target": "a", "choices": None, "setup": "s"}}, "`fields.setup`"),
    ],
)
def test_parts_that_it_cannot_say(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ExportError) as caught:
        written({**KEYS, **change})
    assert message in str(caught.value)
