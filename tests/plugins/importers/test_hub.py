"""The Hub's eval.yaml: fields, evaluation, and what Inspect would refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.errors import ManifestError
from registry.plugins.importers.hub import read_card, read_eval, source_of_repository
from registry.plugins.importers.models import ImportOptions
from registry.samples.messages import ChatMessageUser
from tests.plugins.importers.support import only, samples_of, specs_of, write

OPTIONS = ImportOptions(repository="acme/Quiz")
ONE = """\
# yaml-language-server: $schema=x
name: Quiz
evaluation_framework: inspect-ai
tasks:
  - config: default
    split: validation
    field_spec:
      input: question
      target: answer
      choices: [a, b]
      metadata: [topic]
    epochs: 2
    epoch_reducer: pass_at_2
    solvers:
      - name: system_message
        args: {template: Be short.}
      - name: multiple_choice
    scorers: [{name: choice}]
"""

REPOSITORY_OPTIONS = ImportOptions(repository="acme/Quiz", revision="v2")


def test_fields_and_evaluation(tmp_path: Path) -> None:
    dataset = only(read_eval(write(tmp_path, "eval.yaml", ONE), OPTIONS))
    assert dataset.name == "quiz"
    assert dataset.left_out == ()
    assert dataset.keys["source"] == {"type": "hf", "path": "acme/Quiz", "split": "validation"}
    spec = specs_of(dataset)["quiz"]
    assert spec.eval is not None
    assert [one.name for one in spec.eval.solver] == ["system_message", "multiple_choice"]
    assert (spec.eval.epochs, spec.eval.epoch_reducer) == (2, "pass_at_2")
    record = {"question": "?", "a": "x", "b": "y", "topic": "t", "id": 7}
    samples = samples_of(dataset, [{**record, "answer": 1}, {**record, "answer": "A"}])
    assert [one.target for one in samples] == ["B", "A"]
    assert samples[0].choices == ["x", "y"]
    assert samples[0].metadata == {"topic": "t"}
    assert samples[0].id is None


def test_keys_of_the_file(tmp_path: Path) -> None:
    text = f"description: |\n  Questions\n  of a quiz.\nleaderboard: x\n{ONE}"
    dataset = only(read_eval(write(tmp_path, "eval.yaml", text), OPTIONS))
    assert dataset.keys["description"] == "Questions of a quiz."
    assert [(one.what, one.line) for one in dataset.left_out] == [("leaderboard", 4)]


def test_several_tasks_literals_and_images(tmp_path: Path) -> None:
    text = """\
tasks:
  - id: look
    config: big
    field_spec: {input: q, target: "literal:Yes: no", input_image: pic, id: x}
    shuffle_choices: true
    solvers: [{name: use_tools, args: {}}, {name: generate}]
    scorers: [{name: exact}]
  - id: plain
    field_spec: {target: t}
    solvers: [{name: generate}]
    scorers: [{name: exact}]
