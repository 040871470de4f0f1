"""`inspect eval registry/dataset`: any dataset of the catalog, as its manifest says.

`make inspect` also runs this with the oldest supported version of Inspect AI.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import inspect_ai.scorer
import inspect_ai.solver
import pytest
from inspect_ai import Task
from inspect_ai._eval.task import hf
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.util import registry_info
from rich.text import Text

import registry.inspect.task as module
from registry.manifest.models import Scorer, Solver
from registry.samples.provenance import read_provenance
from tests.inspect.conftest import Evaluate, Run, argument
from tests.inspect.known_model import shared_data

dataset: Callable[..., Task] = module.dataset

OPEN = '{"q": "one", "a": "1"}\n{"q": "two", "a": "2"}\n'
CHOICES = '{"q": "one", "c": ["x", "y"], "a": "A"}\n{"q": "two", "c": ["x", "y"], "a": "B"}\n'
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a catalog with one dataset, `data`, with keys given as YAML; return its folder."""
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def write(records: str, keys: str = "") -> Path:
        choices = ", choices: c" if '"c"' in records else ""
        (tmp_path / "data.jsonl").write_text(records, encoding="utf-8")
        text = (
            "version: 1\ndatasets:\n  data:\n    source: {type: json, path: data.jsonl}\n"
            f"    fields: {{input: q, target: a{choices}}}\n    {keys}\n"
            "    accept: [blank_targets, few_choices, targets_outside_choices]\n"
        )
        (tmp_path / "datasets.yaml").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def names_of(task: Task) -> list[str]:
    """Return the names of a task's solvers and scorers."""
    solvers = getattr(task.solver, "_solvers", [task.solver])
    return [registry_info(one).name.rpartition("/")[2] for one in [*solvers, *(task.scorer or [])]]


def error_of(root: Path, name: str | None = "data", **arguments: Any) -> str:
    with pytest.raises(PrerequisiteError) as caught:
        dataset(name, root=str(root), **arguments)
    return str(caught.value.message)


# ---------------------------------------------------------------- from the command line


def test_command_line_evaluates_multiple_choice(evaluate: Evaluate) -> None:
    view = ("-T", "limit=7", "-T", "shuffle=true", "-T", "seed=3")
    log = evaluate("dataset", "demo-mcq", *view, "--limit", "5")
    assert log["eval"]["task"] == "registry/dataset"
    assert "demo-mcq" in log["eval"]["task_args"].values()
    assert log["eval"]["dataset"]["name"] == "demo-mcq"
    found = read_provenance(log["eval"]["metadata"]["registry"])
    assert (found.name, found.samples, found.state) == ("demo-mcq", 7, "verified")
    assert log["eval"]["dataset"]["location"] == f"registry/data/demo-mcq.csv#{found.ordered}"
    assert log["eval"]["dataset"]["samples"] == 7
    assert accuracy_of(log, "choice") == 1.0
    assert log["results"]["total_samples"] == 5


def test_command_line_evaluates_by_the_eval_block(evaluate: Evaluate) -> None:
    log = evaluate("dataset", "demo-chat", "--sample-shuffle", "1", model="known/wrong")
    assert accuracy_of(log, "includes") == 0.0
    assert log["eval"]["dataset"]["shuffled"] is True


def test_command_line_names_another_solver_and_scorer(evaluate: Evaluate) -> None:
    chosen = ("-T", "scorer={name: match, args: {location: any}}", "-T", "solver=generate")
    log = evaluate("dataset", "demo-mcq", *chosen, "--limit", "4")
    (score,) = log["results"]["scores"]
    assert score["name"] == "match"
    assert "location" in json.dumps(log["eval"]["task_args"])


def test_command_line_evaluates_real_data(evaluate: Evaluate) -> None:
    file = shared_data("gsm8k-test.jsonl")
    if file is None:
        pytest.skip("no gsm8k-test.jsonl on this machine")
    log = evaluate("dataset", "gsm8k", "-T", f"source={file}", "--limit", "20")
    assert accuracy_of(log, "match") == 1.0


def test_command_line_says_what_to_change_without_a_traceback(run: Run) -> None:
    task = ("registry/dataset", "-T", argument("dataset", "demo-mc"))
    text = " ".join(run("inspect_ai", "eval", *task, "--model", "known/right", code=1).split())
    assert "no dataset 'demo-mc'" in text
    assert "similar names: demo-mcq" in text
    assert "Traceback" not in text


def test_the_entry_point_imports_nothing_that_opens_datasets() -> None:
    code = "import sys, registry.inspect.task; print('registry.load' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout == "False\n"


