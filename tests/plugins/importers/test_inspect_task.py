"""Tasks of Inspect AI: calls of loaders with literals, defaults and constants."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import ManifestError
from registry.plugins.importers.inspect_task import read
from registry.plugins.importers.models import ImportOptions, distinct
from tests.plugins.importers.support import only, samples_of, specs_of, write

TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, Sample, csv_dataset, hf_dataset, json_dataset
import os
os.system("false")
PATH = "acme/quiz"
TWICE = "a"
TWICE = "b"
FIELDS = FieldSpec(input="q", target="a", metadata=["topic"])

@task
def quiz(split: str = "test", limit=None):
    return Task(dataset=hf_dataset(PATH, name="main", split=split, limit=limit,
        sample_fields=to_sample, shuffle=True, seed=42, trust=True))

@task
def fields():
    return Task(dataset=json_dataset("data/x.jsonl", FIELDS, shuffle=True, shuffle_choices=True))

@task
def plain():
    one = csv_dataset(csv_file="a.csv", delimiter=";", auto_id=True, fs_options={"anon": True})
    return one + csv_dataset("b.csv", FieldSpec(input="q", metadata=Model))

def to_sample(record):
    return Sample(input=record["question"], target=record["answer"])
"""


UNSET = {"choices": None, "id": None, "metadata": None}


def test_calls(tmp_path: Path) -> None:
    imported = read(write(tmp_path, "tasks.py", TASK), ImportOptions())
    assert imported.refused == ()
    quiz, fields, plain, second = imported.datasets
    specs_of(*distinct(imported.datasets))
    assert quiz.keys == {
        "tags": ["inspect"],
        "source": {"type": "hf", "path": "acme/quiz", "split": "test", "name": "main"},
        "fields": {"input": "question", "target": "answer", **UNSET},
        "shuffle": True,
        "seed": 42,
    }
    left_out = [(one.what, one.about) for one in quiz.left_out]
    assert left_out == [(what, "evaluation") for what in ("Task", "split", "limit")]
    assert fields.keys["fields"] == {"input": "q", "target": "a", "metadata": ["topic"]}
    assert [one.what for one in fields.left_out] == ["Task", "shuffle", "shuffle_choices"]
    assert plain.keys["source"] == {"type": "csv", "path": "a.csv", "delimiter": ";"}
    assert plain.keys["auto_id"] is True
    assert [one.what for one in plain.left_out] == ["Task", "fs_options"]
    assert second.name == "plain"  # `import` numbers it
    assert second.left_out[1].why == "FieldSpec(metadata=…) is not written out"


def test_samples(tmp_path: Path) -> None:
    code = (
        "json_dataset('x.jsonl', lambda r: Sample(input=f\"{r['q']}?\", target=str(r['n'])),"
        " shuffle_choices=7)"
    )
    dataset = only(read(write(tmp_path, "t.py", code), ImportOptions(name="mine")))
    assert (dataset.name, dataset.keys["shuffle_choices"]) == ("mine", 7)
    (sample,) = samples_of(dataset, [{"q": "Why", "n": 3}])
    assert (sample.input, sample.target, sample.id) == ("Why?", "3", None)


NESTED = """
SPLIT = "test"

def to_sample(record):
    return Sample(input=record["outer"])

def quiz():
    SPLIT = "dev"
    END = "!"
    def to_sample(record):
        return Sample(input=f"{record['q']}{END}")
    data = hf_dataset("acme/quiz", split=SPLIT, sample_fields=to_sample)
    return [data[0], other[:10]]
"""


def test_names_of_a_function_come_before_those_of_the_module(tmp_path: Path) -> None:
    dataset = only(read(write(tmp_path, "t.py", NESTED), ImportOptions()))
    assert dataset.is_whole
    assert dataset.keys["source"]["split"] == "dev"
    (sample,) = samples_of(dataset, [{"q": "Why", "outer": "How"}])
    assert sample.input == "Why!"


