"""The snapshots of a diff: resolved values with their origins, problems, and extracted data."""

from __future__ import annotations

from registry.diff.models import Snapshot
from registry.diff.snapshot import open_snapshots
from tests.git_repository import GitRepository

INDEX = "version: 1\ninclude: [m/*.yaml]\n"
QA = """\
datasets:
  qa:
    source: {type: json, path: data/qa.jsonl}
    fields: {input: q}
  small: {extends: qa, limit: 1}
"""
FILES = {
    "datasets.yaml": INDEX,
    "m/qa.yaml": QA,
    "data/qa.jsonl": '{"q": "One?"}\n',
    "data/image.png": "image",
    "other/unused.txt": "unused",
}


def pair(
    repository: GitRepository, base: str | None = "HEAD", head: str | None = None
) -> tuple[Snapshot, Snapshot]:
    with open_snapshots(base, head, repository.folder / "datasets.yaml") as (old, new):
        return old.snapshot, new.snapshot


def test_unchanged_datasets_have_no_values(repository: GitRepository) -> None:
    old, new = pair(repository)
    assert (old.label[:6], new.label) == ("HEAD (", "work tree")
    assert old.datasets == new.datasets == {"qa": {}, "small": {}}
    assert old.problems == new.problems == ()


def test_values_have_portable_origins(repository: GitRepository) -> None:
    repository.write({"m/qa.yaml": QA.replace("limit: 1", "limit: 2")})
    old, new = pair(repository)
    assert old.datasets["qa"] == {}, "only its child changed"
    values = new.datasets["small"]
    assert (values["limit"].value, values["limit"].place) == (2, "m/qa.yaml:5")
    assert (values["source.path"].value, values["source.path"].dataset) == ("data/qa.jsonl", "qa")
    assert old.datasets["small"]["limit"].place == "m/qa.yaml:5"


def test_values_of_different_types_are_a_change(repository: GitRepository) -> None:
    where = "limit: 1, where: {value: q, equals: 1}"
    repository.write({"m/qa.yaml": QA.replace("limit: 1", where)})
    repository.commit()
    repository.write({"m/qa.yaml": QA.replace("limit: 1", where.replace("1}", "true}"))})
    new = pair(repository)[1]
    assert new.datasets["small"]["where"].value == {"value": "q", "equals": True}


def test_local_bytes_belong_to_the_dataset_that_names_them(repository: GitRepository) -> None:
    repository.write({"data/qa.jsonl": '{"q": "Two?"}\n'})
    old, new = pair(repository)
    before, after = (one.datasets["small"]["bytes.data/qa.jsonl"] for one in (old, new))
    assert before.value != after.value
    assert (after.layer, after.file, after.dataset) == ("bytes", "data/qa.jsonl", "qa")


def test_index_keys_are_values_without_datasets_and_defaults(repository: GitRepository) -> None:
    repository.write(
        {"datasets.yaml": f"{INDEX}trust: ['os:f']\ndefaults: {{on_duplicate: drop}}\n"}
    )
    index = pair(repository)[1].index
    assert {key: one.value for key, one in index.items()} == {
        "include": ["m/*.yaml"],
        "trust": ["os:f"],
    }
    assert index["trust"].place == "datasets.yaml:3"


def test_broken_dataset_is_a_problem_of_its_snapshot(repository: GitRepository) -> None:
    repository.write({"m/qa.yaml": f"{QA}  bad: {{extends: none}}\n"})
    old, new = pair(repository)
    assert (old.broken, new.broken) == (frozenset(), frozenset({"bad"}))
    (problem,) = new.problems
    assert (problem.file, problem.line) == ("m/qa.yaml", 6)


def test_dataset_of_examples_need_not_resolve_by_itself(repository: GitRepository) -> None:
    shots = "datasets:\n  shots: {extends: qa, fewshot: {dataset: asked, n: 1, apply: true}}\n"
    repository.write({"m/shots.yaml": f"{shots}  asked: {{extends: qa}}\n"})
    repository.commit()
    none = "fewshot: {dataset: none, n: 1, apply: true}"
    repository.write({"m/shots.yaml": f"{shots}  asked: {{extends: qa, {none}}}\n"})
    new = pair(repository)[1]
    assert (new.broken, new.datasets["qa"]) == (frozenset({"asked"}), {})
    assert new.datasets["shots"]["fewshot.of.fields.input"].value == "q"


def test_broken_index_makes_a_snapshot_unreadable(repository: GitRepository) -> None:
    repository.write({"datasets.yaml": "bogus: 1\n"})
    old, new = pair(repository)
    assert (old.unreadable, new.unreadable) == (False, True)
    assert {problem.file for problem in new.problems} == {"datasets.yaml"}


def test_broken_lockfile_is_a_problem_and_no_pin(repository: GitRepository) -> None:
    repository.write({"datasets.lock": "version: 9\n"})
    new = pair(repository)[1]
    assert {problem.file for problem in new.problems} == {"datasets.lock"}
    assert set(new.datasets) == {"qa", "small"}


def test_only_data_of_datasets_is_extracted_until_siblings_are_needed(
    repository: GitRepository,
) -> None:
    with open_snapshots("HEAD", None, repository.folder / "datasets.yaml") as (old, new):
        top = old.checkout.top
        assert (top / "data" / "qa.jsonl").exists()
        assert not (top / "data" / "image.png").exists()
        old.extract_siblings(["qa"])
        new.extract_siblings(["qa"])
        assert (top / "data" / "image.png").read_text() == "image"
        assert not (top / "other").exists()
    assert not top.exists(), "the files of a revision are temporary"
