"""What `export` writes is read back: `add`, `import` and the loaders give the same samples."""

from __future__ import annotations

import json
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry import ChatMessageUser, MemoryDataset, Sample, get_dataset, json_dataset
from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.cli import main
from registry.pipeline.preview import inspect_source
from registry.plugins.export.formats import find_format
from registry.plugins.importers.models import ImportedDataset
from registry.scaffold.fields import infer_fields
from registry.sources.pins import SourceContext
from tests.plugins.export.test_eval_yaml import KEYS, exported
from tests.plugins.importers.support import samples_of

MANIFEST = """
datasets:
  quiz: {source: {type: json, path: quiz.jsonl}, license: mit}
  chat: {source: {type: json, path: chat.jsonl}, license: mit}
  open: {source: {type: json, path: open.jsonl}, license: mit}
"""
QUIZ: list[dict[str, Any]] = [
    {"input": "Né?", "target": "B", "choices": ["p", 'q,\n"r"'], "id": "a", "metadata": {"n": 1}},
    {"input": "=1+1", "target": "A", "choices": ["p ", "{q}"], "id": "b", "metadata": {"n": None}},
    {"input": " x\ny", "target": "A", "choices": ["1", "2"], "id": "c", "metadata": {"l": [1.5]}},
]
CHAT: list[dict[str, Any]] = [
    {
        "input": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}],
        "target": ["x", "y"],
        "id": "1",
    },
    {"input": "no conversation", "target": "z", "id": "2"},
    {"input": [{"role": "user", "content": "[]"}], "target": "w", "id": "3"},
]
OPEN: list[dict[str, Any]] = [{"input": f"{n}?", "target": str(n)} for n in range(3)]


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sets").mkdir()
    for name, rows in {"quiz": QUIZ, "chat": CHAT, "open": OPEN}.items():
        text = "\n".join(map(json.dumps, rows))
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "sets" / "main.yaml").write_text(MANIFEST, encoding="utf-8")
    index = 'version: 1\ninclude: ["sets/*.yaml"]\n'
    (tmp_path / "datasets.yaml").write_text(index, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "csv"])
@pytest.mark.parametrize("name", ["quiz", "chat"])
def test_add_reads_an_export(name: str, suffix: str, catalog: Path) -> None:
    assert main(["export", name, "--out", f"out/{name}.{suffix}"]) == 0
    assert main(["add", "again", "--file", f"out/{name}.{suffix}", "--yes"]) == 0
    assert list(get_dataset("again")) == list(get_dataset(name))


def test_import_reads_an_exported_croissant_file(catalog: Path) -> None:
    assert main(["export", "chat", "--out", "back", "--format", "croissant"]) == 0
    arguments = ["import", "back/croissant.json", "--name", "again", "--out", "sets/again.yaml"]
    assert main(arguments) == 0
    assert list(get_dataset("again")) == list(get_dataset("chat"))


def test_import_reads_an_exported_task_of_lm_eval(catalog: Path) -> None:
    assert main(["export", "quiz", "--out", "task", "--format", "lm-eval"]) == 0
    assert main(["import", "task/quiz.yaml", "--name", "again", "--out", "sets/again.yaml"]) == 0
    (catalog / "task" / "samples.jsonl").rename(catalog / "samples.jsonl")
    again, before = get_dataset("again"), get_dataset("quiz")
    assert [(one.input, one.choices, one.target) for one in again] == [
        (one.input, one.choices, one.target) for one in before
    ]


@pytest.mark.parametrize("kind", ["openai-evals", "fine-tuning"])
def test_add_reads_exported_conversations(kind: str, catalog: Path) -> None:
    assert main(["export", "open", "--out", f"out/{kind}.jsonl", "--format", kind]) == 0
    assert main(["add", "again", "--file", f"out/{kind}.jsonl", "--yes"]) == 0
    for sample, row in zip(get_dataset("again"), OPEN, strict=True):
        (message,) = list(sample.input)
        assert isinstance(message, ChatMessageUser)
        assert (message.text, sample.target) == (row["input"], row["target"])


def rows(
    texts: st.SearchStrategy[str], *, without_metadata: bool
) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return a strategy for the records of a dataset, of which some may have no metadata."""
    values = st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**53), 2**53)
        | st.floats(allow_nan=False, allow_infinity=False)
        | texts,
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=4,
    )
    # A key that starts with `$` is written as those of values that JSON lacks.
    keys = texts.filter(lambda key: not key.startswith("$"))
    metadata = st.dictionaries(keys, values, max_size=2)
    message = {"role": st.sampled_from(["system", "user", "assistant"]), "content": texts}
    fields = {
        "input": texts.filter(bool) | st.lists(st.fixed_dictionaries(message), min_size=1),
        "target": texts | st.lists(texts, max_size=2),
        "choices": st.none() | st.lists(texts.filter(str.strip), min_size=1, max_size=3),
        "metadata": metadata | st.none() if without_metadata else metadata,
    }
    return st.lists(st.fixed_dictionaries(fields), min_size=1, max_size=4)


# JSON and Arrow have no lone surrogates.
TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
# Cells of CSV are read as Inspect reads them, with any line end as a newline.
CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=8)


@given(rows=rows(TEXTS, without_metadata=True))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_samples_come_back(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        samples = samples_of_rows(rows, Path(folder))
        assert read_back(samples, Path(folder), "jsonl") == samples
        assert read_back(samples, Path(folder), "parquet") == samples


@given(rows=rows(CELLS, without_metadata=False))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_samples_come_back_from_csv(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        samples = samples_of_rows(rows, Path(folder))
        assert read_back(samples, Path(folder), "csv") == samples


def samples_of_rows(rows: list[dict[str, Any]], folder: Path) -> list[Sample]:
    """Return the samples that a dataset of the records has."""
    source = folder / "source.jsonl"
    lines = [json.dumps({**row, "id": f"n{number}"}) for number, row in enumerate(rows)]
    source.write_text("\n".join(lines), encoding="utf-8")
    return list(json_dataset(str(source)))


def read_back(samples: list[Sample], folder: Path, suffix: str) -> list[Sample]:
    """Return the samples of an export, as the manifest that `add` proposes maps it."""
    text, file = BytesIO(), folder / f"x.{suffix}"
    made: Any = MemoryDataset(samples, name="x")
    find_format(suffix).write(exported(KEYS, made), text)
    file.write_bytes(text.getvalue())
    if suffix == "jsonl":
        return list(json_dataset(str(file)))
    context = SourceContext(boundary=UNBOUNDED, cache=Cache(folder / "cache"))
    source = {"type": suffix, "path": str(file)}
    _, records = inspect_source(source, folder, context)
    fields = {key: one.expression for key, one in infer_fields("x", records).fields.items()}
    fields = {"choices": None, "target": None, **fields}  # as the manifest has them
    return samples_of(ImportedDataset("x", {"source": source, "fields": fields}), records)
