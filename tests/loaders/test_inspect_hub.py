"""hf_dataset gives the samples that Inspect AI's gives, from a Hub, a folder and a builder's files.

Both libraries load every case in one process of its own, because `huggingface_hub` reads its
environment when it is imported: this module is run there as a program.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from filelock import FileLock

from tests.samples.against_inspect import Topic, as_text
from tests.servers.hub import HubEmulator, parquet_repo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT = Path(__file__).parents[2]

# ---------------------------------------------------------------- repositories

MCQ: list[dict[str, Any]] = [
    {
        "question": f"Question {n}?",
        "options": ["red", "green", "blue", "grün"][: 2 + n % 3],
        "answer": "AB"[n % 2],
        "key": n * 10,
        "subject": ["art", "law"][n % 2],
        "level": n,
    }
    for n in range(7)
]
SAMPLES: list[dict[str, Any]] = [
    {
        "input": "One?",
        "target": ["A", "b"],
        "choices": ["x", "y"],
        "id": "first",
        "metadata": {"subject": "art", "scores": [1.5, None], "inner": {"at": None}},
        "sandbox": ["docker", "compose.yaml"],
        "files": {"a.txt": "inline"},
        "setup": "echo 1",
        "checkpoint": '{"max_consecutive_failures": 0}',
    },
    {
        "input": "Zwei? 日本 🦆",
        "target": ["A"],
        "metadata": {"subject": "law", "scores": [], "inner": {"at": "x"}},
    },
    {"input": "Three\r\n", "choices": [], "id": "", "setup": "", "checkpoint": ""},
]
CHAT: list[dict[str, Any]] = [
    {
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Look it up."},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c1", "function": "look", "arguments": {"q": "x"}}],
            },
            {"role": "tool", "content": "42", "tool_call_id": "c1", "function": "look"},
            {"role": "assistant", "content": "42", "tool_calls": None},
        ],
        "target": "42",
    },
    {"input": [{"role": "user", "content": "Hi."}], "target": "Hello."},
]
UTC = dt.UTC
COLUMNS: list[dict[str, Any]] = [
    {
        "input": "text",
        "target": 4.0,
        "id": 1.0,
        "flag": True,
        "at": dt.datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
        "day": dt.date(2024, 2, 29),
        "raw": b"\x00\xff",
        "picture": {"bytes": b"\x89PNG", "path": "a.png"},
        "nested": [{"a": [1, 2]}, {"a": []}],
        "choices": "one, two,",
    },
    {"input": "more", "target": float("nan"), "id": 2.0, "choices": "one two"},
]
BAD: list[dict[str, Any]] = [
    {"input": "fine", "choices": ["x", "y"], "target": "A"},
    {"input": "", "target": "Z"},
]
LETTERS: list[dict[str, Any]] = [
    {"input": "x", "choices": ["x", "y"], "target": letter} for letter in "AZ"
]
MANY = [{"input": f"{n}", "target": f"{n % 7}"} for n in range(3000)]
FORMS: dict[str, list[dict[str, Any]]] = {
    "samples": SAMPLES,
    "chat": CHAT,
    "columns": COLUMNS,
    "bad": BAD,
    "letters": LETTERS,
    "many": MANY,
}
OLD = [{"input": "old", "target": "1"}]
NEW = [{"input": "new", "target": "2"}, {"input": "newer", "target": "3"}]
LINES = "".join(json.dumps(row) + "\n" for row in [*NEW, *OLD])
CELLS = "input|target\nnew|2\n'quoted|x'|3\n"


def fill_hub(hub: HubEmulator) -> dict[str, str]:
    """Make the repositories; return the commits that cases name."""
    hub.commit("org/mcq", parquet_repo({"main": {"test": MCQ, "train": MCQ[:3]}}))
    forms = {name: {"test": rows} for name, rows in FORMS.items()}
    hub.commit("org/forms", parquet_repo(forms))
    old = hub.commit("org/moved", parquet_repo({"main": {"test": OLD}}))
    hub.commit("org/moved", parquet_repo({"main": {"test": NEW}}))
    hub.commit("org/moved", parquet_repo({"main": {"test": OLD * 2}}), branch="release/1")
    csv = b"input,target\na,1\nb,2\n"
    lines = {"data/test.jsonl": LINES.encode(), "more/test.csv": csv, "README.md": b"# Files\n"}
    hub.commit("org/files", lines)
    hub.commit("org/script", {"script.py": b"raise SystemExit", "data.csv": csv})
    return {"old": old}


def fill_folder(folder: Path) -> None:
    """Write local data files; a folder called `text` lies beside them."""
    for name in ("lines", "text"):
        (folder / name).mkdir()
    (folder / "lines" / "test.jsonl").write_text(LINES, encoding="utf-8")
    (folder / "lines" / "train.jsonl").write_text(LINES * 2, encoding="utf-8")
    (folder / "a.jsonl").write_text(LINES, encoding="utf-8")
    (folder / "b.jsonl").write_text(LINES * 2, encoding="utf-8")
    (folder / "inner.json").write_text(json.dumps({"data": NEW}), encoding="utf-8")
    (folder / "cells.csv").write_text(CELLS, encoding="utf-8")
    pq.write_table(pa.Table.from_pylist(MCQ), folder / "mcq.parquet")


# ---------------------------------------------------------------- cases


def several_samples(library: Any, record: dict[str, Any]) -> Any:
    """Make none, one or two samples of a record."""
    count = record["level"] % 3
    options, answer = record["options"], record["answer"]
    return [library.Sample(f"{n}", choices=list(options), target=answer) for n in range(count)]


def one_sample(library: Any, record: dict[str, Any]) -> Any:
    return library.Sample(record["question"], id=record["key"], metadata={"keys": sorted(record)})


def mcq_spec(library: Any, **more: Any) -> Any:
    return library.FieldSpec("question", "answer", "options", "key", **more)


SAMPLE_FIELDS: dict[str, Callable[[Any], Any]] = {
    "none": lambda library: None,
    "spec": mcq_spec,
    "metadata list": partial(mcq_spec, metadata=["subject", "level", "gone"]),
    "metadata model": partial(mcq_spec, metadata=Topic),
    "function": lambda library: partial(one_sample, library),
    "function of several": lambda library: partial(several_samples, library),
    "text": lambda library: library.FieldSpec(input="text"),
    "every column": lambda library: library.FieldSpec(
        metadata=["flag", "at", "day", "raw", "picture", "nested", "gone"]
    ),
}


@dataclass(frozen=True)
class Case:
    """One load."""

    arguments: Mapping[str, Any]
    fields: str = "none"


SHUFFLES: tuple[dict[str, Any], ...] = (
    {},
    {"shuffle": True, "seed": 0},
    {"shuffle": True, "seed": 42},
    {"shuffle": 0},
    {"shuffle": 7},
)
# A record gives one sample, or several; what else differs in them, a view can't see.
GRID_FIELDS = {"spec": 60, "function of several": 60}
GRID_FIELDS |= dict.fromkeys(("metadata list", "metadata model", "function"), 5)


def grid() -> dict[str, Case]:
    """Return every combination of the view's arguments, and for some forms of fields a few."""
    every = list(itertools.product(SHUFFLES, (False, True), (None, 0), (None, 0, 3)))
    few = list(itertools.product(SHUFFLES, (True,), (3,), (3,)))
    cases = {}
    for fields, (shuffle, auto_id, choices, limit) in (
        (fields, view)
        for fields, count in GRID_FIELDS.items()
        for view in (every if count == len(every) else few)
    ):
        view = {**shuffle, "auto_id": auto_id, "shuffle_choices": choices, "limit": limit}
        name = f"grid: {fields}, {view}"
        cases[name] = Case({"path": "org/mcq", "split": "test", **view}, fields)
    return cases