"""
    imported = read_eval(write(tmp_path, "eval.yaml", text), OPTIONS)
    look, plain = imported.datasets
    assert (look.name, plain.name) == ("quiz-look", "quiz-plain")
    assert look.keys["source"]["name"] == "big"
    left = [(one.what, one.about, one.line) for one in look.left_out]
    solvers = ("solvers", "evaluation", 6)
    assert left == [("shuffle_choices", "samples", 5), solvers, ("field_spec.id", "samples", 4)]
    with_image, without = samples_of(look, [{"q": "?", "pic": "data:x"}, {"q": "?", "pic": None}])
    assert isinstance(with_image.input, list)
    assert isinstance(with_image.input[0], ChatMessageUser)
    assert without.input == "?"
    assert with_image.target == "Yes: no"
    assert samples_of(plain, [{"input": "i", "t": 3}])[0].target == "3"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("epochs: 2", "epoch: 2"), "eval.yaml:12: tasks[0]: unknown key 'epoch'"),
        (("input: question", "inptu: question"), "unknown key 'inptu'"),
        (("    scorers: [{name: choice}]\n", ""), "tasks[0].scorers is not a list"),
        (("name: choice", "nam: choice"), "tasks[0].scorers is not a list"),
        (("input: question", "input: {a: 1}"), "field_spec.input is not a column"),
        (("target: answer", "target: null"), "field_spec.target is not a column"),
        (("[topic]", "topic"), "field_spec.metadata is not a list of columns"),
        (("tasks:", "task:"), "no list under `tasks`"),
        (("- config", "- id: [1]\n    config"), "tasks[0].id is not a string"),
        ((ONE, ONE + ONE.partition("tasks:\n")[2]), "tasks[0] needs an `id`, as there are several"),
    ],
)
def test_what_inspect_refuses_is_refused(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    file = write(tmp_path, "eval.yaml", ONE.replace(*change))
    with pytest.raises(ManifestError) as caught:
        read_eval(file, OPTIONS)
    assert message in str(caught.value)


@pytest.mark.parametrize("task", ["1", "{}", "{field_spec: 1}", "[1]"])
def test_no_task_at_all(tmp_path: Path, task: Any) -> None:
    with pytest.raises(ManifestError, match=r"tasks\[0\]"):
        read_eval(write(tmp_path, "eval.yaml", f"tasks: [{task}]"), OPTIONS)


def card(front: str) -> str:
    return f"---\n{front}\n---\n# Quiz\n"


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        (
            "configs:\n- config_name: default\n  data_files:\n  - {split: test, path: t.csv}",
            {"quiz": ("test", None)},
        ),
        (
            "configs:\n- {config_name: a, data_files: {train: x, test: y}}\n- {config_name: b, data_files: b.csv}",
            {
                "quiz-a-train": ("train", "a"),
                "quiz-a-test": ("test", "a"),
                "quiz-b-train": ("train", "b"),
            },
        ),
        (
            "dataset_info:\n  config_name: main\n  splits: [{name: test, num_examples: 3}]",
            {"quiz": ("test", "main")},
        ),
        (
            "dataset_info:\n- {config_name: x, splits: [{name: test}]}\n- {config_name: y, splits: [{name: test}]}",
            {"quiz-x-test": ("test", "x"), "quiz-y-test": ("test", "y")},
        ),
    ],
)
def test_splits(tmp_path: Path, front: str, expected: dict[str, tuple[str, str | None]]) -> None:
    text = card(f"license: mit\nlanguage: [te]\n{front}")
    imported = read_card(write(tmp_path, "README.md", text), REPOSITORY_OPTIONS)
    found = {}
    for one in imported.datasets:
        source = one.keys["source"]
        assert (source["path"], source["revision"]) == ("acme/Quiz", "v2")
        assert (one.keys["license"], one.keys["languages"]) == ("mit", ["te"])
        found[one.name] = (source["split"], source.get("name"))
        specs_of(one)
    assert found == expected


def test_several_licenses_are_left_out(tmp_path: Path) -> None:
    front = "license: [mit, cc0-1.0]\nconfigs:\n- data_files: [{split: a, path: x}]"
    (found,) = read_card(write(tmp_path, "README.md", card(front)), REPOSITORY_OPTIONS).datasets
    assert "license" not in found.keys
    assert [one.what for one in found.left_out] == ["fields", "license"]


def test_a_card_with_too_many_splits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.plugins.importers.hub._MAX_SPLITS", 1)
    text = card("configs:\n- data_files: {a: x, b: y}")
    with pytest.raises(ManifestError, match="more than 1 splits"):
        read_card(write(tmp_path, "README.md", text), REPOSITORY_OPTIONS)


def test_a_card_without_splits(tmp_path: Path) -> None:
    file = write(tmp_path, "README.md", card("license: mit"))
    (refused,) = read_card(file, REPOSITORY_OPTIONS).refused
    assert "names a split" in refused.why


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# Quiz", "README.md:1: no front matter"),
        ("---\na: 1\n", "README.md:1: no front matter"),
        ("---\n- a\n---\n", "README.md:2: the front matter is not a mapping"),
        ("---\na: 1\nb: [\n---\n", "README.md:4: not YAML"),
    ],
)
def test_invalid_front_matter(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ManifestError) as caught:
        read_card(write(tmp_path, "README.md", text), REPOSITORY_OPTIONS)
    assert message in str(caught.value)


COMMIT = "0123456789" * 4
FILE = Path("eval.yaml")
CACHED = Path(f"/c/hub/datasets--acme--quiz/snapshots/{COMMIT}/eval.yaml")


@pytest.mark.parametrize(
    ("file", "options", "source"),
    [
        (CACHED, ImportOptions(), {"path": "acme/quiz", "revision": COMMIT}),
        (CACHED, ImportOptions(repository="a/b"), {"path": "a/b"}),
        (FILE, ImportOptions(repository="./a", revision="v1"), {"path": "./a", "revision": "v1"}),
    ],
)
def test_repository(file: Path, options: ImportOptions, source: dict[str, str]) -> None:
    assert source_of_repository(file, options) == {"type": "hf", **source}


def test_a_repository_is_not_guessed() -> None:
    with pytest.raises(ManifestError, match="add --repository OWNER/NAME"):
        source_of_repository(FILE, ImportOptions())