def accuracy_of(log: dict[str, Any], scorer: str) -> float:
    (score,) = log["results"]["scores"]
    assert score["name"] == scorer
    accuracy: float = score["metrics"]["accuracy"]["value"]
    return accuracy


# ---------------------------------------------------------------- how a dataset is evaluated


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        ({"scorer": "f1"}, ["generate", "f1"]),
        ({"solver": ["chain_of_thought", "generate"]}, ["chain_of_thought", "generate", "exact"]),
        ({"scorer": ["f1", {"name": "match"}]}, ["generate", "f1", "match"]),
    ],
)
def test_what_is_named_on_the_command_line_replaces_that_part_of_the_block(
    write: Write, chosen: dict[str, Any], names: list[str]
) -> None:
    root = str(write(OPEN, "eval: {scorer: exact}"))
    assert names_of(dataset("data", root=root, **chosen)) == names


def test_wrong_name_on_the_command_line_suggests_one(write: Write) -> None:
    root = write(OPEN)
    error = error_of(root, scorer="includs")
    assert "scorer: 'includs' is not one of" in error
    assert "(did you mean 'includes'?)" in error
    error = error_of(root, scorer="includes", solver={"name": "generate", "arg": 1})
    assert "solver.arg: unknown key 'arg' (did you mean 'args'?)" in error
    message = {"name": "system_message", "args": {"template": "datasets.yaml"}}
    assert "file" in error_of(root, scorer={"name": "includes"}, solver=message)
    assert "-T scorer=includes" in error_of(root)


def test_the_task_has_the_name_of_the_entry_point() -> None:
    assert registry_info(dataset).name == "registry/dataset"


@pytest.mark.parametrize(
    ("records", "keys", "names"),
    [
        (CHOICES, "", ["multiple_choice", "choice"]),
        (CHOICES, "eval: {epochs: 2}", ["multiple_choice", "choice"]),
        (CHOICES, "eval: {scorer: choice}", ["multiple_choice", "choice"]),
        (CHOICES, "eval: {scorer: includes}", ["generate", "includes"]),
        (OPEN, "eval: {scorer: [includes, match]}", ["generate", "includes", "match"]),
        (
            OPEN,
            "eval: {solver: [{name: system_message, args: {template: Hi}}, generate], scorer: exact}",
            ["system_message", "generate", "exact"],
        ),
    ],
)
def test_solvers_and_scorers_are_those_of_the_eval_block(
    records: str, keys: str, names: list[str], write: Write
) -> None:
    assert names_of(dataset("data", root=str(write(records, keys)))) == names


def test_epochs_and_their_reducer_are_those_of_the_eval_block(write: Write) -> None:
    task = dataset(
        "data", root=str(write(OPEN, "eval: {scorer: match, epochs: 4, epoch_reducer: pass_at_2}"))
    )
    assert task.epochs == 4
    (reducer,) = task.epochs_reducer or []
    assert "pass_at" in registry_info(reducer).name
    assert dataset("data", root=str(write(CHOICES))).epochs is None


def test_several_right_choices_are_asked_for(write: Write) -> None:
    several = CHOICES.replace('"B"', '["A", "B"]')
    for records, expected in ((CHOICES, False), (several, True)):
        task = dataset("data", root=str(write(records)))
        params = getattr(task.solver, "_solvers", [task.solver])[0].__registry_params__
        assert params["multiple_correct"] is expected


def test_overrides_reach_the_dataset(write: Write) -> None:
    root = str(write(CHOICES))
    task = dataset("data", root=root, limit=1, shuffle=True, seed=1, auto_id=True)
    assert (len(task.dataset), task.dataset.shuffled) == (1, True)
    assert (task.dataset[0].id, task.dataset[0].input) == (2, "two")
    other = Path(root, "other.jsonl")
    other.write_text('{"q": "three", "c": ["x"], "a": "A"}\n', encoding="utf-8")
    assert dataset(dataset="data", root=root, source=str(other)).dataset[0].input == "three"


@pytest.mark.parametrize(("kind", "table"), [("solver", Solver), ("scorer", Scorer)])
def test_names_are_those_of_the_hubs_eval_yaml(kind: str, table: Any) -> None:
    theirs: Any = {"solver": hf.HFSolver, "scorer": hf.HFScorer}[kind]
    allowed = set(table.__annotations__["name"].__args__)
    without_code = set(theirs.model_fields["name"].annotation.__args__) - {"use_tools"}
    assert allowed == without_code
    assert all(hasattr(getattr(inspect_ai, kind), name) for name in allowed)


# ---------------------------------------------------------------- bad input

SECRET = "of the user"
WRONG = CHOICES.replace('"B"', '"y"')
NO_LETTER = "data: sample 2: the target 'y' is not the letter of one of its 2 choices"


