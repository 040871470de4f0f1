"""Steps from a state of a dataset to those before it."""

from __future__ import annotations

from registry.diff.history.states import open_history
from registry.diff.history.walk import Change, changes_of, edges_of, pin_of_state, step_of
from tests.git_repository import GitRepository

FILES = {
    "datasets.yaml": "version: 1\ninclude: [m/*.yaml]\n",
    "m/qa.yaml": "datasets:\n  qa: {source: {type: csv, path: qa.csv},"
    " fields: {input: q, target: t}}\n",
    "qa.csv": "q,t\nOne?,1\n",
}


def walked(repository: GitRepository) -> list[Change]:
    with open_history(repository.folder / "datasets.yaml", None) as history:
        return list(changes_of(history, history.work_tree("qa"), lambda _: None))


def test_commit_that_does_not_touch_the_dataset_is_not_opened(repository: GitRepository) -> None:
    first = repository.git("rev-parse", "HEAD")
    repository.write({"other.csv": "x"})
    head = repository.commit()
    with open_history(repository.folder / "datasets.yaml", None) as history:
        newest = history.work_tree("qa")
        assert step_of(history, newest) == (None, (head,))
        (edge,) = edges_of(history, newest, (head,))
        assert (edge.change, edge.problem) == (None, "")
        commit, parents = step_of(history, edge.old)
    assert commit is not None
    assert (commit.id, parents) == (first, ())


def test_default_of_the_index_is_a_change_of_the_dataset(repository: GitRepository) -> None:
    index = FILES["datasets.yaml"] + "defaults: {source: {csv: {encoding: latin-1}}}\n"
    repository.write({"datasets.yaml": index})
    edited = repository.commit()
    newest, oldest = walked(repository)
    assert newest.commit is not None
    assert newest.commit.id == edited
    assert [one.key for one in newest.keys] == ["source.encoding"]
    assert oldest.change is not None
    assert oldest.change.status == "added"


SHOTS = "datasets:\n  shots: {source: {type: csv, path: qa.csv}, fields: {input: q, target: t}}\n"


def test_change_of_the_dataset_that_examples_are_taken_from_is_one_of_the_dataset(
    repository: GitRepository,
) -> None:
    qa = FILES["m/qa.yaml"].replace("}}\n", "}, fewshot: {dataset: shots, n: 1, apply: true}}\n")
    repository.write({"m/qa.yaml": qa, "m/shots.yaml": SHOTS})
    examples = repository.commit()
    repository.write({"m/shots.yaml": SHOTS.replace("target: t", "target: q")})
    edited = repository.commit()
    changes = {
        one.commit and one.commit.id: {key.key for key in one.keys} for one in walked(repository)
    }
    assert changes[edited] == {"fewshot.of.fields.target"}
    assert "fewshot.dataset" in changes[examples]
    assert len(changes) == 3


def test_change_of_the_index_for_others_is_none_of_the_dataset(repository: GitRepository) -> None:
    repository.write({"datasets.yaml": FILES["datasets.yaml"] + "hosts: [example.org]\n"})
    repository.commit()
    assert [one.change and one.change.status for one in walked(repository)] == ["added"]


def test_dataset_that_was_away_for_a_while_begins_where_it_came_back(
    repository: GitRepository,
) -> None:
    repository.write({"m/qa.yaml": "datasets: {}\n"})
    repository.commit()
    repository.write({"m/qa.yaml": FILES["m/qa.yaml"]})
    back = repository.commit()
    assert [one.commit and one.commit.id for one in walked(repository)] == [back]


def test_version_of_a_pin_is_read_where_it_has_one(repository: GitRepository) -> None:
    with open_history(repository.folder / "datasets.yaml", None) as history:
        assert pin_of_state(history.work_tree("qa")) is None