IDS = """
from inspect_evals.utils.deps_utils import create_stable_id as made_id
from mine import create_stable_id

json_dataset("x.jsonl", lambda r: Sample(input=r["q"], id=made_id(r["q"], prefix="quiz")))
json_dataset("x.jsonl", lambda r: Sample(input=r["q"], id=create_stable_id(r["q"])))
"""


def test_ids_of_inspect_evals_are_hashes_and_others_are_left_out(tmp_path: Path) -> None:
    own, other = read(write(tmp_path, "t.py", IDS), ImportOptions()).datasets
    assert own.is_whole
    (sample,) = samples_of(own, [{"q": "What is the capital of France?"}])
    assert sample.id == "quiz_cb0b4aaf"  # the example in the docstring of that function
    assert [one.what for one in other.left_out] == ["Task", "sample_fields.id"]


@pytest.mark.parametrize(
    "change", ["def str(x): return x", "from m import show as str", "for str in [1]: pass"]
)
def test_a_module_with_its_own_str_is_not_translated(tmp_path: Path, change: str) -> None:
    code = f"{change}\njson_dataset('x.jsonl', lambda r: Sample(input=str(r['q'])))"
    dataset = only(read(write(tmp_path, "t.py", code), ImportOptions()))
    assert [one.why for one in dataset.left_out] == [
        "solver and scorer",
        "the module has its own `str`",
    ]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("hf_dataset(path)", "path: `path` is not a literal"),
        ("hf_dataset('a/b')", "split: it is missing"),
        ("hf_dataset(split='x')", "path: it is missing"),
        ("hf_dataset(1, 'x')", "path: it is not a string"),
        ("csv_dataset('x.jsonl')", "has the suffix of another type"),
        ("hf_dataset(*args)", "is not a literal"),
        ("print()", "no call of a dataset loader"),
        ("make()('x')", "no call of a dataset loader"),
    ],
)
def test_calls_that_are_not_known(tmp_path: Path, code: str, why: str) -> None:
    (refused,) = read(write(tmp_path, "t.py", code), ImportOptions()).refused
    assert why in refused.why


MAPPER = "def f(r): return Sample(input=r['q'])\n"


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("json_dataset('x.jsonl', imported)", "`imported` is not in this file"),
        ("json_dataset('x.jsonl', make(1))", "`make(1)` is not in this file"),
        ("json_dataset('x.jsonl', **options)", "arguments that are not written out"),
        ("json_dataset('x.jsonl', limit=n)", "`n` is not a literal"),
        ("n = 1\nn += 1\njson_dataset('x.jsonl', limit=n)", "`n` is not a literal"),
        ("n = 1\ndef t():\n n = m()\n json_dataset('x.jsonl', limit=n)", "`m()` is not a lit"),
        ("def t(n=1):\n n = n or 2\n json_dataset('x.jsonl', limit=n)", "`n` is not a literal"),
        ("n = 1\nlambda n: json_dataset('x.jsonl', limit=n)", "`n` is not a literal"),
        (f"{MAPPER}{MAPPER}json_dataset('x.jsonl', f)", "`f` is not in this file, or is defined"),
        (f"@g\n{MAPPER}json_dataset('x.jsonl', f)", "`f` is not in this file, or is defined"),
        (f"{MAPPER}def t(f):\n json_dataset('x.jsonl', f)", "`f` is not in this file, or is"),
        ("json_dataset('x.jsonl').filter(f)", "the code selects or orders the samples"),
        ("x: D = json_dataset('x.jsonl')\nx[:10]", "the code selects or orders the samples"),
    ],
)
def test_arguments_that_are_left_out(tmp_path: Path, code: str, what: str) -> None:
    dataset = only(read(write(tmp_path, "t.py", code), ImportOptions()))
    assert not dataset.is_whole
    assert what in str([one.why for one in dataset.left_out])


DEEP = "json_dataset('x', y" + ".a" * 20_000 + ")"


@pytest.mark.parametrize("code", ["def f(:", "a = '\0'", "(" * 10_000, "-" * 5_000 + "1", DEEP])
def test_hostile_files(tmp_path: Path, code: str) -> None:
    with pytest.raises(ManifestError, match="not Python"):
        read(write(tmp_path, "t.py", code), ImportOptions())
