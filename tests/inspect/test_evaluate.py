"""A task of one dataset: tests/inspect/test_task.py tries every form of an `eval` block."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.scorer import SampleScore, Score

import registry.inspect.task as module
from registry import get_group
from registry.errors import GroupError
from registry.inspect.evaluate import group_task, group_tasks, members, task_of
from tests.inspect.conftest import Evaluate
from tests.inspect.known_model import DATA

CATALOG = """\
version: 1
datasets:
  qa:
    source: {type: csv, path: qa.csv}
    fields: {input: q, target: a, metadata: [topic]}
    eval: {scorer: match, epochs: 2}
groups:
  topics: {from: qa, by: topic, values: [x, y]}
  both: {datasets: [topics, qa]}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "qa.csv").write_text("q,a,topic\nOne?,1,x\nTwo?,2,y\nThree?,3,x\n")
    (tmp_path / "datasets.yaml").write_text(CATALOG)
    return tmp_path


def test_a_member_of_a_group_is_evaluated_as_its_dataset_says(root: Path) -> None:
    task = task_of("topics/x", {}, root=root)
    assert [sample.input for sample in task.dataset] == ["One?", "Three?"]
    assert (task.epochs, task.display_name) == (2, "topics/x")
    other = task_of("topics/x", {"scorer": "includes", "solver": None}, root=root)
    assert other.epochs == 2, "only the scorer is replaced"


def test_a_group_of_several_datasets_is_no_task_of_one(root: Path) -> None:
    with pytest.raises(GroupError, match="'both' is a group of 3 members: name one, such as"):
        task_of("both", {}, root=root)


def test_the_log_of_a_group_describes_the_samples_that_were_asked_for(root: Path) -> None:
    row = "{record: 1, field: target, was: '1', now: '9', reason: wrong}"
    (root / "fix.yaml").write_text(f"corrections:\n- {row}\n")
    index = root / "datasets.yaml"
    index.write_text(index.read_text().replace("    eval:", "    corrections: fix.yaml\n    eval:"))
    digests = []
    for arguments in ({}, {"corrections": False}):
        task = group_task("topics", {}, root=root, **arguments)
        digests.append(get_group("topics", root=root, **arguments).digest)  # type: ignore[arg-type]
        assert (task.metadata or {})["registry_group"]["digest"] == digests[-1]
    assert digests[0] != digests[1]


group: Callable[..., Task] = module.group
GROUPS_CATALOG = """\
version: 1
datasets:
  mcq:
    source: {type: csv, path: demo-mcq.csv}
    fields: {input: question, choices: [A, B, C, D], target: answer, metadata: [subject]}
    eval: {scorer: choice}
  always-a: {extends: mcq, fields: {target: {const: A}}}
  chat:
    source: {type: json, path: demo-chat.jsonl}
    fields: {input: messages, target: answer}
    eval: {solver: [{name: system_message, args: {template: Be brief.}}, generate], scorer: includes}
  often: {extends: chat, eval: {epochs: 3}}
groups:
  both: {datasets: [always-a, chat, subjects], weights: {always-a: 2, subjects: 5}}
  subjects: {from: mcq, by: subject, values: [SUBJECTS]}
  mixed: {datasets: [chat, often]}
"""


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    for name in ("demo-mcq.csv", "demo-chat.jsonl"):
        (tmp_path / name).write_bytes((DATA / name).read_bytes())
    text = GROUPS_CATALOG.replace("SUBJECTS", ", ".join(sorted({one["subject"] for one in rows()})))
    (tmp_path / "datasets.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def rows() -> list[dict[str, str]]:
    with (DATA / "demo-mcq.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_command_line_has_each_mean_and_the_weighted_one(evaluate: Evaluate, catalog: Path) -> None:
    log = evaluate("group", "both", root=catalog)
    (score,) = log["results"]["scores"]
    found = {name: one["value"] for name, one in score["metrics"].items()}
    share = sum(one["answer"] == "A" for one in rows()) / len(rows())
    assert found.pop("weighted_mean") == pytest.approx((2 * share + 1 + 5) / 8)
    assert found.pop("always-a") == pytest.approx(share)
    assert set(found) == {"chat", *(f"subjects/{one['subject']}" for one in rows())}
    assert set(found.values()) == {1.0}
    described = log["eval"]["metadata"]["registry_group"]
    assert described["name"] == "both"
    assert described["digest"] == get_group("both", root=catalog).digest
    anatomy = described["members"]["subjects/geography"]
    assert anatomy["registry"]["view"] == {"only": {"subject": "geography"}}
    chat = [one for one in log["samples"] if one["id"].startswith("chat/")]
    assert len(chat) == 50
    briefed = [any(one["content"] == "Be brief." for one in sample["messages"]) for sample in chat]
    assert all(briefed), "each member has its own solvers"


def test_a_task_of_each_member_for_an_eval_set(catalog: Path) -> None:
    tasks = group_tasks("both", root=str(catalog), limit=2)
    by_member = {one.metadata["member"]: one for one in tasks if one.metadata}
    assert list(by_member) == list(get_group("both", root=catalog))
    assert [len(one.dataset) for one in tasks] == [2] * len(tasks)
    expected = {"group": "both", "member": "always-a", "weight": 0.25}
    assert by_member["always-a"].metadata == expected


def test_one_dataset_is_no_group_and_the_reverse(catalog: Path) -> None:
    with pytest.raises(PrerequisiteError, match="no group 'chat'"):
        group("chat", root=str(catalog))
    with pytest.raises(PrerequisiteError, match="'both' is a group of"):
        module.dataset("both", root=str(catalog))
    member = module.dataset("subjects/geography", root=str(catalog))
    assert len(member.dataset) == sum(one["subject"] == "geography" for one in rows())


def test_members_that_are_run_a_different_number_of_times_are_refused(catalog: Path) -> None:
    with pytest.raises(PrerequisiteError, match="a different number of times"):
        group("mixed", root=str(catalog))


def test_a_member_without_scores_leaves_its_share_to_the_others() -> None:
    scores = [
        SampleScore(score=Score(value="C"), sample_metadata={"member": "a"}),
        SampleScore(score=Score(value=0), sample_metadata={"member": "b"}),
    ]
    metric: Any = members({"a": 0.5, "b": 0.25, "c": 0.25})
    assert metric(scores) == {"a": 1.0, "b": 0.0, "weighted_mean": pytest.approx(2 / 3)}
