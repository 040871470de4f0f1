"""Tasks of lm-evaluation-harness: includes, sources, and what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import ManifestError
from registry.plugins.importers.lm_eval import read
from registry.plugins.importers.models import ImportOptions
from tests.plugins.importers.support import only, samples_of, specs_of, write

PIQA = """\
task: piqa
dataset_path: baber/piqa
dataset_name: null
output_type: multiple_choice
training_split: train
validation_split: validation
test_split: null
doc_to_text: "Question: {{goal}}\\nAnswer:"
doc_to_target: label
doc_to_choice: "{{[sol1, sol2]}}"
should_decontaminate: true
doc_to_decontamination_query: goal
metric_list:
  - metric: acc
metadata:
  version: 1.0
dataset_kwargs:
  trust_remote_code: true
"""


def test_a_task_becomes_a_dataset(tmp_path: Path) -> None:
    dataset = only(read(write(tmp_path, "piqa.yaml", PIQA), ImportOptions()))
    source = {"type": "hf", "path": "baber/piqa", "split": "validation"}
    assert dataset.keys["source"] == source
    first, second = samples_of(
        dataset,
        [
            {"goal": "Cut bread.", "sol1": "knife", "sol2": "spoon", "label": 0},
            {"goal": "Cut.", "sol1": "a", "sol2": "spoon", "label": "spoon"},
        ],
    )
    assert (first.input, first.choices) == ("Question: Cut bread.\nAnswer:", ["knife", "spoon"])
    assert (first.target, second.target) == ("A", "B")
    assert (first.id, second.id) == (0, 1)
    (trust,) = [one for one in dataset.left_out if one.about == "samples"]
    assert (trust.what, trust.line) == ("dataset_kwargs.trust_remote_code", 17)
    scoring = {one.what: one.line for one in dataset.left_out if one.about == "evaluation"}
    assert scoring["metric_list"] == 13
    assert "doc_to_text" not in scoring


def test_a_function_that_filters_is_where(tmp_path: Path) -> None:
    # The module is beside the file that names it, and not beside the one that includes that.
    module = "def f(dataset):\n    return dataset.filter(lambda doc: doc['kind'] == 'easy')\n"
    write(tmp_path, "base/utils.py", module)
    write(tmp_path, "base/_default.yaml", f"{PIQA}process_docs: !function utils.f\n")
    task = "include: base/_default.yaml\ntask: mine\ndataset_kwargs: null\n"
    dataset = only(read(write(tmp_path, "mine.yaml", task), ImportOptions()))
    assert dataset.is_whole
    assert list(dataset.keys) == ["tags", "source", "where", "fields"]
    (spec,) = specs_of(dataset).values()
    assert spec.where == {"value": "kind", "equals": "easy"}


def test_keys_of_a_file_come_before_those_that_it_includes(tmp_path: Path) -> None:
    write(tmp_path, "base/_default.yaml", PIQA.replace("task: piqa\n", ""))
    task = "include: base/_default.yaml\ntask: mine\ndataset_name: small\nprocess_docs: !function utils.f\n"
    dataset = only(read(write(tmp_path, "mine.yaml", task), ImportOptions(name="my-own")))
    assert dataset.name == "my-own"
    assert dataset.keys["source"]["name"] == "small"
    (code,) = [one for one in dataset.left_out if one.what == "process_docs"]
    assert code.line == 4


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("task: piqa", "group: all\ntask: [piqa]", "a group"),
        ("task: piqa", "", "no `task`"),
        ("task: piqa\ndataset_path: baber/piqa", "group: all\ntask: piqa", "a group"),
        ("baber/piqa", "/home/me/data", "a script or folder of its author"),
        ("baber/piqa", "json", "without data_files"),
        ("name: null", "name: !function utils.n", "dataset_name: it is made by code"),
        ("dataset_path: baber/piqa", "", "dataset_path: it is missing"),
        ("validation_split: validation", "", "neither it nor validation_split"),
        ("task: piqa", "task: piqa\nclass: !function task.T", "!function task.T is code"),
        ('"{{[sol1, sol2]}}"', "!function utils.c", "doc_to_choice: `!function utils.c`"),
        ("  trust_remote_code: true", "  - a", "is not a mapping"),
    ],
)
def test_what_no_manifest_can_say(tmp_path: Path, old: str, new: str, why: str) -> None:
    assert old in PIQA
    imported = read(write(tmp_path, "t.yaml", PIQA.replace(old, new)), ImportOptions())
    assert imported.datasets == ()
    assert why in imported.refused[0].why


@pytest.mark.parametrize(
    ("own", "where"),
    [
        ("", "base.yaml:8"),
        ("doc_to_text: ''\n", "mine.yaml:2"),
        ("dataset_path: null\n", "mine.yaml:2"),
        ("doc_to_text: a\ntest_split: null\nvalidation_split: null\n", "mine.yaml:3"),
    ],
)
def test_a_refusal_names_the_line_of_its_key(tmp_path: Path, own: str, where: str) -> None:
    text = PIQA.replace('"Question: {{goal}}\\nAnswer:"', "!function utils.q")
    write(tmp_path, "base.yaml", text)
    mine = write(tmp_path, "mine.yaml", f"include: base.yaml\n{own}task: mine\n")
    (refused,) = read(mine, ImportOptions()).refused
    assert refused.where == f"{tmp_path}/{where}"


def test_arguments_pictures_and_code_that_no_manifest_has_are_left_out(tmp_path: Path) -> None:
    kwargs = "  trust_remote_code: true\n  streaming: true\n  keep_in_memory: true\n  revision: v1"
    text = PIQA.replace("  trust_remote_code: true", kwargs) + "doc_to_image: picture\n"
    text = text.replace("doc_to_target: label", "doc_to_target: !function utils.t")
    dataset = only(read(write(tmp_path, "t.yaml", text), ImportOptions()))
    assert dataset.keys["source"]["revision"] == "v1"
    assert dataset.keys["fields"]["target"] is None
    left = {one.what: one.about for one in dataset.left_out}
    assert (
        left["doc_to_target"]
        == left["dataset_kwargs.keep_in_memory"]
        == left["doc_to_image"]
        == "samples"
    )
    assert left["dataset_kwargs.streaming"] == "evaluation"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"t.yaml": "include: t.yaml\n"}, "leads back"),
        ({"t.yaml": "include: a.yaml\n", "a.yaml": "include: t.yaml\n"}, "leads back"),
        ({"t.yaml": "include: [1]\n"}, "t.yaml:1: `include` takes relative paths"),
        ({"t.yaml": "include: /etc/x.yaml\n"}, "t.yaml:1: `include` takes relative paths"),
        ({"t.yaml": "include: gone.yaml\n"}, "gone.yaml: can't read the file"),
        ({"t.yaml": "[1, 2]\n"}, "no mapping of keys"),
    ],
)
def test_files_that_are_no_task(tmp_path: Path, files: dict[str, str], message: str) -> None:
    for name, text in files.items():
        write(tmp_path, name, text)
    with pytest.raises(ManifestError) as caught:
        read(tmp_path / "t.yaml", ImportOptions())
    assert message in str(caught.value)


def test_files_that_several_include_are_read_once(tmp_path: Path) -> None:
    for number in range(30):
        text = f"include: [f{number + 1}.yaml, f{number + 1}.yaml]\n"
        write(tmp_path, f"f{number}.yaml", text)
    write(tmp_path, "f30.yaml", PIQA)
    dataset = only(read(tmp_path / "f0.yaml", ImportOptions()))
    assert dataset.keys == only(read(tmp_path / "f30.yaml", ImportOptions())).keys


def test_a_task_of_before_tags_has_groups(tmp_path: Path) -> None:
    for given in "group: [ai2, ours]", "group: ai2\ntag: ours":
        file = write(tmp_path, "t.yaml", f"{given}\n{PIQA}")
        assert set(only(read(file, ImportOptions())).keys["tags"]) == {"lm-eval", "ai2", "ours"}