def forms(*, old: str, folder: str) -> dict[str, Case]:
    """Return cases for sources, splits, revisions and values; `folder` has the local files."""
    mcq = {"path": "org/mcq", "split": "test"}
    moved = {"path": "org/moved", "split": "test"}
    rows = {"path": "org/forms", "split": "test"}
    lines = {"path": "json", "split": "train"}
    a, b = f"{folder}/a.jsonl", f"{folder}/b.jsonl"
    files, more = {"path": "org/files"}, "more/test.csv"
    by_split = {"path": "json", "data_files": {"test": a, "dev": [b, a]}}
    cells, table = f"{folder}/cells.csv", f"{folder}/mcq.parquet"
    local = {"path": f"{folder}/lines", "split": "train"}
    shuffled = {"shuffle": True, "seed": 5, "auto_id": True}
    splits = ("train", "test[:2]", "test[2:5]", "test[-2:]", "test[50%:]", "train+test")
    return {
        **{f"split {split}": Case({**mcq, "split": split}, "spec") for split in splits},
        "configuration": Case({**mcq, "name": "main"}, "spec"),
        "not cached": Case({**mcq, "cached": False}, "spec"),
        "trusted": Case({**mcq, "trust": True}, "spec"),
        "samples": Case({**rows, "name": "samples"}),
        "samples, shuffled": Case({**rows, "name": "samples", **shuffled}),
        "samples, choices": Case({**rows, "name": "samples", "shuffle_choices": 1}),
        "conversations": Case({**rows, "name": "chat"}),
        "conversations, shuffled": Case({**rows, "name": "chat", **shuffled}),
        "columns": Case({**rows, "name": "columns"}, "every column"),
        "columns, shuffled": Case({**rows, "name": "columns", **shuffled}, "every column"),
        "many": Case({**rows, "name": "many"}),
        "many, shuffled": Case({**rows, "name": "many", **shuffled}),
        "many, shuffled and limited": Case({**rows, "name": "many", **shuffled, "limit": 1500}),
        "commit": Case({**moved, "revision": old}),
        "branch": Case({**moved, "revision": "main"}),
        "branch with a slash": Case({**moved, "revision": "release/1"}),
        "no revision": Case(moved),
        "folder of a repository": Case({**files, "split": "test", "data_dir": "data"}),
        "file of a repository": Case({**files, "split": "train", "data_files": more}),
        "files of a repository by split": Case(
            {**files, "split": "dev", "data_files": {"dev": [more]}}
        ),
        "json": Case({**lines, "data_files": a}),
        "json, several": Case({**lines, "data_files": [b, a]}),
        "json, glob": Case({**lines, "data_files": f"{folder}/*.jsonl"}),
        "json, by split": Case({**by_split, "split": "test"}),
        "json, two splits": Case({**by_split, "split": "test+dev"}),
        "json, shuffled": Case({**lines, "data_files": b, **shuffled, "limit": 4}),
        "json, a key of it": Case({**lines, "data_files": f"{folder}/inner.json", "field": "data"}),
        "text, beside a folder of that name": Case(
            {"path": "text", "split": "train", "data_files": a}, "text"
        ),
        "json, relative file": Case({**lines, "data_files": "a.jsonl"}),
        "csv": Case({**lines, "path": "csv", "data_files": cells, "sep": "|", "quotechar": "'"}),
        "parquet": Case({**lines, "path": "parquet", "data_files": table}, "spec"),
        "parquet, some columns": Case(
            {**lines, "path": "parquet", "data_files": [table], "columns": ["question", "answer"]},
            "metadata list",
        ),
        "local folder": Case({**local, "split": "test"}),
        "local folder, one file": Case({**local, "data_files": "test.jsonl"}),
        "local folder, a folder of it": Case({**local, "path": folder, "data_dir": "lines"}),
        "local folder, relative": Case({"path": "./lines", "split": "train"}),
        "local folder, name alone": Case({"path": "lines", "split": "test"}),
        "unseeded": Case({**mcq, "shuffle": True}, "spec"),
        "unseeded, limited": Case({**mcq, "shuffle": True, "auto_id": True, "limit": 4}, "spec"),
        "limit beyond the end": Case({**mcq, "limit": 8}, "spec"),
        "limit beyond the end, shuffled": Case({**mcq, **shuffled, "limit": 100}, "spec"),
        "negative limit": Case({**mcq, "limit": -1}, "spec"),
        "seed alone": Case({**mcq, "seed": 3}, "spec"),
        "bad record": Case({**rows, "name": "bad"}),
        "bad record behind the limit": Case({**rows, "name": "bad", "limit": 1}),
        "bad letter": Case({**rows, "name": "letters", "shuffle_choices": 1}),
        "bad letter behind the limit": Case(
            {**rows, "name": "letters", "shuffle_choices": 1, "limit": 1}
        ),
        "other columns": Case(mcq),
        "no rows of a split": Case({**mcq, "split": "test[:0]"}, "spec"),
        "unknown split": Case({**mcq, "split": "dev"}, "spec"),
        "unknown configuration": Case({**rows, "name": "gone"}),
        "unknown revision": Case({**moved, "revision": "gone"}),
        "unknown commit": Case({**moved, "revision": "0" * 40}),
        "unknown repository": Case({"path": "org/gone", "split": "test"}),
        "unknown file": Case({**lines, "data_files": f"{folder}/gone.jsonl"}),
        "stream": Case({**mcq, "streaming": True}, "spec"),
        "script": Case({"path": "org/script", "split": "train", "trust": True}),
    }


