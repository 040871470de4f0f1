"""Which files a dataset depends on, what it was called before, and the steps to older states."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from registry.diff.history.states import (
    Change,
    History,
    changes_of,
    edges_of,
    open_history,
    outside,
    pin_of_state,
    step_of,
)
from registry.errors import DatasetNotFoundError, RevisionError
from tests.git_repository import GitRepository

FILES = {
    "datasets.yaml": "version: 1\ninclude: [m/*.yaml]\npaths: [/nowhere]\n",
    "m/base.yaml": "datasets:\n  base: {source: {type: csv, path: data/qa.csv},"
    " fields: {input: q, target: t}}\n",
    "m/child.yaml": "datasets:\n  child: {extends: base, limit: 1}\n",
    "m/many.yaml": "datasets:\n  many: {source: {type: csv, path: 'parts/*.csv'},"
    " fields: {input: q, target: t}}\n",
    "m/boxed.yaml": "datasets:\n  boxed: {source: {type: csv, path: boxed/t.csv},"
    " fields: {input: q, target: t, setup: s}}\n",
    "m/away.yaml": "datasets:\n  away: {source: {type: csv, path: /nowhere/t.csv},"
    " fields: {input: q, target: t}}\n",
    "m/qa.yaml": "datasets:\n  qa: {source: {type: csv, path: qa.csv},"
    " fields: {input: q, target: t}}\n",
    "qa.csv": "q,t\nOne?,1\n",
    "data/qa.csv": "q,t\nOne?,1\n",
    "parts/1.csv": "q,t\nOne?,1\n",
    "boxed/t.csv": "q,t,s\nOne?,1,run.sh\n",
    "boxed/run.sh": "true\n",
}
ALWAYS = {"datasets.yaml", "datasets.lock"}
DEPENDS = {
    "base": {"m/base.yaml", "data/qa.csv"},
    "child": {"m/child.yaml", "m/base.yaml", "data/qa.csv"},
    "many": {"m/many.yaml", "parts"},
    "boxed": {"m/boxed.yaml", "boxed/t.csv", "boxed"},
}


@pytest.fixture
def history(repository: GitRepository) -> Iterator[History]:
    with open_history(repository.folder / "datasets.yaml", None) as opened:
        yield opened


@pytest.mark.parametrize("name", DEPENDS)
def test_files_that_may_change_a_dataset_are_listed(name: str, history: History) -> None:
    newest = history.work_tree(name)
    for state in (newest, history.at(history.head, newest)):
        found = {one.removeprefix(":(top,literal)") for one in state.pathspecs()}
        assert found == ALWAYS | DEPENDS[name]


def test_old_state_has_the_name_of_its_time(repository: GitRepository) -> None:
    first = repository.git("rev-parse", "HEAD")
    manifest = FILES["m/base.yaml"].replace("base:", "basis:")
    repository.write({"m/base.yaml": manifest, "m/child.yaml": "datasets: {}\n"})
    repository.commit()
    with open_history(repository.folder / "datasets.yaml", None) as history:
        state = history.at(first, history.work_tree("basis"))
    assert (state.name, state.exists, state.problem) == ("base", True, "")


def test_files_of_a_state_are_removed_when_it_is_closed(history: History) -> None:
    state = history.at(history.head, history.work_tree("base"))
    assert state.folder is not None
    assert state.folder.exists()
    state.close()
    assert not state.folder.exists()


def test_problem_of_another_dataset_is_no_problem(
    repository: GitRepository, history: History
) -> None:
    repository.write({"m/many.yaml": "datasets:\n  many: {bogus: 1}\n"})
    assert history.work_tree("base").problem == ""
    problem = history.work_tree("many").problem
    assert problem.startswith("many can't be read in the working tree: m/many.yaml:")


def test_source_outside_the_repository_is_found(history: History) -> None:
    assert outside(history.work_tree("base")) == ""
    assert outside(history.work_tree("away")) == "/nowhere/t.csv"


def test_unknown_dataset_is_answered_with_similar_names(history: History) -> None:
    with pytest.raises(DatasetNotFoundError, match="similar names: base"):
        history.work_tree("bases")


def test_without_a_main_branch_nothing_is_permitted(repository: GitRepository) -> None:
    repository.git("branch", "--move", "main", "trunk")
    index = repository.folder / "datasets.yaml"
    with open_history(index, None) as history:
        assert not history.rules.is_valid
    with open_history(index, "trunk") as history:
        assert history.rules.is_valid
    with pytest.raises(RevisionError, match="no revision 'trnk'"), open_history(index, "trnk"):
        pass


# --- the walk ---


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