@pytest.mark.parametrize(
    ("records", "keys", "message"),
    [
        (OPEN, "", r"yaml:3:3: data: 0 of 2 samples have choices.*`eval: \{scorer: includes\}`"),
        (CHOICES + OPEN, "on_duplicate: error", "data: 2 of 4 samples have choices"),
        (WRONG, "", NO_LETTER),
        (WRONG, "eval: {solver: multiple_choice, scorer: choice}", NO_LETTER),
        (CHOICES.replace('"B"', '"C"'), "", "the target 'C' is not the letter"),
        (CHOICES.replace('"B"', '""'), "", "the target '' is not the letter"),
        (CHOICES.replace('"B"', '"½"'), "", "the target '½' is not the letter"),
        (
            OPEN,
            "eval: {scorer: {name: match, args: {nope: 1}}}",
            r"yaml:6:5: data: `eval`: match\(\) got an unexpected",
        ),
        (
            OPEN,
            "eval: {solver: prompt_template, scorer: match}",
            r"yaml:6:5: data: `eval`: prompt_template\(\) missing 1 required",
        ),
        (
            OPEN,
            "eval: {solver: generate, scorer: choice}",
            "yaml:6:5: data: `eval`: choice needs choices, and 0 of 2 samples have choices",
        ),
        (
            CHOICES + OPEN,
            "eval: {solver: multiple_choice, scorer: match}\n    on_duplicate: error",
            "`eval`: multiple_choice needs choices, and 2 of 4 samples have choices",
        ),
        (OPEN, "eval: {scorer: os.system}", r"yaml:6:12 .*'os\.system' is not one of includes"),
        (OPEN, "eval: {solver: use_tools}", "'use_tools' is not one of prompt_template"),
        (OPEN, "eval: {scorers: match}", "unknown key 'scorers'.*did you mean 'scorer'"),
    ],
)
def test_an_evaluation_that_cannot_be_is_an_error(
    records: str, keys: str, message: str, write: Write
) -> None:
    assert_matches(error_of(write(records, keys)), message)


@pytest.mark.parametrize(
    "place",
    [
        *("secret.txt", "./secret.txt", "~/secret.txt", "file:secret.txt"),
        *("file://{folder}/secret.txt", "file://{folder}/a file.txt", "s3://bucket/secret"),
        *(" https://example.org/a b", "simplecache::https://example.org/a"),
    ],
)
def test_a_manifest_cannot_make_inspect_read_a_file(
    place: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(OPEN)
    monkeypatch.setenv("HOME", str(folder))
    for name in ("secret.txt", "a file.txt"):
        (folder / name).write_text(SECRET, encoding="utf-8")
    template = place.format(folder=folder)
    step = {"name": "system_message", "args": {"template": template}}
    write(OPEN, f"eval: {json.dumps({'scorer': 'match', 'solver': step})}")
    message = error_of(folder)
    assert "is a file; write its text instead" in message
    assert SECRET not in message


def test_a_template_may_mention_a_url_or_a_folder(write: Write) -> None:
    for text in ("Answer: see https://example.org.", ".", "{prompt}"):
        step = {"name": "prompt_template", "args": {"template": text}}
        write(OPEN, f"eval: {json.dumps({'scorer': 'match', 'solver': step})}")
        assert names_of(dataset("data")) == ["prompt_template", "match"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": None}, r"which dataset\? `-T name=NAME`"),
        ({"name": "dat"}, r"no dataset 'dat'.*similar names: data"),
        (
            {"name": 7},
            r"`name` was read as 7, not as a string \(quote it for YAML, too: -T \"name='…'\"\)",
        ),
        ({"revision": 1234567}, r"`revision` was read as 1234567"),
        ({"splitt": "test"}, r"no argument 'splitt' \(did you mean 'split'\?\)"),
        ({"limit": -1}, r"limit.*-1"),
        ({"scorer": {"name": "match", "args": {"nope": 1}}}, r"^registry/dataset: `eval`: match"),
        ({"limit": "ten"}, r"limit.*ten"),
        ({"seed": 1}, r"`seed` without `shuffle`"),
    ],
)
def test_a_bad_argument_is_an_error(arguments: dict[str, Any], message: str, write: Write) -> None:
    assert_matches(error_of(write(CHOICES), **arguments), message)


def assert_matches(text: str, pattern: str) -> None:
    assert re.search(pattern, text, re.DOTALL), text


def test_messages_keep_their_brackets(write: Write) -> None:
    message = error_of(write(CHOICES), source="x[red].jsonl")
    assert "x[red].jsonl" in Text.from_markup(message).plain