def cases(*, old: str, folder: str) -> dict[str, Case]:
    return {**grid(), **forms(old=old, folder=folder)}


BETTER = ("limit beyond the end", "limit beyond the end, shuffled", "negative limit")
ERRORS = {
    "negative limit": "ValueError: limit must be 0 or more, is -1",
    "bad record": "MappingError: org/forms: record 2, field input: No input in dataset",
    "bad letter": "MappingError: org/forms: sample 1: the target 'Z' is not a letter",
    "other columns": "MappingError: org/mcq: record 1, field input: No input in dataset",
    "no rows of a split": "SourceError: org/mcq: ",
    "unknown split": "SourceError: org/mcq: ",
    "unknown configuration": "SourceError: org/forms: ",
    "unknown revision": "SourceError: org/moved: no revision 'gone'",
    "unknown commit": f"SourceError: org/moved: no revision '{'0' * 40}'",
    "unknown repository": "AccessError: org/gone: no such dataset, or a private one",
    "unknown file": "SourceError: ",
    "stream": "SourceError: org/mcq: a stream can't be cached",
    "script": "SourceError: org/script: this dataset needs its own Python script, script.py",
}
"""Cases that are errors, and the start of our message."""
ALIKE = [name for name in forms(old="", folder="") if name not in {*ERRORS, *BETTER}]

# ---------------------------------------------------------------- the other process

Outcome = dict[str, Any]
"""Name, location, shuffled and samples as texts; or the error and its bases."""


def outcome(library: Any, case: Case, **more: Any) -> Outcome:
    import numpy as np

    random.seed(7)
    np.random.seed(7)  # noqa: NPY002  # what an unseeded shuffle of `datasets` looks at
    arguments = {"sample_fields": SAMPLE_FIELDS[case.fields](library), **case.arguments, **more}
    try:
        dataset = library.hf_dataset(**arguments)
    except Exception as error:  # noqa: BLE001  # whatever it is, the tests look at it
        return {"error": f"{type(error).__name__}: {error}"}
    return {
        "name": dataset.name,
        "location": dataset.location,
        "shuffled": dataset.shuffled,
        "samples": [as_text(sample) for sample in dataset],
    }


def main(old: str, folder: str, output: str) -> None:
    """Load every case with both libraries and write the outcomes."""
    import datasets
    import inspect_ai.dataset

    import registry

    datasets.config.USE_PARQUET_EXPORT = False  # else asks a second host, named after the first
    datasets.disable_progress_bars()
    outcomes = {
        name: {
            # Else they wait for minutes before they try again.
            "ours": outcome(registry, case, retry=False),
            "theirs": outcome(inspect_ai.dataset, case, retry=False),
        }
        for name, case in cases(old=old, folder=folder).items()
    }
    Path(output).write_text(json.dumps(outcomes), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

# ---------------------------------------------------------------- tests

Outcomes = dict[str, dict[str, Outcome]]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """Return what both libraries give, loaded once by all workers of pytest-xdist together."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return load_all(tmp_path_factory)
    # The folder above is that of this run; each worker has its own in it.
    shared = tmp_path_factory.getbasetemp().parent / "inspect_hub.json"
    with FileLock(f"{shared}.lock"):
        if not shared.exists():
            shared.write_text(json.dumps(load_all(tmp_path_factory)), encoding="utf-8")
    found: Outcomes = json.loads(shared.read_text(encoding="utf-8"))
    return found


def load_all(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """Load every case by both libraries, in a process of its own."""
    folder, home = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("home")
    fill_folder(folder)
    output = home / "outcomes.json"
    with HubEmulator() as hub:
        names = fill_hub(hub)
        folders = {"HF_HOME": "huggingface", "REGISTRY_CACHE_DIR": "registry"}
        folders |= {"XDG_CACHE_HOME": "cache", "XDG_DATA_HOME": "data"}
        own = {name: str(home / folder) for name, folder in folders.items()}
        environment = {**os.environ, **own, "HF_ENDPOINT": hub.url, "PYTHONPATH": str(ROOT)}
        module = ["-m", "tests.loaders.test_inspect_hub"]
        done = subprocess.run(
            [sys.executable, *module, names["old"], str(folder), str(output)],
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    found: Outcomes = json.loads(output.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("fields", GRID_FIELDS)
def test_every_combination_of_view_arguments_gives_equal_samples(
    outcomes: Outcomes, fields: str
) -> None:
    names = [name for name in outcomes if name.startswith(f"grid: {fields}, ")]
    assert len(names) == GRID_FIELDS[fields]
    assert all("samples" in outcomes[name]["theirs"] for name in names)
    mine, other = ({name: outcomes[name][side] for name in names} for side in ("ours", "theirs"))
    assert mine == other


@pytest.mark.parametrize("name", ALIKE)
def test_equal_arguments_give_equal_samples(outcomes: Outcomes, name: str) -> None:
    assert "samples" in outcomes[name]["theirs"], outcomes[name]["theirs"]
    assert outcomes[name]["ours"] == outcomes[name]["theirs"]


@pytest.mark.parametrize("name", ERRORS)
def test_arguments_that_inspect_rejects_are_errors_with_a_reason(
    outcomes: Outcomes, name: str
) -> None:
    assert name in BETTER or "error" in outcomes[name]["theirs"]
    assert str(outcomes[name]["ours"].get("error")).startswith(ERRORS[name])


@pytest.mark.parametrize("name", ["limit beyond the end", "limit beyond the end, shuffled"])
def test_a_limit_beyond_the_end_gives_all_where_inspect_fails(
    outcomes: Outcomes, name: str
) -> None:
    assert outcomes[name]["theirs"]["error"].startswith("IndexError")
    samples = outcomes[name]["ours"]["samples"]
    assert sorted(json.loads(sample)["input"] for sample in samples) == sorted(
        record["question"] for record in MCQ
    )
